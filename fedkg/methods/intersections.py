"""Where paths from different topics meet: what two films have in common is the end of a path from each of them.

Ends are the same where they are the same term; copies of one entity on several endpoints are not told to be one here.
"""

from collections.abc import Sequence

import msgspec

from fedkg.core.path import PartialPath
from fedkg.core.terms import Term
from fedkg.methods.base import Answering

__all__ = ["groups", "joined", "narrowed"]

MOST = 10
"""Meetings that the answer call is shown."""
TRIED = 200
"""Sets of paths with an end in common that are looked at for larger ones: the paths that matter come first."""


def groups(beams: Sequence[PartialPath]) -> list[tuple[int, ...]]:
    """The sets of beams, by their indices, that start from different topics and have ends in common; the largest first."""
    ends, topics = [set(beam.tails) for beam in beams], [beam.topic for beam in beams]
    leading: dict[Term, list[int]] = {}
    for number, own in enumerate(ends):
        for end in own:
            leading.setdefault(end, []).append(number)
    found: list[tuple[int, ...]] = [(number,) for number in range(len(beams))]
    most = len(beams) + TRIED
    for group in found:  # those that are found are looked at, too
        if len(found) == most:
            break
        common, here = set.intersection(*(ends[number] for number in group)), {topics[number] for number in group}
        later = {other for end in common for other in leading[end] if other > group[-1]}
        more = [(*group, other) for other in sorted(later) if topics[other] not in here]
        found += more[: most - len(found)]
    return sorted((group for group in found if len(group) > 1), key=lambda group: -len(group))[:MOST]


def narrowed(beams: Sequence[PartialPath], group: Sequence[int]) -> tuple[PartialPath, ...]:
    """The beams of one of the `groups`, each as far as it leads to the ends that all of them have."""
    met = [beams[number] for number in group]
    common = _common(met)
    return tuple(_to(beam, common) for beam in met)


def joined(beams: Sequence[PartialPath]) -> Answering:
    """All of these to be judged: first where they meet, then each for itself."""
    met = [narrowed(beams, group) for group in groups(beams)]
    return Answering((*(first for first, *_ in met), *beams), tuple(group[1:] for group in met))


def _common(beams: Sequence[PartialPath]) -> set[Term]:
    return set(beams[0].tails).intersection(*(beam.tails for beam in beams[1:]))


def _to(beam: PartialPath, ends: set[Term]) -> PartialPath:
    """The beam with those edges of its last step that lead to these ends."""
    last = beam.steps[-1]
    step = msgspec.structs.replace(last, edges=tuple(edge for edge in last.edges if edge.end in ends))
    return PartialPath(beam.topic, (*beam.steps[:-1], step), beam.score)
