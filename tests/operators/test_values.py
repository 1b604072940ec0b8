"""Values as they stand in graphs and in questions."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import UNKNOWN, Iri, Literal
from fedkg.operators.values import ReadValue, as_year, read, read_words

XSD = "http://www.w3.org/2001/XMLSchema#"


def days(low: tuple[int, int, int], high: tuple[int, int, int]) -> ReadValue:
    """The date of these days."""
    return ReadValue("date", tuple(map(Decimal, low)), tuple(map(Decimal, high)))


def number(text: str, unit: str = "") -> ReadValue:
    """The number that the text is."""
    return ReadValue("number", (Decimal(text),), (Decimal(text),), unit=unit)


@pytest.mark.parametrize(
    ("value", "datatype", "expected"),
    [
        ("1990", XSD + "gYear", days((1990, 1, 1), (1990, 12, 31))),
        ("-0043", XSD + "gYear", days((-43, 1, 1), (-43, 12, 31))),
        ("0000", XSD + "gYear", days((0, 1, 1), (0, 12, 31))),
        ("1990-05", XSD + "gYearMonth", days((1990, 5, 1), (1990, 5, 31))),
        ("1990-05-17T23:59:59Z", XSD + "dateTime", days((1990, 5, 17), (1990, 5, 17))),
        ("-0044-03-15", XSD + "date", days((-44, 3, 15), (-44, 3, 15))),
        ("1990-13-01", XSD + "date", None),
        ("1.5e3", XSD + "double", number("1500")),
        ("NaN", XSD + "double", None),
        ("1e999999", XSD + "decimal", None),
        ("true", XSD + "boolean", None),
        ("17", "http://dbpedia.org/datatype/metre", number("17", "http://dbpedia.org/datatype/metre")),
        ("17 December 1994", "", days((1994, 12, 17), (1994, 12, 17))),
        ("about ten", "", ReadValue("text", text="about ten")),
        ("", "", None),
    ],
)
def test_terms_of_a_graph(value: str, datatype: str, expected: ReadValue | None) -> None:
    """Every precision of dates is the days that it may mean; what is no value of its datatype is none."""
    assert read(Literal(value, datatype)) == expected


def test_a_text_of_a_language_is_no_number() -> None:
    """The title "1984" is a name, and has no place between 1000 and 2000."""
    assert read(Literal("1984", language="en")) == ReadValue("text", text="1984")


def test_nodes() -> None:
    """An entity is the text of its name; one without a name, and an unknown value, are nothing to compare."""
    drama = Iri("http://ex.org/d")
    assert read(drama, {drama: "drama"}) == ReadValue("text", text="drama")
    assert (read(drama), read(UNKNOWN)) == (None, None)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("1990", number("1990")),
        ("5 million", number("5000000")),
        ("200,000 square kilometres", number("200000", "square kilometres")),
        ("$2.5 billion", number("2500000000", "$")),
        ("120 minutes", number("120", "minutes")),
        ("1,2", ReadValue("text", text="1,2")),
        ("1990s", days((1990, 1, 1), (1999, 12, 31))),
        ("the 19th century", days((1801, 1, 1), (1900, 12, 31))),
        ("the 80s", days((1980, 1, 1), (1989, 12, 31))),
        ("the 1800s", days((1800, 1, 1), (1899, 12, 31))),
        ("March 15", ReadValue("text", text="March 15")),
        ("March 15, 44 BC", days((-43, 3, 15), (-43, 3, 15))),
        ("1st century BC", days((-99, 1, 1), (0, 12, 31))),
        ("44 BC", days((-43, 1, 1), (-43, 12, 31))),
        ("May 1990", days((1990, 5, 1), (1990, 5, 31))),
        ("17 May 1990", days((1990, 5, 17), (1990, 5, 17))),
        ("May 17, 1990", days((1990, 5, 17), (1990, 5, 17))),
        ("1990-05-17", days((1990, 5, 17), (1990, 5, 17))),
        ('"Kill"', ReadValue("text", text="Kill")),
    ],
)
def test_words_of_a_question(words: str, expected: ReadValue) -> None:
    """Numbers with their scale and unit, dates in words and digits, else a text."""
    assert read_words(words) == expected


def test_years() -> None:
    """A whole number may be a year; one with a unit or a fraction is none."""
    assert as_year(number("1990")) == days((1990, 1, 1), (1990, 12, 31))
    assert (as_year(number("1990.5")), as_year(number("1990", "km"))) == (None, None)


@given(st.text(max_size=60))
def test_any_words_are_read(words: str) -> None:
    """Whatever stands there is some value, and whatever a graph states is one or none, without an error."""
    assert read_words(words).kind in {"number", "date", "text"}
    for datatype in ("", XSD + "date", XSD + "decimal", "http://ex.org/unit"):
        read(Literal(words, datatype))
