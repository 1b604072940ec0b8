"""Questions that name a topic and a kind of answer, and no relation."""

import msgspec
import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.terms import Direction
from fedkg.reasoner.local.kind_alone import of_one_kind


def path(number: int, relation: str, kind: str, direction: Direction = "in") -> PromptCandidate:
    """A path of one step from Ann Lee to two ends of that kind."""
    return PromptCandidate(
        number,
        "",
        (relation,),
        ("x", "y"),
        topic="Ann Lee",
        start="Ann Lee",
        directions=(direction,),
        types=(kind, kind),
    )


PATHS = [
    path(1, "cast member", "film"),
    path(2, "member of", "country"),
    path(3, "instance of", "state"),
    path(4, "spouse", "human", "out"),
]


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Which of Ann Lee's films are there?", [1]),
        ("In which films did Ann Lee play?", [1]),
        ("Which countries are in Ann Lee?", [2]),
        ("Which Ann Lee is there?", [3]),
        ("Which films did Ann Lee finance?", []),
        ("Which rivers are in Ann Lee?", []),
        ("What are Ann Lee's best films?", []),
    ],
)
def test_the_kind_alone_tells_the_relation(question: str, numbers: list[int]) -> None:
    """Where the question says nothing else; without a kind the topic is one, and its instances are meant."""
    assert [each.number for each in of_one_kind(question, PATHS)] == numbers


def met(number: int, relation: str, other: str, kind: str = "film") -> PromptCandidate:
    """A path of one step from Ann Lee that meets one from Bob Ray at ends of that kind."""
    also = PromptCandidate(0, "", (other,), ("x", "y"), topic="Bob Ray", start="Bob Ray", directions=("in",))
    return msgspec.structs.replace(path(number, relation, kind), also=(also,))


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Ann Lee films with Bob Ray", [6]),
        ("Which films have both Ann Lee and Bob Ray in them?", [6]),
        ("Which films are Ann Lee and Bob Ray both in?", [6]),
        ("the countries of Ann Lee and Bob Ray", [7]),
        ("Which films did Ann Lee finance with Bob Ray?", []),
        ("Which rivers do Ann Lee and Bob Ray share?", []),
        ("Ann Lee and Bob Ray", []),
    ],
)
def test_the_kind_tells_where_two_topics_meet(question: str, numbers: list[int]) -> None:
    """Where the question says nothing but both of them and what it asks for."""
    paths = [*PATHS, met(6, "director", "cast member"), met(7, "citizen", "citizen", "country")]
    assert [each.number for each in of_one_kind(question, paths)] == numbers


def test_of_several_topics_that_do_not_meet_no_kind_is_enough() -> None:
    """What is asked of both of them is not told by a kind."""
    other = PromptCandidate(5, "", ("cast member",), ("x",), topic="Bob", start="Bob", directions=("in",))
    assert of_one_kind("Which films are Ann Lee's and Bob's?", [*PATHS, other]) == []
