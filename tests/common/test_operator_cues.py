"""Which questions may ask for something to be computed."""

import pytest

from fedkg.common.operator_cues import may_compute, may_name


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which film is the longest?", True),
        ("Who was born first, Ann or Bob?", True),
        ("Which films came out before 1990?", True),
        ("Which films doesn't Ann star in?", True),
        ("Which actors are in both films?", True),
        ("Welcher Film ist der längste?", False),
        ("哪部电影最长?", True),
        ("Who directed King Kong?", False),
        ("Which forest lies in the northwest of Budapest?", False),
        ("How many films did Ann direct?", False),
        ("", False),
    ],
)
def test_cues(question: str, expected: bool) -> None:
    """Superlatives, comparisons and bounds are cues, words that end like one are none; another script may have one."""
    assert may_compute(question) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('Which films have "Kill" in the title?', True),
        ("Which films start with D?", True),
        ('Which drugs are in a category that contains "Agents"?', True),
        ("Which foods contain gluten?", False),
        ("Who directed the longest film?", False),
    ],
)
def test_cues_of_names(question: str, expected: bool) -> None:
    """A condition on names is a cue of an operator, too."""
    assert may_name(question) is expected
    assert may_compute(question) or not expected
