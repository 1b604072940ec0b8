"""FiDeLiS: deductive-verification guided beam search over Path-RAG's candidates (FiDeLiS v4 section 3.2, Algorithm 2).

Per depth: expand the paths, let the model choose at most B steps of each, verify all of them. A step that does not
follow (C_local = 0) is pruned; a path from which the declarative statement can be deduced (C_global = 1) is finished,
and the search halts at the depth that has finished paths. Of what is left the B best by Path-RAG's score are kept, what
finished before the others (Top_B). Where the last depth has none that finished, the answer call sees the kept paths of
every depth.

A judgement, such as which of two towns is larger, rests on several paths together: what the other paths say counts
when one is verified, and the answer call sees all of them. So does what two topics have in common: the search goes on
from each topic until it has a finished path of its own, and the answer call sees where the paths of several topics
meet.

That is the paper's call plan; the default one makes one call of choosing, verifying and answering: see `fused`.
"""

from collections.abc import Sequence

import msgspec

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath
from fedkg.methods import fused
from fedkg.methods.base import Expanding, Expansion, Method, Picking, Task, Walk, Walking, ask
from fedkg.methods.conclude import ended, leaves
from fedkg.methods.verifiers import VerifiedPaths, verified

__all__ = ["METHOD", "search"]


def search(task: Task) -> Walk:
    """The walk from the topic entities, by the call plan of the settings."""
    settings = _wide_enough(task.search, len(task.topics))
    return (yield from fused.search(task, settings) if settings.call_plan == "fused" else _paper(task, settings))


def _wide_enough(search: SearchSettings, topics: int) -> SearchSettings:
    """The settings with room for a path from each topic: of eight towns none is out of the comparison for the width."""
    return msgspec.structs.replace(search, beam=max(search.beam, topics))


def _paper(task: Task, settings: SearchSettings) -> Walk:
    """The paper's plan. Where several paths decide together, the answer call sees all of them."""
    several = task.together or len(task.topics) > 1
    partial_paths = tuple(PartialPath(topic) for topic in task.topics)
    trail: list[PartialPath] = []
    finished: list[PartialPath] = []
    exhausted = True
    for depth in range(1, settings.depth + 1):
        last = depth == settings.depth
        expansion = yield from ask(Expanding(depth, partial_paths, last, retriever=settings.retriever))
        kept = leaves(trail) if several else ()
        passed = yield from _picked(depth, partial_paths, expansion, settings, kept)
        paths = _best(passed, settings.beam)
        all_offered = len(expansion.candidates) <= (expansion.page or len(expansion.candidates))
        all_kept = len(paths.kept) == len(passed.kept)
        exhausted = exhausted and expansion.complete and all_offered and all_kept
        trail += paths.kept
        finished += paths.finished
        partial_paths = _unfinished(paths.kept, finished, together=task.together)
        if not partial_paths:
            break
    return (yield from ended(task, finished, trail, exhausted=exhausted and not (partial_paths or finished)))


def _unfinished(
    kept: Sequence[PartialPath], finished: Sequence[PartialPath], *, together: bool
) -> tuple[PartialPath, ...]:
    """The paths that are walked on: those from topics without a finished path; none where one path decides for all."""
    done = {path.topic for path in finished}
    return () if done and together else tuple(path for path in kept if path.topic not in done)


def _picked(
    depth: int,
    partial_paths: Sequence[PartialPath],
    expansion: Expansion,
    settings: SearchSettings,
    before: tuple[PartialPath, ...],
) -> Walking[VerifiedPaths]:
    """What the verifier makes of all picks, the best by Path-RAG's score first.

    One call per path and one verification per depth: at most N · D + D calls (FiDeLiS v4, appendix B).
    """
    offered = expansion.candidates[: expansion.page or None]
    extended: list[PartialPath] = []
    for number, path in enumerate(partial_paths):
        following = tuple(candidate for candidate in offered if candidate.path_index == number)
        if following:
            choices = yield from ask(Picking(depth, path, following, settings.beam))
            extended += [path.extend(following[choice.number - 1]) for choice in choices]
    ranked = tuple(sorted(extended, key=lambda path: -path.score))
    return (yield from verified(settings.verifier, depth, ranked, before))


def _best(passed: VerifiedPaths, width: int) -> VerifiedPaths:
    """Top_B of what the verifier keeps (Algorithm 2), what finished before the others; both are the best first."""
    if len(passed.kept) <= width:
        return passed
    kept = tuple(sorted(passed.kept, key=lambda path: path not in passed.finished)[:width])
    return VerifiedPaths(kept, tuple(path for path in kept if path in passed.finished))


def calls(search: SearchSettings, topics: int) -> dict[str, int]:
    """The most calls by name: D, or N · D with the paper's plan; those of the verifier; one that answers.

    By log-probability each pick of the paper's plan is a call: N for each path that is walked on.
    """
    depth, width, one = search.depth, _wide_enough(search, topics).beam, search.call_plan == "fused"
    walked = topics + width * (depth - 1)
    counted = {
        "choose": depth if one else 0,
        "beam": 0 if one else walked,
        "deductive": depth if search.verifier == "deductive" and not one else 0,
        "adequacy": depth if search.verifier == "adequacy" else 0,
        "deducible": width * (depth if one else walked) if search.verifier == "log-probability" else 0,
        "answer": int(search.last_step),
    }
    return {name: count for name, count in counted.items() if count}


METHOD = Method(
    "FiDeLiS: deductive-verification beam search over Path-RAG",
    "FiDeLiS v4, section 3",
    search,
    looks_first=lambda search: search.whole > 0,
    decides=lambda search: search.call_plan == "fused" and search.verifier == "deductive",
    verifies=True,
    calls=calls,
    looks_ahead=True,
    lets_retriever_ask=True,
)
