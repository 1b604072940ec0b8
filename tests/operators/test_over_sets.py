"""Sets combined, counted, filtered, ordered and grouped: laws, and what is said of missing and tied values."""

import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.operators.over_sets import combined, count, filtered, largest_groups, ranked
from fedkg.operators.values import ReadValue, read_words

ENDS = st.lists(st.integers(0, 6), max_size=6)
NUMBER = st.integers(0, 5).map(lambda each: ReadValue("number", (Decimal(each),), (Decimal(each),)))
VALUES = st.dictionaries(st.integers(0, 9), st.lists(NUMBER, max_size=2), max_size=6)


def values(**several: str) -> dict[str, list[ReadValue]]:
    """Ends with the values that these words name, "" for none."""
    return {end: [read_words(words)] if words else [] for end, words in several.items()}


@given(st.lists(ENDS, min_size=1, max_size=3))
def test_sets_are_sets(sets: list[list[int]]) -> None:
    """They are those of mathematics, each end once; combined with itself a set is itself, or nothing."""
    first, *others = [set(ends) for ends in sets]
    assert set(combined(sets)) == first.union(*others)
    assert set(combined(sets, "intersect")) == first.intersection(*others)
    assert set(combined(sets, "difference")) == first.difference(*others)
    assert count(combined(sets)) == len(combined(sets))
    assert combined([sets[0], sets[0]], "intersect") == combined([sets[0]])
    assert combined([sets[0], sets[0]], "difference") == ()
    assert combined([], "intersect") == ()


@given(ENDS)
def test_counts(ends: list[int]) -> None:
    """Distinct ends are the size of their set, all are those of the list."""
    assert (count(ends), count(ends, distinct=False)) == (len(set(ends)), len(ends))


@given(ENDS, ENDS)
def test_counts_of_two_sets_add_up(left: list[int], right: list[int]) -> None:
    """What both have and what one alone has are all that either has; union and intersection have no order."""
    either, both = combined([left, right]), combined([left, right], "intersect")
    assert count(either) + count(both) == count(left) + count(right)
    assert count(combined([left, right], "difference")) == count(left) - count(both)
    assert set(either) == set(combined([right, left]))
    assert set(both) == set(combined([right, left], "intersect"))


@given(VALUES, st.booleans(), st.integers(1, 3), st.randoms())
def test_order_is_that_of_values(
    measured: dict[int, list[ReadValue]], most: bool, rank: int, rng: random.Random
) -> None:
    """The n-th is that of the sorted distinct values, all that share it; the order of the ends changes nothing."""
    best = {end: (max if most else min)(value.low for value in several) for end, several in measured.items() if several}
    order = sorted(set(best.values()), reverse=most)
    wanted = {end for end, value in best.items() if rank <= len(order) and value == order[rank - 1]}
    result = ranked(measured, most=most, rank=rank)
    assert set(result.ends) == wanted
    assert set(result.missing) == measured.keys() - best.keys()
    shuffled = list(measured.items())
    rng.shuffle(shuffled)
    assert set(ranked(dict(shuffled), most=most, rank=rank).ends) == wanted


@given(VALUES, NUMBER, NUMBER)
def test_filters_hold_together(measured: dict[int, list[ReadValue]], low: ReadValue, high: ReadValue) -> None:
    """Filters commute, applied twice they are the same, and count what they keep."""
    above = filtered(measured, "at_least", [low]).kept
    below = filtered(measured, "at_most", [high]).kept
    first = filtered({end: measured[end] for end in above}, "at_most", [high]).kept
    second = filtered({end: measured[end] for end in below}, "at_least", [low]).kept
    assert set(first) == set(second) == set(above) & set(below)
    assert filtered({end: measured[end] for end in above}, "at_least", [low]).kept == above
    assert count(first) == len(first)


def test_what_is_missing_is_no_no() -> None:
    """An end without a value, or with one that is not precise enough, is undecided, and not left out in silence."""
    split = filtered(values(a="1989", b="1990", c="1991", d=""), "before", [read_words("May 1990")])
    assert (split.kept, split.undecided) == (("a",), ("b", "d"))
    assert filtered({"a": [read_words("1"), read_words("2")]}, "not_equal", [read_words("1")]).kept == ()


@pytest.mark.parametrize(
    ("most", "rank", "ends", "undecided"),
    [(True, 1, ("d",), False), (True, 2, ("b", "c"), True), (False, 1, ("a",), False), (True, 4, (), False)],
)
def test_dates_that_cannot_be_told_apart(most: bool, rank: int, ends: tuple[str, ...], undecided: bool) -> None:
    """A year and a month of it share a rank, which is said."""
    result = ranked(values(a="44 BC", b="1990", c="May 1990", d="1 January 1991", e=""), most=most, rank=rank)
    assert (result.ends, result.undecided, result.missing) == (ends, undecided, ("e",))


def test_units_are_not_mixed() -> None:
    """Units of one dimension are converted; a value of another one than the most is not compared, a text never is."""
    result = ranked(values(a="5 km", b="4 miles", c="9,000 minutes", d="far", e="7,000"))
    assert (result.ends, result.missing) == (("b",), ("c", "d", "e"))
    same = ranked(values(a="1 hour", b="60 minutes", c="59 min"))
    assert same.ends == ("a", "b")


def test_groups() -> None:
    """What the most ends have comes out with their number, ties kept; a value counts once for an end."""
    groups = {"f": ["ann", "bob"], "g": ["ann", "ann"], "h": ["bob"], "i": ["cid"], "j": []}
    assert largest_groups(groups) == (("ann", "bob"), 2)
    assert largest_groups(groups, most=False) == (("cid",), 1)
    assert largest_groups(groups, rank=3) == ((), 0)
