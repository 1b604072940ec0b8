"""Sets of ends combined, counted, filtered, ordered and grouped.

What comes out does not depend on the order in which ends come in; only their own order does. Ends without a value that
can be compared are told apart from those that a comparison rules out: what is missing is said, and never guessed.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from fedkg.core.operation import Combination, Comparison
from fedkg.operators.comparing import comparable, holds, standard
from fedkg.operators.values import Bound, ReadValue, as_year

__all__ = ["RankedEnds", "Split", "combined", "count", "filtered", "largest_groups", "ranked"]

End = TypeVar("End", bound=Hashable)
Holder = TypeVar("Holder", bound=Hashable)


class Split(msgspec.Struct, Generic[End], frozen=True):
    """Ends that a filter keeps, and those that no value, or one that is not precise enough, decides about."""

    kept: tuple[End, ...] = ()
    undecided: tuple[End, ...] = ()


class RankedEnds(msgspec.Struct, Generic[End], frozen=True):
    """The ends of the rank that is asked for, and those that have no value that can be compared with the others'.

    `undecided`: which ends have the rank is left open, by dates that are not precise enough to tell them apart or by
    several values of an end.
    """

    ends: tuple[End, ...] = ()
    missing: tuple[End, ...] = ()
    undecided: bool = False


def combined(sets: Sequence[Iterable[End]], combination: Combination = "union") -> tuple[End, ...]:
    """The sets as one, each end once, in the order of the first set that has it; nothing where there is no set."""
    if not sets:
        return ()
    first, *others = [dict.fromkeys(ends) for ends in sets]
    if combination == "union":
        return tuple(dict.fromkeys(end for ends in (first, *others) for end in ends))
    if combination == "intersect":
        return tuple(end for end in first if all(end in ends for ends in others))
    return tuple(end for end in first if not any(end in ends for ends in others))


def count(ends: Iterable[object], *, distinct: bool = True) -> int:
    """How many ends there are; not `distinct`: one that several edges lead to counts as often."""
    listed = list(ends)
    return len(set(listed)) if distinct else len(listed)


def filtered(
    values: Mapping[End, Sequence[ReadValue]], comparison: Comparison, bounds: Sequence[ReadValue]
) -> Split[End]:
    """The ends of which one value at least compares so to the bounds; of `not_equal` all of its values.

    An end that has no value, or of which none holds and one is not decided, is undecided.
    """
    kept, undecided = [], []
    for end, several in values.items():
        verdicts = [holds(comparison, value, bounds) for value in several]
        yes = bool(verdicts) and all(verdicts) if comparison == "not_equal" else True in verdicts
        if yes:
            kept.append(end)
        elif not verdicts or (None in verdicts and not (comparison == "not_equal" and False in verdicts)):
            undecided.append(end)
    return Split(tuple(kept), tuple(undecided))


def ranked(values: Mapping[End, Sequence[ReadValue]], *, most: bool = True, rank: int = 1) -> RankedEnds[End]:
    """The ends with the largest value (`most`) or the smallest, or that of a later rank; ties are kept.

    Equal values have one rank. So have dates that their precision does not tell apart: 1990 and May 1990. Of several
    values of an end that counts which is furthest in the direction. Texts have no order: they are missing.
    """
    usable = set(comparable([value for several in values.values() for value in several if value.kind != "text"])[0])
    furthest, nearest = (
        {end: _best(several, usable, most=way) for end, several in values.items()} for way in (most, not most)
    )
    missing = tuple(end for end, value in furthest.items() if value is None)
    ends, overlap = _of_rank(furthest, most=most, rank=rank)
    return RankedEnds(ends, missing, overlap or ends != _of_rank(nearest, most=most, rank=rank)[0])


def largest_groups(
    groups: Mapping[Holder, Iterable[End]], *, most: bool = True, rank: int = 1
) -> tuple[tuple[End, ...], int]:
    """What the most of the ends have (or the least), of what each has; with the number of ends that have it.

    Ties are kept; the rank is that of distinct numbers. Nothing and 0 where there are not so many.
    """
    counts = Counter(value for several in groups.values() for value in dict.fromkeys(several))
    numbers = sorted(set(counts.values()), reverse=most)
    if not 0 < rank <= len(numbers):
        return (), 0
    return tuple(value for value, number in counts.items() if number == numbers[rank - 1]), numbers[rank - 1]


def _of_rank(measured: Mapping[End, ReadValue | None], *, most: bool, rank: int) -> tuple[tuple[End, ...], bool]:
    """The ends whose value has that rank, and whether it has values that are not the same."""
    classes = _classes([value for value in measured.values() if value], most=most)
    wanted = classes[rank - 1] if 0 < rank <= len(classes) else ()
    return tuple(end for end, value in measured.items() if value in wanted), len(wanted) > 1


def _best(several: Sequence[ReadValue], usable: Collection[ReadValue], *, most: bool) -> ReadValue | None:
    """The value of an end that counts, as those are that it is compared with; None without one."""
    either = [same if (same := standard(value)) in usable else as_year(value) for value in several]
    kept = [value for value in either if value and value in usable]
    if not kept:
        return None
    return max(kept, key=_latest) if most else min(kept, key=_first)


def _first(value: ReadValue) -> tuple[Bound, Bound]:
    return value.low, value.high


def _latest(value: ReadValue) -> tuple[Bound, Bound]:
    return value.high, value.low


def _classes(values: Sequence[ReadValue], *, most: bool) -> list[set[ReadValue]]:
    """Values by rank; those that share a day without being the same are of one rank."""
    ranks: list[set[ReadValue]] = []
    reach = None
    for value in sorted(set(values), key=lambda value: (value.low, value.high)):
        if reach is not None and value.low <= reach:
            ranks[-1].add(value)
        else:
            ranks.append({value})
        reach = value.high if reach is None else max(reach, value.high)
    return ranks[::-1] if most else ranks
