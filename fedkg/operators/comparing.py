"""Two values compared: what they are to each other, and that it is not decided where a date is not precise enough."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from fedkg.core.operation import Comparison
from fedkg.operators.units import unit_of
from fedkg.operators.values import ReadValue, as_year

__all__ = ["alike", "apart", "comparable", "holds", "order", "standard"]


def comparable(values: Sequence[ReadValue]) -> tuple[list[ReadValue], list[ReadValue]]:
    """The values that can be compared with each other, and the others: those of the most frequent kind and dimension.

    Beside dates whole numbers are years. Of kinds that are equally frequent dates come first, then numbers. Numbers
    whose unit is known are in the first unit of its dimension (`standard`).
    """
    if not values:
        return [], []
    dated = any(value.kind == "date" for value in values)
    read = [(as_year(value) if dated else None) or standard(value) for value in values]
    counts = [(value.kind, value.unit.casefold()) for value in read]
    wanted = max(sorted(set(counts)), key=counts.count)
    return [value for value, kind in zip(read, counts, strict=True) if kind == wanted], [
        value for value, kind in zip(values, counts, strict=True) if kind != wanted
    ]


def standard(value: ReadValue) -> ReadValue:
    """The value in the first unit of its dimension, by whose name its unit is called then; another one as it is."""
    unit = unit_of(value.unit) if value.unit else None
    if not unit:
        return value
    low, high = ((bound[0] * unit.factor,) for bound in (value.low, value.high))
    return msgspec.structs.replace(value, low=low, high=high, unit=unit.dimension)


def alike(left: ReadValue, right: ReadValue) -> tuple[ReadValue, ReadValue] | None:
    """The two values as values of one kind, a whole number beside a date as its year; None where they are of two.

    A unit that is stated of one of them alone is taken for that of the other one as well. Of two units the second value
    is converted into that of the first; units that cannot be are not compared.
    """
    if "date" in (left.kind, right.kind):
        left, right = (as_year(left) or left), (as_year(right) or right)
    converted = right.within(left.unit) if left.unit and right.unit else right
    return (left, converted) if left.kind == right.kind and converted else None


def holds(comparison: Comparison, value: ReadValue, bounds: Sequence[ReadValue]) -> bool | None:
    """Whether a value compares so to the bounds: one, for `between` two, both included; None where it is not decided.

    A date of less precision is the whole of its days: 1990-05-03 is neither before nor after 1990, and equal to it,
    while 1990 is not decided against May 1990. Kinds and units that do not go together decide nothing.
    """
    if comparison == "between":
        if len(bounds) != 2:
            return None
        return _both(holds("at_least", value, bounds[:1]), holds("at_most", value, bounds[1:]))
    pair = alike(value, bounds[0]) if len(bounds) == 1 else None
    if pair is None:
        return None
    if comparison == "not_equal":
        equal = holds("equal", value, bounds)
        return None if equal is None else not equal
    return _texts(comparison, *pair) if pair[0].kind == "text" else _bounded(comparison, *pair)


def apart(left: ReadValue, right: ReadValue) -> Decimal | None:
    """How far two values are apart: numbers by their difference, dates by that of their years.

    None where they are no numbers and dates, have two units, or the year of one of them is not known.
    """
    pair = alike(left, right)
    if pair is None or pair[0].kind == "text":
        return None
    if any(value.low[0] != value.high[0] for value in pair):
        return None
    return abs(pair[0].low[0] - pair[1].low[0])


def order(left: Sequence[ReadValue], right: Sequence[ReadValue]) -> Literal["more", "less", "equal"] | None:
    """What the values of one are to those of another, each to each; None where that differs, or is not decided.

    Dates of one precision that are the same are equal only where they are days.
    """
    pairs = [(one, other) for one in left for other in right]
    if not pairs:
        return None
    for relation in ("more", "less"):
        if all(holds(relation, one, [other]) for one, other in pairs):
            return relation
    same = all(one.exact and holds("equal", one, [other]) for one, other in pairs)
    return "equal" if same and all(other.exact for other in right) else None


def _both(first: bool | None, second: bool | None) -> bool | None:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def _texts(comparison: Comparison, value: ReadValue, bound: ReadValue) -> bool | None:
    text, wanted = value.text.casefold(), bound.text.casefold()
    if comparison == "contains":
        return wanted in text
    if comparison == "starts_with":
        return text.startswith(wanted)
    return text == wanted if comparison == "equal" else None


def _bounded(comparison: Comparison, value: ReadValue, bound: ReadValue) -> bool | None:
    """Of two intervals: whether it holds for whichever points of them are meant."""
    if comparison == "equal":
        inside = bound.low <= value.low and value.high <= bound.high
        return True if inside else False if value.high < bound.low or bound.high < value.low else None
    if comparison in {"less", "before"}:
        return _decided(value.high < bound.low, value.low >= bound.low)
    if comparison in {"more", "after"}:
        return _decided(value.low > bound.high, value.high <= bound.high)
    if comparison == "at_least":
        return _decided(value.low >= bound.low, value.high < bound.low)
    if comparison == "at_most":
        return _decided(value.high <= bound.high, value.low > bound.high)
    return None


def _decided(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None
