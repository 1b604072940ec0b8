"""Values compared: what is decided, and what a date's precision leaves open."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.literals import XSD
from fedkg.core.operation import COMPARISONS, Comparison
from fedkg.core.terms import Literal
from fedkg.operators.comparing import apart, comparable, holds, order
from fedkg.operators.values import ReadValue, read, read_words

DATES = st.sampled_from(["1990s", "May 1990", "17 May 1990", "1 January 1991", "44 BC", "19th century"]).map(read_words)
NUMBERS = st.integers(-3, 3).map(lambda each: ReadValue("number", (Decimal(each),), (Decimal(each),)))


@pytest.mark.parametrize(
    ("value", "comparison", "bounds", "expected"),
    [
        ("1990", "before", ["May 1990"], None),
        ("1989", "before", ["May 1990"], True),
        ("3 May 1990", "after", ["1990"], False),
        ("3 May 1990", "equal", ["1990"], True),
        ("1990s", "equal", ["1995"], None),
        ("44 BC", "before", ["1 January 1"], True),
        ("1990", "equal", ["May 1990"], None),
        ("1990", "not_equal", ["May 1990"], None),
        ("1990", "between", ["1980", "1990"], True),
        ("1990", "between", ["1980", "3 May 1990"], None),
        ("1991", "between", ["1980", "1990"], False),
        ("1990", "between", ["1980"], None),
        ("5 km", "more", ["4"], True),
        ("5 km", "more", ["4 miles"], False),
        ("5 km", "more", ["4 minutes"], None),
        ("5 km", "more", ["4 leagues"], None),
        ("5 leagues", "more", ["4 leagues"], True),
        ("1.5 hours", "equal", ["90 minutes"], True),
        ("1 mile", "between", ["1,609 metres", "1610 m"], True),
        ("7", "at_most", ["7"], True),
        ("7", "not_equal", ["8"], True),
        ("Licence to Kill", "contains", ["kill"], True),
        ("Licence to Kill", "starts_with", ["licence"], True),
        ("Licence to Kill", "starts_with", ["kill"], False),
        ("Drama", "equal", ["drama"], True),
        ("Drama", "less", ["5"], None),
        ("Drama", "less", ["drama"], None),
    ],
)
def test_what_is_decided(value: str, comparison: Comparison, bounds: list[str], expected: bool | None) -> None:
    """True and False where it is so whatever day is meant, None where it is not known or cannot be compared."""
    assert holds(comparison, read_words(value), [read_words(bound) for bound in bounds]) is expected


@given(DATES | NUMBERS, DATES | NUMBERS)
def test_laws(left: ReadValue, right: ReadValue) -> None:
    """At least is not less and at most is not more, wherever both are decided; to be less turns around to more."""
    for whole, part in (("at_least", "less"), ("at_most", "more")):
        one, other = holds(whole, left, [right]), holds(part, left, [right])  # type: ignore[arg-type]
        assert one is None or other is None or one is not other
    if left.kind == right.kind:
        assert holds("less", left, [right]) is holds("more", right, [left]) or not (left.exact and right.exact)
    assert all(holds(comparison, left, []) is None for comparison in COMPARISONS)


@given(st.dates(), st.sampled_from([(4, "gYear"), (7, "gYearMonth")]))
def test_precisions_are_not_mixed_up(day: date, precision: tuple[int, str]) -> None:
    """A day lies in its month and year; the year or month may be that day, and is neither equal to it nor before it."""
    text = day.isoformat()
    exact, month_or_year = read(Literal(text, XSD + "date")), read(Literal(text[: precision[0]], XSD + precision[1]))
    assert exact is not None
    assert month_or_year is not None
    assert holds("equal", exact, [month_or_year]) is True
    assert holds("not_equal", exact, [month_or_year]) is False
    assert holds("before", exact, [month_or_year]) is holds("after", exact, [month_or_year]) is False
    assert holds("equal", month_or_year, [exact]) is holds("not_equal", month_or_year, [exact]) is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (["1991"], ["1990", "3 May 1990"], "more"),
        (["1980"], ["17 May 1990"], "less"),
        (["17 May 1990"], ["17 May 1990"], "equal"),
        (["May 1990"], ["May 1990"], None),
        (["1989", "1991"], ["17 May 1990"], None),
        ([], ["1990"], None),
    ],
)
def test_order(left: list[str], right: list[str], expected: str | None) -> None:
    """Each value of one against each of the other; the same month is not the same day."""
    assert order([read_words(words) for words in left], [read_words(words) for words in right]) == expected


def test_how_far_apart() -> None:
    """Numbers by their difference, dates by their years: across the birth of Christ, too, where there is no year 0."""
    assert apart(read_words("44 BC"), read_words("14 May 14")) == 57
    assert apart(read_words("7 km"), read_words("4 km")) == 3
    assert apart(read_words("7 km"), read_words("4,000 metres")) == 3
    assert apart(read_words("7 km"), read_words("4 minutes")) is None
    assert apart(read_words("1990s"), read_words("2001-01-01")) is None
    assert apart(read_words("drama"), read_words("drama")) is None


def test_kinds_that_go_together() -> None:
    """The most frequent kind and unit is compared; beside dates a whole number is a year."""
    values = [read_words(words) for words in ("1990", "May 1990", "7 km")]
    kept, left = comparable(values)
    assert [value.kind for value in kept] == ["date", "date"]
    assert left == values[2:]
    assert comparable([]) == ([], [])
