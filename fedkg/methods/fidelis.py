"""FiDeLiS: deductive-verification guided beam search over Path-RAG's candidates (FiDeLiS v4 section 3.2, Algorithm 2).

Per depth: expand the beams, let the model choose at most B steps, verify each. A step that does not follow (C_local = 0) is
pruned; a path from which the declarative statement can be deduced (C_global = 1) is finished, and the search halts at the
depth that has finished paths. Where the last depth has none, the answer call sees the kept paths of every depth.
"""

from collections.abc import Generator, Sequence
from typing import Any

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

Step = Generator[Need, Any, tuple[list[Beam], list[Beam]]]


def search(topics: Sequence[Iri], settings: Search, width: int) -> Walk:
    """The walk from these topic entities; `width` is the beam width B that the model can make use of."""
    beams = tuple(Beam(topic) for topic in topics)
    trail: list[Beam] = []
    finished: list[Beam] = []
    exhausted = True
    for depth in range(1, settings.depth + 1):
        expansion: Expansion = yield Expanding(depth, beams, last=depth == settings.depth)
        exhausted = exhausted and expansion.complete
        step = _fused if settings.call_plan == "fused" else _paper
        kept, finished = yield from step(depth, beams, expansion.candidates, settings, width)
        trail += kept
        beams = tuple(kept)
        if finished or not beams:
            break
    else:
        exhausted = False
    return (yield from _conclude(tuple(finished), tuple(reversed(trail)), exhausted))


def _fused(
    depth: int, beams: tuple[Beam, ...], candidates: tuple[Candidate, ...], settings: Search, width: int
) -> Step:
    """One call chooses and verifies: at most D calls for a search of depth D."""
    picks: tuple[Pick, ...] = ()
    if candidates:
        picks = yield Choosing(depth, beams, candidates, width)
    extended = [(beams[candidates[pick.number - 1].beam].extend(candidates[pick.number - 1]), pick) for pick in picks]
    kept = [beam for beam, pick in extended if pick.follows or not settings.verifier]
    return kept, [beam for beam, pick in extended if settings.verifier and pick.follows and pick.finishes]


def _paper(
    depth: int, beams: tuple[Beam, ...], candidates: tuple[Candidate, ...], settings: Search, width: int
) -> Step:
    """One call per beam and one verification per depth: at most N · D + D calls (FiDeLiS v4, appendix B)."""
    extended: list[Beam] = []
    for number, beam in enumerate(beams):
        own = tuple(candidate for candidate in candidates if candidate.beam == number)
        if own:
            picks: tuple[Pick, ...] = yield Picking(depth, beam, own, width)
            extended += [beam.extend(own[pick.number - 1]) for pick in picks]
    extended = sorted(extended, key=lambda beam: -beam.score)[:width]
    if not extended or not settings.verifier:
        return extended, []
    verdicts: tuple[Verdict, ...] = yield Deducing(depth, tuple(extended))
    kept = [extended[verdict.number - 1] for verdict in verdicts if verdict.follows]
    return kept, [extended[verdict.number - 1] for verdict in verdicts if verdict.follows and verdict.finishes]


def _conclude(finished: tuple[Beam, ...], trail: tuple[Beam, ...], exhausted: bool) -> Walk:
    """The answer call; finished paths are completed before it, so that the model sees all their tails."""
    ends = finished or trail
    if not ends:
        return Found(exhausted=exhausted)
    if finished:
        ends = yield Completing(finished)
    conclusion: Conclusion = yield Answering(ends)
    chosen = tuple(ends[number - 1] for number in conclusion.paths)
    tails = tuple(conclusion.tails.get(number, ()) for number in conclusion.paths)
    if chosen and not finished:
        chosen = yield Completing(chosen)
    return Found(chosen, tails, conclusion, exhausted)
