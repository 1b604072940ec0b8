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
        ("Which films did Ann Lee direct?", []),
        ("Which films has Ann Lee produced", []),
        ("Which films can Ann Lee record?", []),
        ("Which countries does Ann Lee lead?", []),
        ("films that Ann Lee cast", []),
        ("Which Ann Lee directed films are there?", []),
        ("Which films have the Ann Lee actress?", [1]),
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


def offered(number: int, relation: str, kind: str, direction: Direction = "out") -> PromptCandidate:
    """A path of one step from gene XYZ to ends of that kind."""
    return PromptCandidate(
        number, "", (relation,), ("x", "y"), topic="XYZ", start="XYZ", directions=(direction,), types=(kind, kind)
    )


GENE = [offered(1, "takes part in", "molecular function"), offered(2, "takes part in", "pathway")]


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("Which molecular function does XYZ have?", [1]),
        ("Which pathway is the XYZ gene part of?", [2]),
        ("Which pathways does XYZ belong to?", [2]),
        ("In which pathways is the gene XYZ involved?", [2]),
        ("Which cellular function does XYZ have?", []),
        ("Which pathway does XYZ block?", []),
        ("Which drug pathway is XYZ part of?", []),
        ("Which genes are in XYZ?", []),
    ],
)
def test_the_kind_may_have_the_words_of_a_type(question: str, numbers: list[int]) -> None:
    """And the topic a noun that tells what it is; a word of none of them says more than a kind."""
    assert [each.number for each in of_one_kind(question, GENE)] == numbers


CLASS = [
    offered(1, "includes compound", "compound"),
    offered(2, "instance of", "class"),
    offered(3, "has member", "ship"),
    offered(4, "included in", "list"),
]


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("List all the XYZ.", [1, 3]),
        ("Name every XYZ", [1, 3]),
        ("I need a list of all the XYZ for my homework", [1, 3]),
        ("we would like to see all XYZ", [1, 3]),
        ("Which XYZ is it?", []),
        ("XYZ?", []),
        ("List all the enemies of XYZ.", []),
        ("I need all the XYZ recipes for my exam", []),
    ],
)
def test_all_of_a_class_are_what_it_includes(question: str, numbers: list[int]) -> None:
    """Where nothing but the class is named, and all of it is asked for."""
    assert [each.number for each in of_one_kind(question, CLASS)] == numbers


def test_instances_come_before_what_a_class_includes() -> None:
    """What is one of its kind says so itself."""
    assert [each.number for each in of_one_kind("List all XYZ", [*CLASS, offered(5, "type", "ship", "in")])] == [5]
