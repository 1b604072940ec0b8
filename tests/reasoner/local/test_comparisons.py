"""Two topics compared: which one, whether, by how much."""

import pytest

from fedkg.reasoner.local.comparisons import compared

FIRST, SECOND = "⟦0⟧", "⟦1⟧"


@pytest.mark.parametrize(
    ("question", "form", "name", "most", "topics"),
    [
        ("Who was born first, ⟦0⟧ or ⟦1⟧", "which", "date of birth", False, (FIRST, SECOND)),
        ("Which film is longer, ⟦1⟧ or the ⟦0⟧", "which", "duration", True, (SECOND, FIRST)),
        ("Which has the larger area, ⟦0⟧ or ⟦1⟧", "which", "area", True, (FIRST, SECOND)),
        ("Which city has more inhabitants, ⟦0⟧ or ⟦1⟧", "which", "population", True, (FIRST, SECOND)),
        ("Which city is less populous, ⟦0⟧ or ⟦1⟧", "which", "population", False, (FIRST, SECOND)),
        ("Is ⟦0⟧ taller than ⟦1⟧", "whether", "height", True, (FIRST, SECOND)),
        ("Was ⟦0⟧ born before ⟦1⟧", "whether", "date of birth", False, (FIRST, SECOND)),
        ("Did ⟦0⟧ die after ⟦1⟧", "whether", "date of death", True, (FIRST, SECOND)),
        ("Does ⟦0⟧ have a larger area than ⟦1⟧", "whether", "area", True, (FIRST, SECOND)),
        ("How many years older is ⟦0⟧ than ⟦1⟧", "difference", "date of birth", False, (FIRST, SECOND)),
        ("How many years lie between the births of ⟦0⟧ and ⟦1⟧", "difference", "date of birth", True, (FIRST, SECOND)),
        ("Who is the younger of ⟦0⟧ and ⟦1⟧", "which", "date of birth", True, (FIRST, SECOND)),
        ("Which of ⟦0⟧ and ⟦1⟧ has the larger area", "which", "area", True, (FIRST, SECOND)),
        ("Which is the longer film, ⟦0⟧ or ⟦1⟧", "which", "duration", True, (FIRST, SECOND)),
        ("Which film made more money, ⟦0⟧ or ⟦1⟧", "which", "box office", True, (FIRST, SECOND)),
        ("Did ⟦0⟧ earn more than ⟦1⟧", "whether", "box office", True, (FIRST, SECOND)),
        ("Is the area of ⟦0⟧ larger than that of ⟦1⟧", "whether", "area", True, (FIRST, SECOND)),
        ("Is the film ⟦0⟧ longer than the film ⟦1⟧", "whether", "duration", True, (FIRST, SECOND)),
        ("What is the age difference between ⟦0⟧ and ⟦1⟧", "difference", "date of birth", True, (FIRST, SECOND)),
        ("How many years apart were ⟦0⟧ and ⟦1⟧ born", "difference", "date of birth", True, (FIRST, SECOND)),
        ("How many years separate the births of ⟦0⟧ and ⟦1⟧", "difference", "date of birth", True, (FIRST, SECOND)),
        ("What is the difference in height between ⟦0⟧ and ⟦1⟧", "difference", "height", True, (FIRST, SECOND)),
    ],
)
def test_comparisons_tell_what_is_compared(
    question: str, form: str, name: str, most: bool, topics: tuple[str, str]
) -> None:
    """What an adjective measures of unknown things is tried in all its meanings."""
    known = compared(question)
    assert known is not None
    assert (known.form, known.topics, known.measure.most) == (form, topics, most)
    assert name in known.measure.names


@pytest.mark.parametrize(
    "question",
    [
        "Who reigned longer, ⟦0⟧ or ⟦1⟧",
        "Who is better, ⟦0⟧ or ⟦1⟧",
        "Who was born in ⟦0⟧ and died in ⟦1⟧",
        "Who of ⟦0⟧ and ⟦1⟧ was born in",
    ],
)
def test_other_questions_of_two_topics_are_not_compared(question: str) -> None:
    """Neither spans of time nor what no relation measures."""
    assert compared(question) is None
