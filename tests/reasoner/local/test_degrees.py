"""What adjectives of degree measure, by the noun."""

import pytest

from fedkg.reasoner.local.degrees import degrees


@pytest.mark.parametrize(
    ("form", "noun", "name"),
    [
        ("longest", "film", "duration"),
        ("longest", "river", "length"),
        ("oldest", "child", "date of birth"),
        ("oldest", "university", "inception"),
        ("largest", "city", "population"),
        ("largest", "lake", "area"),
    ],
)
def test_an_adjective_measures_what_its_noun_has(form: str, noun: str, name: str) -> None:
    """Else what it measures of anything."""
    measure = degrees().of_adjective(form, noun)
    assert measure is not None
    assert measure.names[0] == name


def test_first_says_nothing_of_most_nouns() -> None:
    """Works and children have one date that is meant; a president has several."""
    assert degrees().of_adjective("first", "president") is None
    assert degrees().of_adjective("first", "album") is not None
