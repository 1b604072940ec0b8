"""Scores are pure functions of a record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.datasets import Gold
from fedkg.bench.scores import Score, mean, score
from fedkg.records import Answer, AnswerValue, Path, Status


def answer(*iris: str, scores: tuple[float, ...] = ()) -> Answer:
    """An answer document with one path per answer."""
    values = tuple(AnswerValue(iri, iri, paths=(n,)) for n, iri in enumerate(iris))
    return Answer("q", "entities", Status.ANSWERED, values, tuple(Path(s, ()) for s in scores or (1.0,) * len(iris)))


GOLD = [Gold("A", "a"), Gold("B", "b")]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("a", "b"), Score(1.0, 1.0, 1.0)),
        (("a",), Score(1.0, 1.0, 2 / 3)),
        (("a", "x"), Score(0.5, 1.0, 0.5)),
        (("x",), Score()),
        ((), Score()),
    ],
)
def test_sets_are_scored_by_their_members(found: tuple[str, ...], expected: Score) -> None:
    """Right, partly right, wrong and empty answer sets."""
    assert score(answer(*found), GOLD) == expected


def test_hits_at_1_looks_at_the_best_ranked_only() -> None:
    """A wrong answer that ranks below does not count, one of the same rank counts half."""
    assert score(answer("a", "x", scores=(0.9, 0.1)), GOLD).hits_at_1 == 1.0
    assert score(answer("x", "a", scores=(0.9, 0.1)), GOLD) == Score(0.0, 1.0, 0.5)


def test_an_error_is_wrong() -> None:
    """Questions that raised are in the denominator."""
    assert score(None, GOLD) == Score()


def test_literals_are_compared_by_value() -> None:
    """A year has no IRI."""
    document = Answer("q", "literal", Status.ANSWERED, (AnswerValue("1999"),))
    assert score(document, [Gold("1999")]).hit == 1.0


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("the graz.",), Score(1.0, 1.0, 2 / 3)),
        (("WIEN", "Graz"), Score(1.0, 1.0, 1.0)),
        (("x", "Graz"), Score(0.0, 1.0, 0.5)),
        (("Graz", "x"), Score(1.0, 1.0, 0.5)),
        (("Graz Wien",), Score()),
    ],
)
def test_what_is_remembered_is_compared_by_name(texts: tuple[str, ...], expected: Score) -> None:
    """It has no IRI and no path: the first text ranks first, and is right where a right answer is called so."""
    document = Answer("q", "entities", Status.ANSWERED, tuple(map(AnswerValue, texts)))
    assert score(document, [Gold("Graz", "http://x/1"), Gold("Wien", "http://x/2")]) == expected


def test_what_the_graph_says_is_not_compared_by_name() -> None:
    """Another entity, or a literal, that happens to be called so is not the answer."""
    for value in (AnswerValue("A", "http://x/9", grounded=True), AnswerValue("A", grounded=True)):
        assert score(Answer("q", "entities", Status.ANSWERED, (value,)), [Gold("A", "http://x/1")]) == Score()


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_scores_are_within_bounds_and_perfect_only_for_the_gold_set(found: set[str], gold: set[str]) -> None:
    """F1 is 1 exactly where the sets are equal."""
    result = score(answer(*sorted(found)), [Gold("", iri) for iri in gold])
    assert 0 <= result.hits_at_1 <= result.hit <= 1
    assert (result.f1 == 1.0) == (found == gold)


def test_the_mean_of_nothing_is_zero() -> None:
    """An empty benchmark divides by nothing."""
    assert (mean([]), mean([1.0, 0.5])) == (0.0, 0.75)
