"""Literals as people write them; what cannot be read stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.literals import DATES, DURATIONS, NUMBERS, POINTS, XSD, readable

SYSTEM = "<http://www.opengis.net/def/crs/EPSG/0/4326>"


@pytest.mark.parametrize(
    ("value", "datatype", "text"),
    [
        ("1815-12-10", "date", "1815-12-10"),
        ("1815-12-10Z", "date", "1815-12-10"),
        ("1990-01-01T00:00:00Z", "dateTime", "1990-01-01"),
        ("1990-01-01T00:00:00.000+00:00", "dateTime", "1990-01-01"),
        ("1990-01-01T10:30:00Z", "dateTime", "1990-01-01T10:30:00"),
        ("1990-05-01+02:00", "date", "1990-05-01+02:00"),
        ("1990", "gYear", "1990"),
        ("0044", "gYear", "44"),
        ("1990-05", "gYearMonth", "1990-05"),
        ("last spring", "date", "last spring"),
    ],
)
def test_dates(value: str, datatype: str, text: str) -> None:
    """A time of midnight and the zone UTC are no part of a date; other times and zones are."""
    assert readable(value, XSD + datatype) == text


@pytest.mark.parametrize(
    ("value", "datatype", "text"),
    [
        ("-0043-03-15", "date", "15 March 44 BC"),
        ("-0043-03-13T00:00:00Z", "dateTime", "13 March 44 BC"),
        ("-099-07-01T00:00:00Z", "dateTime", "1 July 100 BC"),
        ("-0043-03", "gYearMonth", "March 44 BC"),
        ("-0043", "gYear", "44 BC"),
        ("0000", "gYear", "1 BC"),
        ("-0043-13-01", "date", "-0043-13-01"),
        ("-0043-03-45", "date", "-0043-03-45"),
        ("-0043-03-00T00:00:00Z", "dateTime", "-0043-03-00T00:00:00Z"),
    ],
)
def test_years_before_christ(value: str, datatype: str, text: str) -> None:
    """RDF 1.1 counts as XML Schema 1.1: the year before 0001 is 0000, and Caesar died in -0043."""
    assert readable(value, XSD + datatype) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("+5", "5"),
        ("+120.50", "120.5"),
        ("5.00", "5"),
        ("100", "100"),
        ("-0.0", "0"),
        ("1.0E3", "1000"),
        ("2.5e-3", "0.0025"),
        ("1E99", "1E99"),
        ("1E999999999", "1E999999999"),
        ("INF", "INF"),
        ("9" * 50, "9" * 50),
    ],
)
def test_numbers(value: str, text: str) -> None:
    """A plus, zeros at the end and small exponents go; a number that would become endless stays as it is."""
    assert readable(value, XSD + "decimal") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Point(13.38 52.51)", "52.51 N, 13.38 E"),
        ("POINT (-70.66666666 -33.45)", "33.45 S, 70.66667 W"),
        ("<http://www.opengis.net/def/crs/OGC/1.3/CRS84> Point(1 2)", "2 N, 1 E"),
        ("<http://www.wikidata.org/entity/Q405> Point(23.4 0.6)", "0.6 N, 23.4 E (on Q405)"),
        (f"{SYSTEM} Point(1 2)", f"{SYSTEM} Point(1 2)"),
        ("Point(1 200)", "Point(1 200)"),
        ("Point(1 2 3)", "Point(1 2 3)"),
        ("Point(1e5 .)", "Point(1e5 .)"),
        ("Polygon((1 2, 3 4))", "Polygon((1 2, 3 4))"),
    ],
)  # fmt: skip
def test_points(value: str, text: str) -> None:
    """Latitude and longitude, with the globe where it is another; systems of another axis order are not guessed at."""
    assert readable(value, POINTS) == text


@pytest.mark.parametrize(
    ("value", "datatype", "text"),
    [
        ("P1Y2M", "duration", "1 year 2 months"),
        ("-P3DT4H", "dayTimeDuration", "minus 3 days 4 hours"),
        ("PT1.50S", "duration", "1.5 seconds"),
        ("PT0S", "duration", "0 seconds"),
        ("P", "duration", "P"),
        ("1", "boolean", "true"),
        ("false", "boolean", "false"),
        ("+5", "string", "+5"),
        ("+", "integer", "+"),
        ("Z", "date", "Z"),
    ],
)
def test_other_literals(value: str, datatype: str, text: str) -> None:
    """Spans of time in words, truth values by name; strings are what they are."""
    assert readable(value, XSD + datatype) == text


@given(st.text(max_size=30), st.sampled_from(sorted(DATES | DURATIONS | NUMBERS | {POINTS, XSD + "boolean", ""})))
def test_whatever_an_endpoint_says_has_a_text(value: str, datatype: str) -> None:
    """No value raises, vanishes or grows beyond measure."""
    text = readable(value, datatype)
    assert len(text) <= len(value) + 60
    assert bool(text) == bool(value)


@given(st.from_regex(r"\A-?\d{1,4}-\d\d-\d\d\Z") | st.from_regex(r"\A[+-]?\d{1,9}\.\d{1,9}\Z"))
def test_readable_numbers_mean_the_same(value: str) -> None:
    """A number's text has the value of the number; a text that is none stays."""
    text = readable(value, XSD + "decimal")
    assert text == value or float(text) == float(value)
