"""What of a question is a mention, which candidates it can mean, and what is told of names that a graph lacks."""

import pytest

from fedkg.core.question import Match
from fedkg.core.terms import Iri
from fedkg.engine.mentions import inside_names, of_one_kind, spoken


def match(name: str, kind: str, score: float = 1.0, mention: str = "") -> Match:
    """A candidate of that type."""
    return Match(Iri(f"http://x/{name}"), name, score, mention=mention, type=kind)


CELIAC, PURPURA = match("celiac", "disease", 0.9), match("purpura", "side effect")
CROHN = [match("crohn1", "side effect"), match("crohn2", "disease")]
OPTIONS = ["Celiac disease", "Crohn's disease"]


def test_the_kind_of_the_options_decides_an_ambiguous_one() -> None:
    """Crohn's disease is a disease where celiac disease is one; other mentions, and options that are clear, stay."""
    listed = {"celiac disease": [CELIAC], "Crohn's disease": CROHN, "purpura": [PURPURA]}
    assert of_one_kind(listed, OPTIONS) == {**listed, "Crohn's disease": CROHN[1:]}
    both = {**listed, "purpura": [PURPURA, match("purpura2", "disease", 0.8)]}
    assert of_one_kind(both, [*OPTIONS, "Purpura"]) == {**both, "Crohn's disease": CROHN[1:]}


@pytest.mark.parametrize(
    ("listed", "options"),
    [
        ({"Celiac disease": [CELIAC], "Crohn's disease": CROHN}, []),
        ({"Crohn's disease": CROHN}, OPTIONS),
        ({"Celiac disease": [match("celiac", "")], "Crohn's disease": CROHN}, OPTIONS),
        ({"Celiac disease": [match("celiac", "gene")], "Crohn's disease": CROHN}, OPTIONS),
        ({"Celiac disease": CROHN, "Crohn's disease": CROHN}, OPTIONS),
    ],
)
def test_options_of_no_common_kind_stay_open(listed: dict[str, list[Match]], options: list[str]) -> None:
    """Nothing is decided without options, by an option alone, by unknown types, by none in common or by several."""
    assert of_one_kind(listed, options) == listed


@pytest.mark.parametrize(
    ("question", "mention", "others", "inside"),
    [
        ("who played jacob black in twilight?", "black", ["Twilight"], True),
        ("Who played Jacob Black in Twilight?", "Black", ["Twilight"], True),
        ("who played black in twilight?", "black", ["Played"], False),
        ("who wore black in twilight?", "black", ["wore"], False),
        ("Who wore black shoes in Twilight?", "black", ["Twilight"], False),
        ("who wrote twilight black?", "black", ["Twilight", "wrote"], False),
        ("is black a colour?", "black", ["colour"], False),
    ],
)
def test_a_word_inside_a_longer_name_is_no_mention(
    question: str, mention: str, others: list[str], inside: bool
) -> None:
    """A word beside it is part of its name: one with a capital, without capitals one that no label has."""
    black = match("black", "colour", mention=mention)
    assert inside_names(question, [black], others) == [black] * inside


def test_names_of_several_words_are_mentions() -> None:
    """Whatever stands beside them; and words of other mentions are no part of a name."""
    matches = [match("jb", "film", mention="jacob black"), match("film", "type", mention="film")]
    assert inside_names("who plays jacob black film", matches) == []


@pytest.mark.parametrize(
    ("absent", "question", "shown"),
    [
        ("androgen receptor", "?", "androgen receptor"),
        ("http://x/Jacob_Black", "?", "Jacob Black"),
        ("http://rdf.freebase.com/ns/m.02qd_td", "who played jacob black in twilight?", "one of: played, jacob, black"),
        ("http://www.wikidata.org/entity/Q42", "Who played Jacob Black in Twilight?", "one of: Jacob, Black"),
    ],
)
def test_a_name_that_the_graph_lacks_is_told_in_words(absent: str, question: str, shown: str) -> None:
    """By itself, by the name in its IRI, or by the words of the question that no topic has."""
    assert spoken(absent, question, ["Twilight"]) == shown


@pytest.mark.parametrize(
    ("absent", "told"),
    [
        ("http://example org/a b", "http://example org/a b"),
        ("http://a.org/{x}", "http://a.org/{x}"),
        ("urn:isbn:0451450523", "one of: Ann"),
        ("<http://x/m.02mjmr>", "one of: Ann"),
    ],
)
def test_what_only_looks_like_an_address_is_told_as_it_is(absent: str, told: str) -> None:
    """Words of a question are no IRI that could not be read; an IRI is told in words, whichever kind it is."""
    assert spoken(absent, "Which pet has Ann?", ["pet"]) == told


def test_an_address_of_which_nothing_can_be_said_is_told_by_nothing() -> None:
    """All words of the question belong to topics."""
    assert spoken("http://x/m.02mjmr", "Which pet has Ann?", ["pet", "Ann", "has"]) == ""
