"""Names in questions."""

import pytest

from fedkg.engine.names import as_written, common, covered, names_in, singular


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who killed Roger Rabbitson?", ["Roger Rabbitson"]),
        ("Which of Ann Lee's films are set in Los Angeles?", ["Ann Lee", "Los Angeles"]),
        ("When was the University of Lower Pendleshire founded?", ["University of Lower Pendleshire"]),
        ("Who saw Berlin and Lou Reed?", ["Berlin", "Lou Reed"]),
        ("which record label was roy orbison on", ["roy orbison"]),
        ("List the symptoms of velvet lung.", ["velvet lung"]),
        ("what treats addison disease", ["addison disease"]),
        ("who is it", []),
        ("What can I take against gout?", ["gout"]),
        ("Films that show a wombat?", ["wombat"]),
        ("Could you tell me what treats Marfan syndrome? My niece has it.", ["Marfan"]),
        ("Films Ann Lee made?", ["Films Ann Lee"]),
        ("Wombats that live in Tasmania?", ["Wombats", "Tasmania"]),
    ],
)
def test_names_stand_in_a_question(question: str, names: list[str]) -> None:
    """Words with capitals, and small words between them; without capitals what no relation is called by."""
    assert names_in(question) == names


def test_a_name_is_covered_by_a_mention_of_all_of_it() -> None:
    """A part of it does not do."""
    assert covered("The Beatles", ["Beatles"])
    assert covered("Ann Lee", ["Bob", "ann lee"])
    assert not covered("Roger Rabbitson", ["Roger"])


def test_everyday_words_name_nothing() -> None:
    """They ask for something."""
    assert common("plays")
    assert common("official language")
    assert common("uni")
    assert not common("harp")


def test_plurals_are_looked_up_in_the_singular() -> None:
    """The mention stays as the question has it."""
    assert [singular(word) for word in ("lions", "big cities", "boxes", "Lions", "glass", "bus", "")] == [
        "lion",
        "big city",
        "box",
        "",
        "",
        "",
        "",
    ]
    assert as_written("lion", "What do lions eat?") == "lions"
    assert as_written("What", "What do lions eat?") == "What"


def test_nouns_in_ie_have_plurals_of_their_own() -> None:
    """A movie is no "movy", and a city no "citie"."""
    assert [singular(word) for word in ("movies", "horror movies", "cities", "berries")] == [
        "movie",
        "horror movie",
        "city",
        "berry",
    ]
