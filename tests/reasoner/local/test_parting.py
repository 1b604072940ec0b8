"""Which words of a question are about which of its topics."""

import pytest

from fedkg.reasoner.local.parting import MOST, partings


def test_each_topic_has_the_words_on_its_side() -> None:
    """What stands between two topics is cut before any of its words; each part has to say something."""
    question = "Which of Ada's films are set in Bath?"
    assert [list(way.values()) for way in partings(question, ("Bath", "Ada"))] == [
        ["Which of Ada's films", "are set in Bath?"],
        ["Which of Ada's films are", "set in Bath?"],
    ]


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        ("Which drugs treat both Ada and Bath?", ("Ada", "Bath")),
        ("Who recorded for Ada as well as Bath?", ("Ada", "Bath")),
        ("Which films did Ada direct?", ("Ada",)),
        ("Which films did Ada direct?", ("Ada", "Bath")),
        ("Ada Bath", ("Ada", "Bath")),
        ("", ("", "X")),
    ],
)
def test_topics_side_by_side_share_what_is_said(question: str, topics: tuple[str, ...]) -> None:
    """So does a question about one topic, or that does not name them all."""
    assert partings(question, topics) == ()


def test_the_ways_to_part_a_question_are_bounded() -> None:
    """However long it is."""
    question = "Ada directs " + "films " * 50 + "with Bath, which made " + "plays " * 50 + "of Cora"
    assert len(partings(question, ("Ada", "Bath", "Cora"))) <= MOST
