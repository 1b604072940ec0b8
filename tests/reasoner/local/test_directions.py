"""Which way relations lead, and which way is meant."""

import pytest

from fedkg.core.terms import Direction
from fedkg.reasoner.local.directions import agrees, clash, leads
from fedkg.reasoner.local.wording import Wording


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


def test_some_questions_leave_it_open() -> None:
    """So does a relation that is nobody's doing."""
    assert Wording("films that share a director with X", "X").role == ""
    assert not clash("", "director", "in")
    assert not clash("patient", "place of birth", "in")
