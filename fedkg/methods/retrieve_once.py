"""Retrieval without reasoning: what resembles the question is shown to the model, which is asked once, for the answer.

`kaping` ranks the triples around the topics, each as one text, and gives the best to the answer call (Baek et al.,
2023, section 3). `vanilla` goes on hop by hop with the steps whose relation and entity together are the most similar
to the question, as the vanilla retriever of FiDeLiS v4 (section 4.2, Table 2) does, and gives all paths that it kept
to the answer call.

Neither plans or verifies: what the search of other methods adds is what they are compared for.
"""

from collections.abc import Sequence

from fedkg.core.path import PartialPath, Step
from fedkg.methods.base import Answering, Expanding, Method, Task, Walk, ask
from fedkg.methods.conclude import answer, conclude

__all__ = ["KAPING", "TRIPLES", "VANILLA", "kaping", "vanilla"]

TRIPLES = 10
"""Triples that are shown where the settings name no number of candidates, as in Baek et al. (2023)."""


def kaping(task: Task) -> Walk:
    """One hop, as triples; the best of them are the evidence, and only what they say is an answer."""
    topics = tuple(PartialPath(topic) for topic in task.topics)
    expansion = yield from ask(Expanding(1, topics, last=True, retriever="kaping", form="pairs"))
    best = _extended(topics, expansion.candidates[: task.search.candidates or TRIPLES])
    return (yield from answer(Answering(best), together=task.together, exhausted=expansion.complete and not best))


def vanilla(task: Task) -> Walk:
    """D hops, of each the best N steps; the paths of all depths are the evidence, the longest and best first."""
    partial_paths = tuple(PartialPath(topic) for topic in task.topics)
    trail: list[PartialPath] = []
    whole = True
    for depth in range(1, task.search.depth + 1):
        last = depth == task.search.depth
        expansion = yield from ask(Expanding(depth, partial_paths, last=last, retriever="vanilla"))
        partial_paths = _extended(partial_paths, expansion.candidates[: task.search.beam])
        whole = whole and expansion.complete and len(partial_paths) == len(expansion.candidates)
        trail += reversed(partial_paths)
        if not partial_paths:
            break
    return (yield from conclude((), trail, together=task.together, exhausted=whole and not partial_paths))


def _extended(partial_paths: Sequence[PartialPath], steps: Sequence[Step]) -> tuple[PartialPath, ...]:
    """Each step with the path that it goes on from."""
    return tuple(partial_paths[step.path_index].extend(step) for step in steps)


KAPING = Method(
    "KAPING: the triples around the topics that resemble the question, in one call",
    "Baek et al. 2023, section 3",
    kaping,
    plans=False,
    hops=1,
)
VANILLA = Method(
    "Vanilla retriever: per hop the steps that resemble the question, in one call",
    "FiDeLiS v4, section 4.2, Table 2",
    vanilla,
    plans=False,
)
