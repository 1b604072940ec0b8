"""What was computed, as a person reads it: "the 2nd earliest publication date of 5 ends", and what decided."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from fedkg.common.plain_text import plain
from fedkg.core.literals import DATES
from fedkg.core.operation import Comparison, Computation, Condition
from fedkg.core.terms import Literal, Term

__all__ = ["operation_text"]

SHOWN_VALUES = 6
"""Most values that decided which are shown."""
WORDS: Mapping[Comparison, str] = {
    "equal": "",
    "not_equal": "other than ",
    "less": "less than ",
    "at_most": "at most ",
    "more": "more than ",
    "at_least": "at least ",
    "before": "before ",
    "after": "after ",
    "between": "between ",
    "contains": "that contains ",
    "starts_with": "that starts with ",
}
"""What stands before the value of a condition."""


class OrderWords(NamedTuple):
    """How a value is called that is the most or least of several, and of two."""

    most: str
    least: str
    more: str
    less: str


TIME = OrderWords("latest", "earliest", "later", "earlier")
SIZE = OrderWords("largest", "smallest", "larger", "smaller")


def operation_text(operation: Computation, label: Callable[[Term], str]) -> str:
    """What was computed, and the first values that decided; "" where the ends were taken as they are."""
    by = plain(label(operation.by.relation)) if operation.by else ""
    dated = any(isinstance(each.value, Literal) and each.value.datatype in DATES for each in operation.deciding)
    computed = _computed(operation, by, TIME if dated else SIZE, _conditions(operation, label))
    pairs = [f"{plain(label(each.end))} ({plain(label(each.value))})" for each in operation.deciding[:SHOWN_VALUES]]
    more = ", …" if len(operation.deciding) > SHOWN_VALUES else ""
    return f"{computed}: {', '.join(pairs)}{more}" if computed and pairs else computed


def _computed(operation: Computation, by: str, words: OrderWords, conditions: str) -> str:
    ends = f"{operation.members:,} {'end' if operation.members == 1 else 'ends'}"
    most = words.most if operation.most else words.least
    match operation.result:
        case "count":
            return f"the number of ends{_combined(operation)}{conditions}"
        case "extreme":
            return f"the {_ordinal(operation.rank)}{most} {by} of {ends}{conditions}"
        case "group":
            frequent = "most" if operation.most else "least"
            return f"the {_ordinal(operation.rank)}{frequent} frequent {by} of {ends}{conditions}"
        case "compare":
            return _compared(operation, by, words)
        case _ if operation.combine == "union" and not operation.filters:
            return ""
        case _:
            return f"the {ends}{_combined(operation)}{conditions}"


def _compared(operation: Computation, by: str, words: OrderWords) -> str:
    if operation.form == "difference":
        return f"the difference in {by}{', in years' if words is TIME else ''}"
    whether = "whether the first has " if operation.form == "whether" else ""
    return f"{whether}the {words.more if operation.most else words.less} {by} of two"


def _combined(operation: Computation) -> str:
    """What the sets have to do with it."""
    sets = len(operation.sets)
    every = "both sets" if sets == 2 else f"all {sets} sets"
    return {"union": "", "intersect": f" that {every} have", "difference": " of the first set alone"}[operation.combine]


def _conditions(operation: Computation, label: Callable[[Term], str]) -> str:
    return " and".join(_condition(each, label) for each in operation.filters)


def _condition(condition: Condition, label: Callable[[Term], str]) -> str:
    by = plain(label(condition.by.relation)) if condition.by else "name"
    return f" with {by} {WORDS[condition.comparison]}{' and '.join(map(plain, condition.values))}"


def _ordinal(rank: int) -> str:
    """The rank before its noun; nothing for the first."""
    if rank == 1:
        return ""
    ending = "th" if rank % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending} "
