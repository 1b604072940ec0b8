"""ToG: Think-on-Graph, where the model explores relations, then entities, then judges (Sun et al. 2024, section 2.1).

Per depth the model scores the relations of each of N paths, of which the best N over all paths are kept; then the
entities that these lead to, of which the best N are kept by the product of both scores; then it says whether the
paths are enough to answer. Where they are, or where the last of D depths is reached, the answer call sees the paths.
What scores 0 is dropped.

Calls: at most N for relations, one for entities and one for adequacy per depth, so N · D + 2D + 1 with the answer
(the plan call, which finds the topics, aside); the first depth has one for each topic instead of N. The paper asks
once per kept relation for its entities, 2ND + D + 1. It also samples the entities of a large relation at random: here
they are the first that the retriever has, each time the same. And where its paths are never enough it answers from
the model's memory: here the answer call sees the kept paths of every depth, or says nothing.

A relation leads to an entity, so a path has one entity at each step; the answer set is completed as for FiDeLiS.
"""

from collections.abc import Sequence

import msgspec

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.methods.base import Expanding, Judging, Method, Scoring, Task, Walk, Walking, ask
from fedkg.methods.conclude import ended, leaves

__all__ = ["METHOD", "search"]


class Pruned(msgspec.Struct, frozen=True):
    """The best candidates, scored.

    `all_kept` is False where one that helps was dropped, or never shown, for the width.
    """

    candidates: tuple[Step, ...]
    all_kept: bool


Pruning = Walking[Pruned]


def search(task: Task) -> Walk:
    """The walk from the topic entities, N = `search.beam` paths wide and at most D = `search.depth` steps deep."""
    settings = task.search
    partial_paths = tuple(PartialPath(topic) for topic in task.topics)
    trail: list[PartialPath] = []
    finished: tuple[PartialPath, ...] = ()
    exhausted = True
    for depth in range(1, settings.depth + 1):
        # the model looks at the step itself: a retriever's look at the one after it would be fetched for nothing
        expansion = yield from ask(Expanding(depth, partial_paths, last=True, form="groups"))
        relations = yield from _relations(depth, partial_paths, expansion.candidates, settings)
        entities = yield from _entities(depth, partial_paths, relations.candidates, settings)
        exhausted = exhausted and expansion.complete and relations.all_kept and entities.all_kept
        partial_paths = tuple(partial_paths[pair.path_index].extend(pair) for pair in entities.candidates)
        if not partial_paths:
            break
        trail += partial_paths
        if (yield from ask(Judging(leaves(trail) if task.together else partial_paths))):
            finished = partial_paths
            break
    return (yield from ended(task, finished, trail, exhausted=exhausted and not partial_paths))


def _relations(
    depth: int, partial_paths: Sequence[PartialPath], candidates: Sequence[Step], settings: SearchSettings
) -> Pruning:
    """Relation exploration: a call for each path that goes on.

    All its relations are shown, unless the settings bound them.
    """
    offered = candidates[: settings.candidates]
    scored: list[Step] = []
    for number, path in enumerate(partial_paths):
        following = tuple(group for group in offered if group.path_index == number)
        if following:
            scores = yield from ask(Scoring(depth, "relations", (path,), following))
            scored += [_weighed(group, score) for group, score in zip(following, scores, strict=True)]
    return _pruned(scored, settings.beam, all_shown=len(offered) == len(candidates))


def _entities(
    depth: int, partial_paths: Sequence[PartialPath], relations: Sequence[Step], settings: SearchSettings
) -> Pruning:
    """Entity exploration: one call over the entities of all relations, of each as many as a group shows."""
    pairs = tuple(pair for group in relations for pair in _pairs(group, settings.tails))
    if not pairs:
        return Pruned((), all_kept=True)
    scores = yield from ask(Scoring(depth, "entities", tuple(partial_paths), pairs))
    scored = [_weighed(pair, pair.score * score) for pair, score in zip(pairs, scores, strict=True)]
    all_shown = len(pairs) == sum(len(group.tails) for group in relations)
    return _pruned(scored, settings.beam, all_shown=all_shown)


def _pairs(group: Step, most: int) -> list[Step]:
    """The relation with each of its first entities, over all edges to it."""
    edges = [tuple(edge for edge in group.edges if edge.end == tail) for tail in group.tails[:most]]
    return [msgspec.structs.replace(group, edges=part) for part in edges]


def _pruned(scored: Sequence[Step], width: int, *, all_shown: bool) -> Pruned:
    """The best `width` of those that help at all."""
    helping = sorted((step for step in scored if step.score > 0), key=lambda step: -step.score)
    return Pruned(tuple(helping[:width]), all_shown and len(helping) <= width)


def _weighed(candidate: Step, score: float) -> Step:
    return msgspec.structs.replace(candidate, score=score)


METHOD = Method(
    "ToG: relations, then entities explored by the model",
    "Sun et al. 2024 (Think-on-Graph), section 2",
    search,
    calls=lambda search, topics: {
        "score-relations": topics + search.beam * (search.depth - 1),
        "score-entities": search.depth,
        "adequacy": search.depth,
        **({"answer": 1} if search.last_step else {}),
    },
)
