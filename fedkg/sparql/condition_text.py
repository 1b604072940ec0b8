"""Values compared in SPARQL as the operators compare them: numbers as numbers, dates by the part that both state.

Dates are compared by their text, year first: engines differ in whether an xsd:gYear may be compared with an xsd:date at
all. Years before Christ are negative, and sort by themselves.
"""

import re

from fedkg.core.literals import DATES
from fedkg.core.operation import Computation, Condition
from fedkg.core.terms import Iri, Literal

__all__ = ["holds_expression", "order_key"]

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
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
DATE = re.compile(r"-?\d{4,}(-\d\d){0,2}")


def order_key(computation: Computation, variable: str) -> str:
    """The expression by which values are ordered: of dates their text, or the year where years are told apart."""
    dates = [isinstance(one.value, Literal) and one.value.datatype in DATES for one in computation.deciding]
    if not (dates and all(dates)):
        return variable
    return _year(variable) if computation.form == "difference" else f"STR({variable})"


def holds_expression(condition: Condition, variable: str) -> str:
    """The expression that is true of the values that pass."""
    values = condition.values
    if condition.comparison == "contains":
        return f"CONTAINS(LCASE(STR({variable})), LCASE({Literal(values[0]).n3()}))"
    dated = condition.comparison in {"before", "after"}
    if condition.comparison == "between":
        dated = all(DATE.fullmatch(value) for value in values)
        return f"{_side(variable, '>=', values[0], dated)} && {_side(variable, '<=', values[1], dated)}"
    return _side(variable, SIGNS[condition.comparison], values[0], dated)


def _side(variable: str, sign: str, value: str, dated: bool) -> str:
    """One comparison: dates by as much of their text as the value has."""
    if dated:
        return f"SUBSTR(STR({variable}), 1, {len(value)}) {sign} {Literal(value).n3()}"
    if NUMBER.fullmatch(value):
        return f"{variable} {sign} {Literal(value, XSD + 'decimal').n3()}"
    return f"LCASE(STR({variable})) {sign} LCASE({Literal(value).n3()})"


def _year(variable: str) -> str:
    return f'{Iri(XSD + "integer").n3()}(REPLACE(STR({variable}), "^(-?[0-9]+).*$", "$1"))'
