"""Dates that are stated twice are told by what they state."""

import pytest

from fedkg.core.dates import repeated
from fedkg.core.terms import Iri, Literal, Term

XSD = "http://www.w3.org/2001/XMLSchema#"
WORDS, DAY = Literal("17 December 1994"), Literal("1994-12-17T00:00:00Z", f"{XSD}dateTime")
YEAR, FILLED = Literal("2003"), Literal("2003-01-01", f"{XSD}date")
MONTH, FIRST = Literal("May 2003"), Literal("2003-05-01", f"{XSD}date")


@pytest.mark.parametrize(
    ("ends", "again"),
    [
        ([WORDS, DAY], {WORDS}),
        ([YEAR, FILLED], {FILLED}),
        ([MONTH, FIRST], {FIRST}),
        ([YEAR, DAY, FIRST], set()),
        ([FILLED], set()),
        ([Literal("59449"), Literal("59,449"), Iri("http://x/2003"), Literal("2003-13")], set()),
    ],
)
def test_a_date_counts_once(ends: list[Term], again: set[Term]) -> None:
    """A typed literal stays; a year or month stays where the day is only filled up; all else is left alone."""
    assert repeated(ends) == repeated(ends[::-1]) == again
