"""What is computed over completed sets: the operation that a model picks, and what a document shows of one.

A walk finds paths; the completed ends of some of them are a set. One operation over the sets says what no path can: how
many, the largest, the first, which of two, those after a date, those of both, those of one but not of the other.
"""

from typing import Literal, get_args

import msgspec

from fedkg.core.terms import DirectedRelation, Iri, Term

__all__ = [
    "COMPARISONS",
    "OF_TEXTS",
    "Combination",
    "Comparison",
    "Computation",
    "Condition",
    "Deciding",
    "Filter",
    "Form",
    "Operation",
    "OperationResult",
    "Operator",
    "SetChain",
]

OperationResult = Literal["ends", "count", "extreme", "compare", "group"]
"""What is asked of the combined sets: their ends, how many these are, the one with the most of a value, which of two
has more of it, or the value that most of them share."""
Combination = Literal["union", "intersect", "difference"]
"""How several sets become one; a difference is the first without all others."""
Comparison = Literal[
    "equal", "not_equal", "less", "at_most", "more", "at_least", "before", "after", "between", "contains", "starts_with"
]
COMPARISONS: tuple[Comparison, ...] = get_args(Comparison)
Operator = Literal["ends", "both", "difference", "filter", "extreme", "compare", "group"]
"""What a question needs of the sets that its walk leads to: their ends as they are; those of all sets, or of the first
without the others; those that meet conditions; and what an OperationResult is."""
OF_TEXTS: frozenset[Comparison] = frozenset({"equal", "not_equal", "contains", "starts_with"})
"""Comparisons that texts can have, such as the names of entities."""
Form = Literal["which", "whether", "difference"]
"""Of a comparison: which of the two has more, whether the first has more, or by how much they differ."""


class Filter(msgspec.Struct, frozen=True):
    """A condition on the ends of a set: what `by` leads to from them `comparison` these values.

    `values` are in the question's words ("1990", "2,000 metres", "1980s"); two where it is "between". Without `by` the
    ends themselves are compared.
    """

    comparison: Comparison
    values: tuple[str, ...]
    by: DirectedRelation | None = None


class Operation(msgspec.Struct, frozen=True):
    """The operation as it is picked: `sets` are groups of numbers of paths, from 1; the ends of a group are one set.

    `by` leads from the ends to what an extreme or a comparison goes by, or what a group is counted by; these compute
    nothing without it. `most` is the direction (the largest, the latest, more); `rank` counts from 1 on. `form` is for
    a comparison alone: of its two sets each has one end.
    `unproven` are the question's words of what none of what was offered says.
    """

    result: OperationResult = "ends"
    sets: tuple[tuple[int, ...], ...] = ()
    combine: Combination = "union"
    filters: tuple[Filter, ...] = ()
    by: DirectedRelation | None = None
    most: bool = True
    rank: int = 1
    form: Form = "which"
    unproven: str = ""


class SetChain(msgspec.Struct, frozen=True):
    """Where the ends of a set come from: a topic, and the relations that are walked from it."""

    topic: Iri
    relations: tuple[DirectedRelation, ...]


class Condition(msgspec.Struct, frozen=True):
    """A filter as it was computed: its values as literals of the graph's own kinds, written as in the document.

    `named`: what was compared were names of entities.
    """

    comparison: Comparison
    values: tuple[str, ...]
    by: DirectedRelation | None = None
    named: bool = False


class Deciding(msgspec.Struct, frozen=True):
    """A value that decided: `value` is what the relation leads to from `end`; `path` is the document's path over it."""

    end: Term
    value: Term
    path: int


class Computation(msgspec.Struct, frozen=True):
    """An operation as the document shows it, in terms that any endpoint can be asked with.

    `sets` are the chains of each set. `members` is how many ends were computed over, `missing` how many of them had no
    value that could be read, `complete` whether no end was left out. `value` is what was computed, where that is no
    term of the graph: a number. `counts` are those of the groups that answer. `units` are those of the
    values, where the graph states any, "" for numbers without one: of several all were converted. `deciding` are the
    values that decided.
    """

    result: OperationResult
    sets: tuple[tuple[SetChain, ...], ...]
    combine: Combination = "union"
    filters: tuple[Condition, ...] = ()
    by: DirectedRelation | None = None
    most: bool = True
    rank: int = 1
    form: Form = "which"
    members: int = 0
    missing: int = 0
    complete: bool = True
    value: str = ""
    counts: tuple[int, ...] = ()
    units: tuple[str, ...] = ()
    deciding: tuple[Deciding, ...] = ()
