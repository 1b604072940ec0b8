"""Relations that hold a value, by the names that words tell."""

import pytest

from fedkg.reasoner.local.value_relations import holding


@pytest.mark.parametrize(
    ("names", "place"),
    [
        (("area",), 1),
        (("surface area", "population"), 0),
        (("cost", "budget"), 3),
        (("army",), None),
        (("founding date",), None),
        ((), None),
    ],
)
def test_a_relation_is_found_by_its_name(names: tuple[str, ...], place: int | None) -> None:
    """The likeliest name first; whole names come before those with one word more."""
    assert holding(names, ["population", "Area", "land area", "production budget", "date of birth"]) == place
