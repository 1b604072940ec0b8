"""Values compared in SPARQL as the operators compare them: numbers as numbers, dates by the part that both state.

Dates are compared by their text, year first: engines differ in whether an xsd:gYear may be compared with an xsd:date at
all. Years before Christ, whose text sorts the wrong way round, are compared by their number. Numbers that are plain
text, or have a unit for their datatype, are read as numbers first. Dates in words no query can read.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from fedkg.core.literals import DATES, NUMBERS
from fedkg.core.operation import Comparison, Computation, Condition
from fedkg.core.terms import Iri, Literal
from fedkg.errors import TermError
from fedkg.operators.values import DAYS, Bound, ReadValue, as_year, read, read_words

__all__ = ["holds_expression", "order_key", "readable"]

XSD = "http://www.w3.org/2001/XMLSchema#"
SIGNS = {
    "equal": "=",
    "not_equal": "!=",
    "less": "<",
    "at_most": "<=",
    "more": ">",
    "at_least": ">=",
    "before": "<",
    "after": ">",
}
PLAIN_NUMBER, PLAIN_DATE = "^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$", "^-?[0-9]{4}"
YEARS = re.compile(r"[12]\d{3}")
YEAR, DAY = 4, 10
"""Characters of a year, and of a date to the day."""
LAST = "~"
"""Sorts behind all that a date is written with: the end of the year, month or day that stands before it."""


def order_key(computation: Computation, variable: str) -> str:
    """The expression by which values are ordered: of dates their text, or the year where years are told apart.

    Raises TermError where dates decided that only their words or their precision tell apart.
    """
    values = _deciding(computation)
    if not _dated(values):
        return _number(values, variable)
    if computation.form == "difference" or any(value.value.startswith("-") for value in values):
        return _year(variable)
    if computation.result == "extreme" and _overlap(computation, values):
        raise TermError("dates of several precisions tie")
    return f"SUBSTR(STR({variable}), 1, {DAY})"


def readable(computation: Computation, variable: str) -> Iterator[str]:
    """The condition that a value can be read, where an end has none."""
    values = _deciding(computation)
    if not computation.missing or not values:
        return
    if _dated(values):
        yield f"FILTER(REGEX(STR({variable}), {Literal(PLAIN_DATE).n3()}))"
    elif _typed(values):
        yield f"FILTER(isNumeric({variable}))"
    else:
        yield f"FILTER(REGEX(STR({variable}), {Literal(PLAIN_NUMBER).n3()}))"


def holds_expression(condition: Condition, variable: str, computation: Computation) -> str:
    """The expression that is true of the values that pass. Raises TermError where dates decided by their words."""
    if condition.comparison == "contains":
        return f"CONTAINS(LCASE(STR({variable})), LCASE({Literal(condition.values[0]).n3()}))"
    if condition.comparison == "starts_with":
        return f"STRSTARTS(LCASE(STR({variable})), LCASE({Literal(condition.values[0]).n3()}))"
    values = _deciding(computation)
    bounds = [read_words(words) for words in condition.values]
    # without a value that decided nothing passed: two whole years are most probably years
    years_alone = not values and condition.comparison == "between" and all(map(YEARS.fullmatch, condition.values))
    dated = condition.comparison in {"before", "after"} or _dated(values) or years_alone
    years = [(as_year(bound) or bound) if dated else bound for bound in bounds]
    if all(bound.kind == "date" for bound in years):
        return _sides(condition.comparison, years, lambda sign, bound: _by_date(variable, sign, bound))
    if all(bound.kind == "number" for bound in bounds):
        number = _number(values, variable)
        return _sides(condition.comparison, bounds, lambda sign, bound: _by_number(number, sign, bound))
    text = Literal(condition.values[0]).n3()
    return f"LCASE(STR({variable})) {SIGNS.get(condition.comparison, '=')} LCASE({text})"


def _deciding(computation: Computation) -> list[Literal]:
    """The literals that decided. Raises TermError where one is a date or number in words."""
    values = [one.value for one in computation.deciding if isinstance(one.value, Literal)]
    for value in values:
        if _kind(value) != "text" and not re.match(f"{PLAIN_DATE}|{PLAIN_NUMBER}", value.value):
            raise TermError(f"no query can read {value.value!r}")
    return values


def _kind(value: Literal) -> str:
    measured = read(value)
    return measured.kind if measured else "text"


def _dated(values: Sequence[Literal]) -> bool:
    return any(value.datatype in DATES or _kind(value) == "date" for value in values)


def _typed(values: Sequence[Literal]) -> bool:
    return all(value.datatype in NUMBERS for value in values)


def _number(values: Sequence[Literal], variable: str) -> str:
    return variable if _typed(values) else f"{Iri(XSD + 'double').n3()}(STR({variable}))"


def _overlap(computation: Computation, values: Sequence[Literal]) -> bool:
    """Whether dates of several precisions share a day: at the first rank the best one, at another one any."""
    texts = {value.value[:DAY] for value in values}
    best = [max(texts) if computation.most else min(texts)] if computation.rank == 1 else sorted(texts)
    return any(one != other and (one.startswith(other) or other.startswith(one)) for one in best for other in texts)


def _sides(
    comparison: Comparison, bounds: Sequence[ReadValue], compared: Callable[[Comparison, ReadValue], str]
) -> str:
    """A comparison of values that may be intervals by its sides, each of which has one bound."""
    if comparison == "between":
        return f"{compared('at_least', bounds[0])} && {compared('at_most', bounds[1])}"
    if bounds[0].kind == "number":
        return compared(comparison, bounds[0])
    if comparison == "equal":
        return f"{compared('at_least', bounds[0])} && {compared('at_most', bounds[0])}"
    if comparison == "not_equal":
        return f"({compared('before', bounds[0])} || {compared('after', bounds[0])})"
    return compared(comparison, bounds[0])


def _by_number(variable: str, comparison: Comparison, bound: ReadValue) -> str:
    return f"{variable} {SIGNS[comparison]} {Literal(f'{bound.low[0]:f}', XSD + 'decimal').n3()}"


def _by_date(variable: str, comparison: Comparison, bound: ReadValue) -> str:
    """Dates by their text, cut after what is not the first or last day of a year or month anyway."""
    upper = comparison in {"after", "more", "at_most"}
    day = bound.high if upper else bound.low
    if day[0] < 0:
        return f"{_year(variable)} {SIGNS[comparison]} {day[0]}"
    text = _shortest(day, last=upper)
    whole = f"STR({variable})"
    if comparison in {"after", "more"}:
        return f"{whole} > {Literal(text + LAST).n3()}"
    if comparison == "at_least":
        return f"{whole} >= {Literal(text).n3()}"
    after = "" if comparison in {"before", "less"} else LAST
    if len(text) == YEAR:  # no date is shorter
        return f"{whole} < {Literal(text + after).n3()}"
    return f"CONCAT({whole}, {Literal(LAST).n3()}) < {Literal(text + after * 2).n3()}"


def _shortest(day: Bound, *, last: bool) -> str:
    """The first or last day of a year or month as that alone."""
    year, month, number = map(int, day)
    text = f"{year:04}-{month:02}-{number:02}"
    if (month, number) == ((12, 31) if last else (1, 1)):
        return text[:YEAR]
    return text[:-3] if number == (DAYS[month - 1] if last else 1) else text


def _year(variable: str) -> str:
    return f'{Iri(XSD + "integer").n3()}(REPLACE(STR({variable}), "^(-?[0-9]+).*$", "$1"))'
