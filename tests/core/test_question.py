"""What may be asked, and what is refused before anybody is."""

from typing import Any

import pytest

from fedkg.core.question import LONGEST_OPTION, LONGEST_QUESTION, check_options, check_question, guessed
from fedkg.errors import QuestionError


@pytest.mark.parametrize("question", ["", "  \n ", "x" * (LONGEST_QUESTION + 1), "who is \udcff?"])
def test_what_is_no_question_is_refused(question: str) -> None:
    """Empty and endless questions never reach an endpoint or a model."""
    with pytest.raises(QuestionError):
        check_question(question)


def test_a_question_becomes_one_line() -> None:
    """Line breaks in a question do not break prompts."""
    assert check_question(" who\n is  it? ") == "who is it?"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("poem", (), "no kind of question"),
        ("entities", ("a", "b"), "has no options"),
        (None, ("a",), "1 option is no choice"),
        (None, "Rome or Paris", "1 option is no choice"),
        (None, ("a", "\udcff"), "no UTF-8 text"),
        (None, tuple(map(str, range(21))), "21 options are no choice"),
        ("choice", ("a", " \n"), "empty"),
        (None, ("Rome", "rome "), "twice"),
        (None, ("a", "b" * (LONGEST_OPTION + 1)), "501 characters"),
    ],
)
def test_options_that_are_no_choice_are_refused(kind: Any, options: tuple[str, ...], message: str) -> None:
    """Bad input is told before anybody is asked."""
    with pytest.raises(QuestionError, match=message):
        check_options(kind, options)


def test_options_without_a_kind_are_a_choice() -> None:
    """Each becomes one line; without options the kind stays what it is."""
    assert check_options(None, ["New \n York", "Rome"]) == ("choice", ("New York", "Rome"))
    assert check_options("choice", ["a", "b"]) == ("choice", ("a", "b"))
    assert check_options("count", []) == ("count", ())
    assert check_options(None, ()) == (None, ())


@pytest.mark.parametrize("question", ["How many films?", "In how many places is it set?", "of how many countries?"])
def test_a_count_may_begin_with_a_preposition(question: str) -> None:
    """What is counted may be asked for after "of" or "in"."""
    assert guessed(question) == "count"
