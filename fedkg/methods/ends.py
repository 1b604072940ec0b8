"""How a search ends: the answer call over the paths that it has come to, and the whole answer set.

Paths of one chain of relations are shown as one, and completed before the model judges them where they are sure to be shown,
after it where it may choose few of many.
"""

from collections.abc import Generator, Sequence
from typing import Any

import msgspec

from fedkg.errors import BudgetError
from fedkg.methods.base import Answering, Completing, Found, Inducing, Need, Walk
from fedkg.records import Beam, Candidate, Conclusion

__all__ = ["answer", "chains", "completed", "conclude", "leaves"]


def conclude(finished: Sequence[Beam], trail: Sequence[Beam], *, together: bool, exhausted: bool) -> Walk:
    """The end of a search that kept the paths of `trail`, in the order walked, of which `finished` are enough to answer.

    Finished paths are completed first, so that the model sees all their tails. Without any it sees the kept paths of every
    depth, the deepest first. Where paths decide `together` it sees all evidence, what decided first.
    """
    certain = (*finished, *leaves(trail)) if together else finished
    if certain:
        whole: tuple[Beam, ...] = yield Completing(chains(certain))
        return (yield from answer(Answering(whole), together=together, exhausted=exhausted))
    found = yield from answer(Answering(chains(trail[::-1])), exhausted=exhausted)
    if not found.beams:
        return found
    return msgspec.structs.replace(found, beams=(yield from completed(found.beams)))


def answer(need: Answering | Inducing, *, together: bool = False, exhausted: bool = False) -> Walk:
    """What the model makes of these paths; no call where there are none. Paths that decide `together` count with all tails."""
    if not need.beams:
        return Found(exhausted=exhausted)
    conclusion: Conclusion = yield need
    chosen = tuple(need.beams[number - 1] for number in conclusion.paths)
    tails = tuple(() if together else conclusion.tails.get(number, ()) for number in conclusion.paths)
    return Found(chosen, tails, conclusion, exhausted)


def leaves(trail: Sequence[Beam]) -> tuple[Beam, ...]:
    """The paths that no other of them goes on from, the latest first."""
    walked = {beam.steps[:-1] for beam in trail}
    return tuple(beam for beam in reversed(trail) if beam.steps not in walked)


def chains(beams: Sequence[Beam]) -> tuple[Beam, ...]:
    """The beams, those with one chain of relations as one with the edges of all of them: completed they are the same."""
    alike: dict[object, list[Beam]] = {}
    for beam in beams:
        alike.setdefault((beam.topic, beam.chain), []).append(beam)
    return tuple(
        Beam(same[0].topic, tuple(map(_joined, zip(*(beam.steps for beam in same), strict=True))), same[0].score)
        for same in alike.values()
    )


def _joined(steps: Sequence[Candidate]) -> Candidate:
    """Steps over one relation as one that leads to the ends of all of them, with the score of the first."""
    edges = dict.fromkeys(edge for step in steps for edge in step.edges)
    return msgspec.structs.replace(steps[0], edges=tuple(edges), complete=all(step.complete for step in steps))


def completed(chosen: tuple[Beam, ...]) -> Generator[Need, Any, tuple[Beam, ...]]:
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
