"""What kind of answer is asked for, and of what kind ends are."""

import pytest

from fedkg.reasoner.local.kinds import WantedKinds, asked, end_kinds, fitting, kinds_of, of_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote it?", "person"),
        ("Where was X born?", "place"),
        ("When did X die?", "date"),
        ("What year was X founded?", "date"),
        ("How tall is X?", "number"),
        ("Which films did X direct?", "film"),
        ("In which cities did X live?", "place"),
        ("List all films by X.", "film"),
        ("the movies starred by X were written by who", "person"),
        ("what types are the films of X?", "genre"),
        ("What time zone is X in?", "zone"),
        ("What is the type of religion of X?", "religion"),
        ("Which actors appear in X?", "person"),
        ("What is X's birthday?", "date"),
        ("What does X do?", "occupation"),
        ("Films with X", "film"),
        ("founder of X", "person"),
        ("Which country produced X?", "country"),
        ("Which tissues show X?", "anatomy"),
        ("Which actors work with X?", "person"),
        ("Which game show did X host?", "work"),
        ("Please give me a full list of diseases of X.", "disease"),
    ],
)
def test_a_question_asks_for_a_kind(question: str, kind: str) -> None:
    """By its question word, or by the noun that follows it."""
    assert kind in asked(question).kinds


def test_some_questions_ask_for_nothing_in_particular() -> None:
    """What something is may be anything."""
    assert asked("What does X treat?").kinds == frozenset()
    assert asked("X") == asked("describe Men in Black in a few words") == WantedKinds()


def test_a_question_word_asks_for_all_its_kinds() -> None:
    """Where something is may be a city, or a part of the body."""
    assert [fitting(asked("Where is X?"), kinds_of(name)) for name in ("city", "organ", "film")] == [1, 1, -1]


def test_a_noun_of_no_list_is_what_it_says() -> None:
    """Its root is compared with those of types."""
    assert fitting(asked("Which zebras did X see?"), kinds_of("plains zebra")) == 1
    assert fitting(asked("Which zebras did X see?"), kinds_of("film")) == 0


@pytest.mark.parametrize(
    ("relation", "kind"),
    [
        ("place of birth", "place"),
        ("directed by", "person"),
        ("director", "person"),
        ("date of birth", "date"),
        ("has genre", "genre"),
        ("member of", ""),
        ("blurb", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_relation_may_tell_what_it_leads_to(relation: str, kind: str) -> None:
    """By its head; where it ends in "of" nothing is told."""
    assert (kind in end_kinds(relation)) == bool(kind)
    assert bool(end_kinds(relation)) == bool(kind)


def test_ends_fit_or_not() -> None:
    """Where types say nothing that is known, neither."""
    who = asked("Who wrote it?")
    assert fitting(who, kinds_of("human")) == 1
    assert fitting(who, kinds_of("city of the United States")) == -1
    assert fitting(who, kinds_of("blurb")) == fitting(who, ()) == fitting(WantedKinds(), kinds_of("city")) == 0


def test_a_country_is_a_place_but_no_city() -> None:
    """What no list has is not known to be wrong, and not what was asked for; a town will do, a monarchy a country."""
    city, country = asked("Which city is X from?"), asked("Which country is X from?")
    types = ("big city", "town", "Commonwealth realm", "island", "human")
    assert [fitting(city, kinds_of(name)) for name in types] == [1, 1, -1, 0, -1]
    assert [fitting(country, kinds_of(name)) for name in types] == [-1, -1, 1, 0, -1]


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ("What river does X lie on?", [1, -1, -1, -1]),
        ("Which mountain is X on?", [-1, 1, -1, -1]),
        ("What continent is X in?", [-1, -1, 1, -1]),
        ("Which country is X in?", [-1, -1, -1, 1]),
        ("Where is X?", [1, 1, 1, 1]),
    ],
)
def test_a_river_is_a_place_but_no_country(question: str, fits: list[int]) -> None:
    """Natural features and states are each something else; a place may be any."""
    types = ("river", "mountain", "continent", "sovereign country")
    assert [fitting(asked(question), kinds_of(name)) for name in types] == fits


def test_a_verb_behind_the_noun_is_no_kind() -> None:
    """What causes something is asked for by the noun before it; a cause is asked for alone."""
    assert asked("Which medicines cause nausea?").kinds == {"drug"}
    assert asked("Which words describe film X?").kinds == {"genre"}
    assert asked("What is the cause of death of X?").kinds == {"cause"}


def test_ends_of_another_kind_are_left_out() -> None:
    """Where some have the kind; where none or all have, and where no type is known, all stay."""
    wanted = asked("Which pathways does X take part in?")
    assert of_kind(wanted, ("pathway", "biological process", "", "blurb")) == (1, 3, 4)
    assert [of_kind(wanted, types) for types in (("process", "gene"), ("pathway",), ("", ""))] == [(), (), ()]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which company owns X?", "organisation"),
        ("Which city hosts and owns X?", "city"),
        ("Which artists record for X?", "person"),
        ("Which drugs target X?", "drug"),
        ("Which actors award X?", "person"),
        ("Which film directors live in X?", "person"),
        ("Which landscape architects live in X?", "person"),
        ("Which record labels sign X?", "organisation"),
        ("Which sports team does X play for?", "organisation"),
    ],
)
def test_the_noun_ends_before_its_verb(question: str, kind: str) -> None:
    """Verbs look like nouns: a company owns, and artists record. A compound ends with its plural."""
    assert asked(question).kinds == {kind} | ({"place"} if kind == "city" else set())
