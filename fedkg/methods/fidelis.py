"""FiDeLiS: deductive-verification guided beam search over Path-RAG's candidates (FiDeLiS v4 section 3.2, Algorithm 2).

Per depth: expand the beams, let the model choose at most B steps, verify each. A step that does not follow (C_local = 0) is
pruned; a path from which the declarative statement can be deduced (C_global = 1) is finished, and the search halts at the
depth that has finished paths. Where the last depth has none, the answer call sees the kept paths of every depth.

A judgement, such as which of two towns is larger, rests on several paths together: what the other paths say counts when one
is verified, and the answer call sees all of them.

Where the model finds nothing among the best candidates, it is shown the next ones, as long as the choices stay within D
calls: otherwise a relation that ranks eleventh could never be walked, and "none" could never be said for sure.
"""

from collections.abc import Generator, Sequence
from typing import Any

import msgspec

from fedkg.methods.base import Choosing, Deducing, Expanding, Expansion, Method, Need, Picking, Task, Walk
from fedkg.methods.ends import conclude, leaves
from fedkg.records import Beam, Candidate, Pick, Verdict
from fedkg.settings import Search

__all__ = ["METHOD", "search"]

NEXT_PAGES = 3
"""A later page of candidates is this many times as long as the one before: forty candidates fit two calls."""


class Chosen(msgspec.Struct, frozen=True):
    """What one depth has led to; `calls` of the model it took, `all_offered` whether every candidate was shown."""

    kept: tuple[Beam, ...] = ()
    finished: tuple[Beam, ...] = ()
    calls: int = 0
    all_offered: bool = True


Step = Generator[Need, Any, Chosen]


def search(task: Task) -> Walk:
    """The walk from the topic entities. Where several paths decide together, the answer call sees all of them."""
    settings, together = task.search, task.together
    beams = tuple(Beam(topic) for topic in task.topics)
    trail: list[Beam] = []
    chosen = Chosen()
    exhausted, calls = True, settings.depth
    for depth in range(1, settings.depth + 1):
        expansion: Expansion = yield Expanding(depth, beams, last=depth == settings.depth)
        kept = leaves(trail) if together else ()
        if settings.call_plan == "fused":
            chosen = yield from _fused(depth, beams, expansion, settings, kept, calls=calls)
        else:
            chosen = yield from _paper(depth, beams, expansion, settings, kept)
        exhausted = exhausted and expansion.complete and chosen.all_offered
        calls -= chosen.calls
        trail += chosen.kept
        beams = chosen.kept
        if chosen.finished or not beams:
            break
    return (yield from conclude(chosen.finished, trail, together=together, exhausted=exhausted and not beams))


def _fused(
    depth: int,
    beams: Sequence[Beam],
    expansion: Expansion,
    settings: Search,
    before: tuple[Beam, ...],
    *,
    calls: int,
) -> Step:
    """One call chooses and verifies; a next page is offered where nothing was chosen: at most D calls in all."""
    pages = _pages(expansion)
    for used, page in enumerate(pages[:calls], 1):
        picks: tuple[Pick, ...] = yield Choosing(depth, tuple(beams), page, settings.beam, before)
        if picks:
            steps = [page[pick.number - 1] for pick in picks]
            extended = [(beams[step.beam].extend(step), pick) for step, pick in zip(steps, picks, strict=True)]
            kept = tuple(beam for beam, pick in extended if pick.follows or not settings.verifier)
            done = tuple(beam for beam, pick in extended if pick.follows and pick.finishes and settings.verifier)
            return Chosen(kept, done, used, used == len(pages))
    return Chosen(calls=min(len(pages), calls), all_offered=len(pages) <= calls)


def _pages(expansion: Expansion) -> list[tuple[Candidate, ...]]:
    """The candidates in pages, each longer than the one before."""
    pages, start, size = [], 0, expansion.page or len(expansion.candidates)
    while start < len(expansion.candidates):
        pages.append(expansion.candidates[start : start + size])
        start, size = start + size, size * NEXT_PAGES
    return pages


def _paper(depth: int, beams: Sequence[Beam], expansion: Expansion, settings: Search, before: tuple[Beam, ...]) -> Step:
    """One call per beam and one verification per depth: at most N · D + D calls (FiDeLiS v4, appendix B).

    The first depth has a beam for each topic, of which a comparison may have more than N.
    """
    offered = expansion.candidates[: expansion.page or None]
    extended: list[Beam] = []
    for number, beam in enumerate(beams):
        own = tuple(candidate for candidate in offered if candidate.beam == number)
        if own:
            picks: tuple[Pick, ...] = yield Picking(depth, beam, own, settings.beam)
            extended += [beam.extend(own[pick.number - 1]) for pick in picks]
    kept = tuple(sorted(extended, key=lambda beam: -beam.score)[: settings.beam])
    all_offered = len(offered) == len(expansion.candidates)
    if not kept or not settings.verifier:
        return Chosen(kept, all_offered=all_offered)
    verdicts: tuple[Verdict, ...] = yield Deducing(depth, kept, before)
    follows = tuple(kept[verdict.number - 1] for verdict in verdicts if verdict.follows)
    finished = tuple(kept[verdict.number - 1] for verdict in verdicts if verdict.follows and verdict.finishes)
    return Chosen(follows, finished, all_offered=all_offered)


METHOD = Method("FiDeLiS: deductive-verification beam search over Path-RAG", "FiDeLiS v4, section 3", search)
