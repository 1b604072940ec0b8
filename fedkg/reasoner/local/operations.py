"""The operation that a question asks for, filled with what is offered: paths for its sets, relations for its values."""

from collections.abc import Sequence

from fedkg.core.operation import Combination, Filter, Operation, OperationResult
from fedkg.core.terms import DirectedRelation
from fedkg.reasoner.local.asked_paths import AskedPaths
from fedkg.reasoner.local.operation_record import TITLES, OperationReading
from fedkg.reasoner.local.value_relations import holding

__all__ = ["Offered", "operation"]

VALUED: frozenset[OperationResult] = frozenset({"extreme", "compare", "group"})
"""Results that go by a relation of the ends."""
Offered = tuple[DirectedRelation, str]
"""A relation of the ends, with its name."""


def operation(
    meant: AskedPaths, offered: Sequence[Offered], grouped: DirectedRelation | None = None, *, named: bool = False
) -> Operation | None:
    """The operation that was read, over the paths; None where none was read.

    `grouped` is the relation that a group goes by; `named`: the ends have names that filters may go by.

    What nothing that is offered holds is `unproven`.
    """
    reading = meant.operation
    if reading is None:
        return None
    filters, lacking = _filters(reading, offered, named=named)
    by = grouped if reading.result == "group" else _held(reading.measure.names, offered)
    if reading.result == "group" and by is None:
        lacking.append(reading.group)
    if reading.result in {"extreme", "compare"} and by is None:
        lacking.append(reading.measure.names[0])
    sides = _sides(meant, reading)
    sets = sides or _by_topic(meant)
    apart: Combination = "difference" if reading.minus else "intersect"
    return Operation(
        reading.result,
        sets,
        apart if len(sets) > 1 and reading.result != "compare" else "union",
        filters,
        by if reading.result in VALUED else None,
        reading.measure.most,
        reading.rank,
        reading.form,
        ", ".join(lacking),
    )


def _by_topic(meant: AskedPaths) -> tuple[tuple[int, ...], ...]:
    """The numbers of the paths, those together that start from one name: what is asked of several names is of all."""
    numbers: dict[str, list[int]] = {}
    for path in meant.candidates:
        numbers.setdefault(path.topic.casefold(), []).append(path.number)
    return tuple(map(tuple, numbers.values()))


def _filters(
    reading: OperationReading, offered: Sequence[Offered], *, named: bool
) -> tuple[tuple[Filter, ...], list[str]]:
    """The bounds as filters, and the names of what none of the relations holds; own names stand for a title."""
    held = [(bound, _held(bound.names, offered)) for bound in reading.bounds]
    holds = [by is not None or (named and bound.names in TITLES.values()) for bound, by in held]
    filters = [
        Filter(bound.comparison, tuple(f"{value} {bound.unit}".strip() for value in bound.values), by)
        for (bound, by), kept in zip(held, holds, strict=True)
        if kept
    ]
    return tuple(filters), [bound.names[0] for (bound, _), kept in zip(held, holds, strict=True) if not kept]


def _held(names: Sequence[str], offered: Sequence[Offered]) -> DirectedRelation | None:
    place = holding(names, [name if relation.direction == "out" else "" for relation, name in offered])
    return None if place is None else offered[place][0]


def _sides(meant: AskedPaths, reading: OperationReading) -> tuple[tuple[int, ...], ...]:
    """The numbers of the paths of each side, where the operation has sides."""
    sides = reading.sides(meant.topics)
    return tuple(tuple(path.number for path in meant.candidates if path.topic in side) for side in sides)
