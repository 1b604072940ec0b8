"""How well a question says a chain of relations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import Direction
from fedkg.embed.base import Matrix
from fedkg.reasoner.local.chains import RelationChain
from fedkg.reasoner.local.reading import MOST_UNITS, UNSAID, Reading

OUTWARDS: tuple[Direction, ...] = ("out", "out")


def table(reading: Reading, **spans: str) -> dict[str, Matrix]:
    """A likeness of 1 for the one span that says each relation, of 0 for all others."""
    return {name: np.array([span == text for span in reading.spans], dtype=np.float32) for name, text in spans.items()}


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("who is the mother of the wife of X?", {"wife", "who is the mother", "who is the mother of the wife"}),
        ("X's wife's mother", {"wife", "mother", "wife's mother"}),
        ("the mother of X’s wife", {"wife", "mother", "mother of's wife"}),
        ("who directed the film X", {"who directed"}),
        ("X?", {"X?"}),
        ("", {""}),
    ],
)
def test_the_spans_of_a_question_are_its_words_without_the_topic(question: str, spans: set[str]) -> None:
    """Neighbours of a walk, without small words before them; what the topic is, is not asked.

    All of it if nothing is left.
    """
    assert set(Reading(question, "X").spans) == spans


@pytest.mark.parametrize(
    ("question", "wife", "mother"),
    [
        ("the mother of the wife of X", "wife", "mother"),
        ("the mother of X's wife", "wife", "mother"),
        ("X's wife's mother", "wife", "mother"),
        ("whose mother is X wife", "wife", "whose mother is"),
    ],
)
def test_relations_are_said_outwards_from_the_topic(question: str, wife: str, mother: str) -> None:
    """Before it or after it: the same walk; a chain that says half of the words does not fit."""
    reading = Reading(question, "X")
    similarities = table(reading, wife=wife, mother=mother)
    assert reading.fits(similarities, [("wife", "mother"), ("wife",)]) == [1.0, 0.0]


def test_the_other_order_does_not_fit() -> None:
    """A possessive says which side comes first."""
    reading = Reading("X's wife's mother", "X")
    assert reading.fits(table(reading, wife="wife", mother="mother"), [("mother", "wife")]) == [0.0]


def test_what_is_left_over_may_be_forgiven() -> None:
    """Partly, a chain is as good as the words that say it; no words say more relations than there are."""
    reading = Reading("the mother of the wife of X", "X")
    similarities = table(reading, wife="wife", mother="mother")
    assert reading.fits(similarities, [("wife",)]) == [0.0]
    assert reading.fits(similarities, [("wife",), ("wife", "mother")], partly=True) == [1.0, 1.0]
    assert reading.fits(similarities, [("wife",) * 3]) == [UNSAID]


def test_a_time_is_asked_for_or_not() -> None:
    """Dates where a place is asked for count as little as places where a time is."""
    born = [RelationChain("X", ("born",), ("out",), dated=dated) for dated in (True, False, None)]
    when, where = Reading("when was X born", "X"), Reading("where was X born", "X")
    assert [when.bonus(chain) < 0 for chain in born] == [False, True, False]
    assert [where.bonus(chain) < 0 for chain in born] == [True, False, False]


def test_of_two_walks_that_fit_alike_the_shorter_one_is_meant() -> None:
    """A step more has to earn its place."""
    reading = Reading("the wife of X", "X")
    first, second = (reading.bonus(RelationChain("X", ("a", "b")[:steps], OUTWARDS[:steps])) for steps in (1, 2))
    assert first > second


def test_a_turn_back_is_meant_where_the_question_says_so() -> None:
    """Who shares a director: there by a relation and back by it; elsewhere a straight walk is more likely."""
    turn, straight = RelationChain("X", ("a", "a"), ("out", "in")), RelationChain("X", ("a", "a"), ("out", "out"))
    same, plain = Reading("films with the same director as X", "X"), Reading("the director of X", "X")
    assert same.bonus(turn) > 0 > same.bonus(straight)
    assert plain.bonus(turn) < plain.bonus(straight)
    assert plain.bonus(RelationChain("X", ("a", "b"), ("out", "in"))) < 0


@given(st.text(max_size=400), st.text(max_size=10))
def test_any_question_has_a_bounded_reading(question: str, topic: str) -> None:
    """However long it is and whatever it is made of; every chain has a fit."""
    reading = Reading(question, topic)
    assert 1 <= len(reading.spans) <= MOST_UNITS * (MOST_UNITS + 1)
    similarities = {"a": np.ones(len(reading.spans), dtype=np.float32)}
    assert reading.fits(similarities, [("a",), ("a", "a")], partly=True)[0] == pytest.approx(1.0)
    assert all(UNSAID <= fit <= 1 for fit in reading.fits(similarities, [("a",), ("a",) * 20]))
