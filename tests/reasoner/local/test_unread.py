"""What a question says that no chain of relations answers to."""

import re

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import Direction
from fedkg.reasoner.local.unread import unread


def path(topic: str, *relations: str, tails: tuple[str, ...] = ("a",)) -> PromptCandidate:
    """A path from that topic."""
    return PromptCandidate(1, "", relations, tails, topic=topic, start=topic)


def about(question: str, taken: PromptCandidate) -> str:
    """What makes that path a guess."""
    return unread(question, [taken], [taken], counted=False)


@pytest.mark.parametrize(
    ("question", "relation", "words"),
    [
        ("Who directed the first King Kong?", "director", ["first"]),
        ("Who directed the oldest King Kong?", "director", ["oldest"]),
        ("Who directed the fake King Kong?", "director", ["fake"]),
        ("Who did not direct King Kong?", "director", ["not"]),
        ("Who didn’t direct King Kong?", "director", ["didn’t"]),
        ("Who never played in King Kong, except Jack Black?", "cast member", ["never", "except"]),
        ("Tell me how many people King Kong stars", "cast member", ["how many"]),
        ("Who are King Kong's sons?", "child", ["sons"]),
        ("Who is King Kong's brother?", "sibling", ["brother"]),
        ("Which actresses play in King Kong?", "starred actors", ["actresses"]),
    ],
)
def test_words_that_no_chain_answers_to(question: str, relation: str, words: list[str]) -> None:
    """Negations, ranks, counts that are not made, the sex of what is sought, and other things of the topic's name."""
    listed = ", ".join(f"'{word}'" for word in words)
    assert about(question, path("King Kong", relation)) == f"the question says {listed}, which local does not read"


@pytest.mark.parametrize(
    ("question", "topic", "relation"),
    [
        ("Who directed the film King Kong?", "King Kong", "director"),
        ("Who directed The Last Emperor?", "The Last Emperor", "director"),
        ("What is the highest point of Chile?", "Chile", "highest point"),
        ("Who is the father of Ada?", "Ada", "father"),
        ("How long did King Kong last?", "King Kong", "duration"),
        ("Who is the wife of Ada?", "Ada", "spouse"),
    ],
)
def test_words_of_a_name_are_read(question: str, topic: str, relation: str) -> None:
    """That of a topic or a relation; "the film" tells what the topic is."""
    assert about(question, path(topic, relation)) == ""


def test_what_is_counted_is_read() -> None:
    """Where the ends are counted, or are numbers themselves."""
    people = path("Linz", "population", tails=("210,000",))
    assert about("Say how many people live in Linz", people) == ""
    stars = path("King Kong", "cast member")
    assert unread("How many people star in King Kong?", [stars], [stars], counted=True) == ""


@pytest.mark.parametrize(
    ("question", "relation", "direction", "guess"),
    [
        ("How many people live in Oslo?", "residence", "in", True),
        ("How many residents does Oslo have?", "residence", "in", True),
        ("How many people speak Welsh?", "languages spoken", "in", True),
        ("How many people are in Blur?", "has part", "out", False),
        ("How many films did she direct?", "director", "in", False),
    ],
)
def test_people_that_lead_to_a_topic_are_not_all_people(
    question: str, relation: str, direction: Direction, guess: bool
) -> None:
    """A graph has some of the inhabitants of a city; of a band it states the members."""
    topic = re.findall(r"Oslo|Welsh|Blur|she", question)[0]
    taken = PromptCandidate(1, "", (relation,), ("a",), topic=topic, start=topic, directions=(direction,))
    assert bool(unread(question, [taken], [taken], counted=True)) is guess


def test_a_walk_that_ends_where_it_starts() -> None:
    """Its end is not what is asked for."""
    there = path("New Zealand", "capital", "capital of", tails=("new zealand",))
    question = "Which country is New Zealand the capital of?"
    assert about(question, there) == "the answer is the topic of the question itself"


@pytest.mark.parametrize(
    ("end", "read"), [("66", True), ("4,853", True), ("1934-07-04", False), ("4 July 1934", False), ("1934", False)]
)
def test_an_age_is_a_number(end: str, read: bool) -> None:
    """How old somebody was is told by an age; a date of birth or death is none, and none is worked out from it."""
    reason = about("How old was Ada when she died?", path("Ada", "age at death" if read else "died", tails=(end,)))
    assert reason == ("" if read else "the question says 'how old', which local does not read")
