"""Where paths from different topics meet: what two films have in common is the end of a path from each of them.

Ends are the same where they are the same term; copies of one entity on several endpoints are not told to be one here.
"""

from collections.abc import Sequence

import msgspec

from fedkg.core.path import PartialPath
from fedkg.core.terms import Iri, Term
from fedkg.methods.base import Answering

__all__ = ["groups", "in_common", "joined", "led_to", "narrowed", "shared"]

MOST = 20
"""Meetings that the answer call is shown."""
TRIED = 200
"""Sets of paths with an end in common that are looked at for larger ones: the paths that matter come first."""


def groups(partial_paths: Sequence[PartialPath]) -> list[tuple[int, ...]]:
    """The sets of paths, by their indices, that start from different topics and have ends in common.

    The largest first; of equal ones those with the shortest paths.
    """
    ends, topics = [set(path.tails) for path in partial_paths], [path.topic for path in partial_paths]
    leading: dict[Term, list[int]] = {}
    for number, reached in enumerate(ends):
        for end in reached:
            leading.setdefault(end, []).append(number)
    sets: list[tuple[int, ...]] = [(number,) for number in range(len(partial_paths))]
    most = len(partial_paths) + TRIED
    for group in sets:  # those that are added are looked at, too
        if len(sets) == most:
            break
        common, here = set.intersection(*(ends[number] for number in group)), {topics[number] for number in group}
        later = {other for end in common for other in leading[end] if other > group[-1]}
        more = [(*group, other) for other in sorted(later) if topics[other] not in here]
        sets += more[: most - len(sets)]
    met = [group for group in sets if len(group) > 1]
    return sorted(met, key=lambda group: (-len(group), sum(len(partial_paths[number].steps) for number in group)))[
        :MOST
    ]


def narrowed(partial_paths: Sequence[PartialPath], group: Sequence[int]) -> tuple[PartialPath, ...]:
    """The paths of one of the `groups`, each as far as it leads to the ends that all of them have."""
    met = [partial_paths[number] for number in group]
    common = _common(met)
    return tuple(led_to(path, common) for path in met)


def shared(partial_paths: Sequence[PartialPath]) -> tuple[PartialPath, ...]:
    """The paths as far as they lead to what all topics lead to, each by any of its paths; none if that is nothing."""
    ends: dict[Iri, set[Term]] = {}
    for path in partial_paths:
        ends.setdefault(path.topic, set()).update(path.tails)
    common = set.intersection(*ends.values())
    return tuple(led_to(path, common) for path in partial_paths if common.intersection(path.tails))


def in_common(partial_paths: Sequence[PartialPath]) -> tuple[PartialPath, ...]:
    """The paths as far as they lead to what all topics share, else to what the most of them do; none for nothing."""
    if len({path.topic for path in partial_paths}) < 2:
        return ()
    met = groups(partial_paths)
    return shared(partial_paths) or (narrowed(partial_paths, met[0]) if met else ())


def joined(partial_paths: Sequence[PartialPath]) -> Answering:
    """All of these to be judged: first where they meet, then each for itself."""
    met = [narrowed(partial_paths, group) for group in groups(partial_paths)]
    return Answering((*(first for first, *_ in met), *partial_paths), tuple(group[1:] for group in met))


def _common(partial_paths: Sequence[PartialPath]) -> set[Term]:
    return set(partial_paths[0].tails).intersection(*(path.tails for path in partial_paths[1:]))


def led_to(path: PartialPath, ends: set[Term]) -> PartialPath:
    """The path with those edges of its last step that lead to these ends."""
    last = path.steps[-1]
    step = msgspec.structs.replace(last, edges=tuple(edge for edge in last.edges if edge.end in ends))
    return PartialPath(path.topic, (*path.steps[:-1], step), path.score)
