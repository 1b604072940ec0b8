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

from fedkg.errors import BudgetError
from fedkg.methods.base import (
    Answering,
    Choosing,
    Completing,
    Deducing,
    Expanding,
    Expansion,
    Found,
    Need,
    Picking,
    Walk,
)
from fedkg.records import Beam, Candidate, Conclusion, Pick, Verdict
from fedkg.settings import Search
from fedkg.terms import Iri

__all__ = ["search"]

NEXT_PAGES = 3
"""A later page of candidates is this many times as long as the one before: forty candidates fit two calls."""


class Chosen(msgspec.Struct, frozen=True):
    """What one depth has led to; `calls` of the model it took, `all_offered` whether every candidate was shown."""

    kept: tuple[Beam, ...] = ()
    finished: tuple[Beam, ...] = ()
    calls: int = 0
    all_offered: bool = True


Step = Generator[Need, Any, Chosen]


def search(topics: Sequence[Iri], settings: Search, *, together: bool = False) -> Walk:
    """The walk from these topic entities; `together`: not one path answers, but several decide."""
    beams = tuple(Beam(topic) for topic in topics)
    trail: list[Beam] = []
    chosen = Chosen()
    exhausted, calls = True, settings.depth
    for depth in range(1, settings.depth + 1):
        expansion: Expansion = yield Expanding(depth, beams, last=depth == settings.depth)
        kept = _leaves(trail) if together else ()
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
    if together:
        return (yield from _judge(chosen.finished, trail, exhausted=exhausted and not beams))
    return (yield from _conclude(chosen.finished, tuple(reversed(trail)), exhausted and not beams))


def _leaves(trail: Sequence[Beam]) -> tuple[Beam, ...]:
    """The paths that no other of them goes on from, the latest first."""
    walked = {beam.steps[:-1] for beam in trail}
    return tuple(beam for beam in reversed(trail) if beam.steps not in walked)


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


def _judge(finished: tuple[Beam, ...], trail: Sequence[Beam], *, exhausted: bool) -> Walk:
    """The answer call over all evidence, the paths that decided first, each with all its tails."""
    evidence = _chains((*finished, *_leaves(trail)))
    if not evidence:
        return Found(exhausted=exhausted)
    evidence = yield Completing(evidence)
    conclusion: Conclusion = yield Answering(evidence)
    chosen = tuple(evidence[number - 1] for number in conclusion.paths)
    return Found(chosen, ((),) * len(chosen), conclusion, exhausted)


def _chains(beams: Sequence[Beam]) -> tuple[Beam, ...]:
    """Of the beams with one chain of relations the first: completed they are all the same."""
    first: dict[object, Beam] = {}
    for beam in beams:
        first.setdefault((beam.topic, beam.chain), beam)
    return tuple(first.values())


def _conclude(finished: tuple[Beam, ...], trail: tuple[Beam, ...], exhausted: bool) -> Walk:
    """The answer call; finished paths are completed before it, so that the model sees all their tails."""
    ends = finished or trail
    if not ends:
        return Found(exhausted=exhausted)
    if finished:
        ends = yield Completing(_chains(finished))
    conclusion: Conclusion = yield Answering(ends)
    chosen = tuple(ends[number - 1] for number in conclusion.paths)
    tails = tuple(conclusion.tails.get(number, ()) for number in conclusion.paths)
    if chosen and not finished:
        chosen = yield from _completed(chosen)
    return Found(chosen, tails, conclusion, exhausted)


def _completed(chosen: tuple[Beam, ...]) -> Generator[Need, Any, tuple[Beam, ...]]:
    """The chosen paths with all their tails; where there is no time for that, as they are: the answer is known already."""
    try:
        chosen = yield Completing(chosen)
    except BudgetError:
        chosen = tuple(map(_cut, chosen))
    return chosen


def _cut(beam: Beam) -> Beam:
    """The beam as one that may have further tails."""
    steps = tuple(msgspec.structs.replace(step, complete=False) for step in beam.steps)
    return Beam(beam.topic, steps, beam.score)
