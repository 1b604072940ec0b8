"""Which way relations lead, and which way is meant."""

import pytest

from fedkg.core.terms import Direction
from fedkg.reasoner.local.directions import agrees, clash, leads
from fedkg.reasoner.local.wording import Wording

BOTH: tuple[Direction, Direction] = ("in", "out")


@pytest.mark.parametrize(
    ("relation", "lead"),
    [
        ("directed by", "to the agent"),
        ("director", "to the agent"),
        ("starred actors", "to the agent"),
        ("treats", "from the agent"),
        ("causes side effect", "from the agent"),
        ("member of", "to the whole"),
        ("place of birth", "from the owner"),
        ("", "from the owner"),
    ],
)
def test_a_relation_leads_by_its_name(relation: str, lead: str) -> None:
    """To who does it, from who does it, to the whole, or from what has it."""
    assert leads(relation) == lead


@pytest.mark.parametrize(
    ("question", "relation", "meant"),
    [
        ("Who directed X?", "director", "out"),
        ("Who did X direct?", "director", "in"),
        ("Which films did X direct?", "directed by", "in"),
        ("films directed by X", "directed by", "in"),
        ("Who was X directed by?", "directed by", "out"),
        ("the X director", "director", "out"),
        ("languages of X directed films", "directed by", "in"),
        ("what movies was X an actor in", "starred actors", "in"),
        ("What does X treat?", "treats", "out"),
        ("What treats X?", "treats", "in"),
        ("Which countries are members of X?", "member of", "in"),
        ("Which disease is X a kind of?", "subclass of", "out"),
    ],
)
def test_a_question_means_one_way(question: str, relation: str, meant: Direction) -> None:
    """The other one clashes."""
    role = Wording(question, "X").role
    other: Direction = "in" if meant == "out" else "out"
    assert agrees(role, relation, meant)
    assert (clash(role, relation, meant), clash(role, relation, other)) == (False, True)


@pytest.mark.parametrize(
    ("question", "relation", "meant"),
    [
        ("By which kinase is X inhibited?", "inhibits", "in"),
        ("What is X caused by?", "causes", "in"),
        ("How can X be treated?", "treats", "in"),
        ("Which factory was X produced in?", "produces", "in"),
        ("In which tissues is X strongly expressed?", "expresses", "in"),
        ("What is X used to treat?", "treats", None),
        ("What is X prescribed for?", "treats", None),
        ("Which band is X signed by?", "owns", None),
        ("What does X inhibit?", "inhibits", "out"),
    ],
)
def test_what_is_done_to_something_another_one_does(question: str, relation: str, meant: Direction | None) -> None:
    """By the verb of the relation itself; of another verb, "used to treat", it tells nothing."""
    wording = Wording(question, "X")
    clashing = [way for way in BOTH if clash(wording.role, relation, way, wording.done)]
    assert clashing == ([way for way in BOTH if way != meant] if meant else [])


def test_a_relation_that_holds_both_ways_never_clashes() -> None:
    """Who resembles somebody is resembled; what borders something is bordered."""
    role = Wording("Which rivers are similar to X?", "X").role
    assert not any(clash(role, relation, way) for relation in ("resembles", "borders") for way in BOTH)
    assert clash(role, "treats", "out")


def test_some_questions_leave_it_open() -> None:
    """So does a relation that is nobody's doing."""
    assert Wording("films that share a director with X", "X").role == ""
    assert not clash("", "director", "in")
    assert not clash("patient", "place of birth", "in")
