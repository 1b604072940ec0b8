"""Conditions as SPARQL expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import QuerySolutions, Store

from fedkg.core.operation import Comparison, Computation, Condition, Deciding
from fedkg.core.terms import Iri, Literal
from fedkg.operators.comparing import holds
from fedkg.operators.values import ReadValue, read, read_words
from fedkg.sparql.condition_text import holds_expression

XSD = "http://www.w3.org/2001/XMLSchema#"
NOTHING = Computation("ends", ())


def test_dates_are_compared_by_the_part_that_is_stated() -> None:
    """A year by its four characters."""
    assert holds_expression(Condition("before", ("1990",)), "?v", NOTHING) == 'STR(?v) < "1990"'


def literals(*texts: str) -> list[Literal]:
    """Literals of XML Schema's types: type, colon, text; plain ones without a colon."""
    parts = (text.rpartition(":") for text in texts)
    return [Literal(text, XSD + kind if kind else "") for kind, _, text in parts]


DATES = literals(
    "gYear:1990", "gYear:1989", "gYear:1991", "gYearMonth:1990-05", "gYearMonth:1990-06", "date:1990-05-12",
    "date:1990-01-01", "date:1990-12-31", "gYear:0020", "gYear:-0100", "gYear:-0050", "1990", "1990-05-12",
)  # fmt: skip
NUMBERS = literals("integer:90", "decimal:120.5", "double:121.5", "integer:-5", "integer:7", "90", "120")
ORDERED: list[Comparison] = ["equal", "not_equal", "less", "at_most", "more", "at_least", "before", "after"]


@pytest.mark.parametrize("comparison", ORDERED)
@pytest.mark.parametrize(
    ("values", "bound"),
    [(DATES, bound) for bound in ("1990", "May 1990", "12 May 1990", "1 January 1990", "31 December 1990", "1980s")]
    + [(DATES, "60 BC"), (DATES, "19th century")]
    + [(NUMBERS, bound) for bound in ("90", "120.5", "-5", "1,000 metres")],
)
def test_a_query_decides_as_the_operators_do(comparison: Comparison, values: list[Literal], bound: str) -> None:
    """What passes there passes here: dates of any precision, and numbers of any type."""
    if values is NUMBERS and comparison in {"before", "after"}:
        return
    passing = {value for value in values if holds(comparison, _meant(value), [read_words(bound)])}
    assert returned(Condition(comparison, (bound,)), values) == {value.value for value in passing}


def _meant(literal: Literal) -> ReadValue:
    value = read(literal)
    assert value
    return value


def returned(condition: Condition, values: list[Literal]) -> set[str]:
    """The values that an engine lets pass."""
    deciding = tuple(Deciding(Iri("http://x/a"), value, 0) for value in values)
    expression = holds_expression(condition, "?v", Computation("ends", (), deciding=deciding))
    listed = " ".join(value.n3() for value in values)
    solutions = Store().query(f"SELECT ?v WHERE {{ VALUES ?v {{ {listed} }} FILTER({expression}) }}")
    assert isinstance(solutions, QuerySolutions)
    return {row["v"].value for row in solutions}


@given(st.text())
def test_the_words_of_a_question_never_break_out(words: str) -> None:
    """Whatever is looked for, the expression stays one."""
    for comparison in ("contains", "equal", "more", "before"):
        Store().query(
            f"SELECT ?v WHERE {{ ?s ?p ?v FILTER({holds_expression(Condition(comparison, (words,)), '?v', NOTHING)}) }}"
        )
