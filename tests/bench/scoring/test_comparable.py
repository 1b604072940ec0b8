"""Answers as they are compared."""

import pytest

from fedkg.bench.scoring.comparable import bare_number, comparable


@pytest.mark.parametrize(
    ("texts", "alike"),
    [
        (("2,000", "2000", "+2000", "2000.0", " 2000 "), "2000"),
        (("-0", "0", "0.00"), "0"),
        (("0.50", "0.5"), "0.5"),
        (("007",), "7"),
        (("1947-08-14T00:00:00Z", "1947-08-14", "1947-08-14T00:00:00+00:00"), "1947-08-14"),
        (("-0043-03-15T00:00:00Z",), "15 march 44 bc"),
        (("The Beatles", "beatles"), "beatles"),
        (("1,20",), "1,20"),
        (("1947-08-14T12:00:00Z",), "1947-08-14t12:00:00z"),
    ],
)
def test_values_are_compared_as_values(texts: tuple[str, ...], alike: str) -> None:
    """However a number or a midnight is written; what is neither is compared by its words."""
    assert {comparable(text) for text in texts} == {alike}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,020 m", "1020"),
        ("25 years", "25"),
        ("-3.50 °C", ""),
        ("5km²", "5"),
        ("12", ""),
        ("at least 12", ""),
        ("9 to 5", ""),
    ],
)
def test_a_quantity_has_a_number(text: str, number: str) -> None:
    """A number and a unit in words; no bound, and nothing with another number."""
    assert bare_number(text) == number
