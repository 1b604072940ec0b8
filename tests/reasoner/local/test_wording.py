"""A question around its topic."""

import pytest

from fedkg.reasoner.local.wording import Wording


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Who directed the film King Kong?", "Who directed  ?"),
        ("Who directed the first King Kong?", "Who directed the first  ?"),
        ("Who directed the fake King Kong?", "Who directed the fake  ?"),
    ],
)
def test_only_a_noun_that_tells_what_the_topic_is_is_left_out(question: str, rest: str) -> None:
    """Other words before it tell which one is meant."""
    assert Wording(question, "King Kong").rest == rest
