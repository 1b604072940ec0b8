"""What is asked of the chains, where an operator is read out of a question."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Kind
from fedkg.reasoner.local.asked_paths import asked_paths, kind_asked


def offers(*topics: str) -> list[PromptCandidate]:
    """One path of each topic."""
    return [PromptCandidate(number, "", ("job",), topic=topic) for number, topic in enumerate(topics, 1)]


def test_a_question_without_an_operator_is_asked_as_it_is() -> None:
    """Of all topics."""
    meant = asked_paths("Who directed Jaws?", offers("Jaws"))
    assert (meant.text, meant.parts, meant.operation) == ("Who directed Jaws?", {}, None)


def test_a_question_word_owns_nothing() -> None:
    """What's is what is."""
    assert asked_paths("Who's Ann's wife?", offers("Ann")).text == "Who is Ann's wife?"


def test_a_short_form_is_asked_in_full() -> None:
    """Not within the name of a topic."""
    assert asked_paths("Which unis did Ann go to?", offers("Ann")).text == "Which universities did Ann go to?"
    assert asked_paths("Who plays Uni?", offers("Uni")).text == "Who plays Uni?"


def test_what_is_taken_away_is_asked_of_its_own_topic() -> None:
    """The rest of the others."""
    meant = asked_paths("Which actors of Jaws are not in the cast of Duel?", offers("Jaws", "Duel"))
    assert meant.parts == {"Jaws": "Which actors of Jaws", "Duel": "Which actors are in the cast of Duel"}


@pytest.mark.parametrize(
    ("relation", "tails", "read"),
    [
        ("students count", ("6885",), False),
        ("number of students", ("6885",), False),
        ("students count", ("Ann",), True),
        ("employees", ("50",), True),
    ],
)
def test_a_number_that_is_stated_is_not_counted(relation: str, tails: tuple[str, ...], *, read: bool) -> None:
    """By the name of the relation, and what it leads to."""
    path = PromptCandidate(1, "", (relation,), tails, directions=("out",), topic="MIT")
    assert (asked_paths("How many students does MIT have?", [path]).operation is not None) == read


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("In how many films did she play?", "count"),
        ("What is the number of his children?", "count"),
        ("How many years older is Ann than Bob?", "literal"),
        ("How many members have an area of more than 2 km²?", "count"),
        ("Is Ann or Bob older?", "entities"),
        ("Is Ann older than Bob?", "yesno"),
        ("Who is Ann?", "entities"),
        ("Is there anything that treats Ann?", "entities"),
        ("Is there anyone named Ann in Bob?", "yesno"),
        ("Is there evidence that Ann met Bob?", "yesno"),
        ("Is there any herb I can take for gout?", "entities"),
        ("Are there any wolves in Wales?", "yesno"),
        ("We liked Emma. How many people read it?", "count"),
    ],
)
def test_the_kind_is_told_by_what_is_computed(question: str, kind: Kind) -> None:
    """How many years lie between two dates is no count."""
    assert kind_asked(question) == kind
