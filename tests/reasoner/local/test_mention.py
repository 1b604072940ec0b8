"""What a question calls a topic."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.local.mention import as_named, mention


@pytest.mark.parametrize(
    ("question", "topic", "text"),
    [
        ("where did picasso live?", "Pablo Picasso", "picasso"),
        ("what religion was king louis xiv?", "Louis XIV of France", "louis xiv"),
        ("Where did Pablo Picasso live?", "Pablo Picasso", "Pablo Picasso"),
        ("Which university did she attend?", "University of Oxford", "University of Oxford"),
        ("Who is it?", "Pablo Picasso", "Pablo Picasso"),
        ("", "", ""),
    ],
)
def test_a_topic_is_what_the_question_has_of_its_name(question: str, topic: str, text: str) -> None:
    """The most words of it in a row, unless they are everyday words alone."""
    assert mention(question, topic) == text


def test_candidates_are_named_with_those_that_meet_them() -> None:
    """Both topics of a meeting are words of the question; what needs no other name stays as it is."""
    other = PromptCandidate(0, "", topic="Norma Jeane Baker")
    candidate = PromptCandidate(1, "", topic="Pablo Picasso", also=(other,))
    [named] = as_named("what do picasso and baker share?", [candidate])
    assert (named.topic, named.also[0].topic) == ("picasso", "baker")
    assert as_named("what do Pablo Picasso and Norma Jeane Baker share?", [candidate])[0] is candidate
