"""Questions of yes or no that name no relation."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.local.connecting import connecting


def path(number: int, topic: str, relation: str, *tails: str) -> PromptCandidate:
    """A path of one step."""
    return PromptCandidate(number, "", (relation,), tails, topic=topic, directions=("out",), start=topic)


PATHS = [path(1, "the Whigs", "member", "Ann Lee", "Bob Ray"), path(2, "Ann Lee", "born", "Lima")]
PATHS += [path(3, "Ann Lee", "party", "the Whigs"), path(4, "the Whigs", "leader", "Cy Orr")]


@pytest.mark.parametrize(
    "question",
    [
        "Was Ann Lee in the Whigs?",
        "Did Ann Lee ever go to the Whigs?",
        "is Ann Lee with the Whigs",
        "Has Ann Lee been of the Whigs?",
        "Are the Whigs and Ann Lee in it?",
    ],
)
def test_what_connects_two_topics_answers_a_question_without_a_relation(question: str) -> None:
    """The first topic's own statement comes first."""
    own = [2, 0] if question.find("Ann") < question.find("Whigs") else [0, 2]
    assert connecting(question.replace("been ", ""), PATHS) == own


@pytest.mark.parametrize(
    "question",
    [
        "Did Ann Lee lead the Whigs?",
        "Was Ann Lee influenced by the Whigs?",
        "Is the Whigs by Ann Lee?",
        "Can Ann Lee treat the Whigs?",
        "Did Ann Lee give you the Whigs?",
        "Who is Ann Lee to the Whigs?",
        "Was Ann Lee not in the Whigs?",
    ],
)
def test_a_question_that_says_more_is_not_answered_so(question: str) -> None:
    """A drug that is stated to treat a symptom does not give it."""
    assert connecting(question, PATHS) == []


def test_two_topics_that_nothing_connects_are_not_connected() -> None:
    """Nor is one topic alone, or one of three."""
    lone = [path(1, "the Whigs", "leader", "Cy Orr"), path(2, "Ann Lee", "born", "Lima")]
    assert connecting("Was Ann Lee in the Whigs?", lone) == []
    assert connecting("Was Ann Lee in Lima?", [PATHS[1]]) == []
    three = [*PATHS, path(5, "Lima", "country", "Peru")]
    assert connecting("Was Ann Lee in the Whigs in Lima?", three) == []
