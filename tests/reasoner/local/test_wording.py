"""A question around its topic."""

import pytest

from fedkg.common.english import root
from fedkg.reasoner.local.wording import Wording, content


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


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the grandnation of Ann's child?", [["child"], ["child"], ["nation"]]),
        ("What is the nation of Ann's grandchild?", [["child"], ["child"], ["nation"]]),
        ("What is the grandson of Ann's mother?", [["mother"], ["child"], ["son"]]),
        ("What is the grandstand of Ann's club?", [["club"], ["grandstand"]]),
    ],
)
def test_grand_belongs_to_a_word_of_kinship(question: str, first: list[list[str]]) -> None:
    """Before another word it is taken to the word of kinship behind the topic, where there is one."""
    order = Wording(question, "Ann").orders[0]
    assert [list(content(text)) for _, text in order] == [[root(word) for word in words] for words in first]
