"""Variant 2 of Path-RAG: quality against difference from what was ranked before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Edge, Iri
from fedkg.retrieval.diversity import diverse

TOPIC = Iri("http://x/topic")


def step(relation: str, score: float, *ends: str) -> Step:
    """A candidate of the only beam."""
    edges = tuple(Edge(TOPIC, Iri(f"http://x/r/{relation}"), Iri(f"http://x/{end}"), "out", "e") for end in ends)
    return Step(0, edges[0].walked, edges, score)


def order(*steps: Step, quality: float = 1.0, difference: float = 1.0) -> list[tuple[str, float]]:
    """The relations and ends in order, with their scores."""
    ranked = diverse([PartialPath(TOPIC)], steps, quality, difference, 8)
    return [(f"{step.relation.relation.local_name} {step.edges[0].end.text[-2]}", step.score) for step in ranked]


def test_what_differs_comes_before_what_is_a_little_better() -> None:
    """D is 1 - 2/4 for the same relation to another end, and 1 - 1/5 where only the topic is shared."""
    ranked = order(step("r", 1.0, "a"), step("r", 0.9, "b"), step("s", 0.8, "c"))
    assert [name for name, _ in ranked] == ["r a", "s c", "r b"]
    assert [score for _, score in ranked] == pytest.approx([2.0, 0.8 + 4 / 5, 0.9 + (1 / 2 + 4 / 5) / 2])


def test_without_a_weight_for_difference_it_is_quality_alone() -> None:
    """And without one for quality the most different come first, the first one first."""
    steps = (step("r", 0.9, "a"), step("r", 0.5, "b"), step("s", 0.1, "c"))
    assert order(*steps, difference=0.0) == [("r a", 0.9), ("r b", 0.5), ("s c", 0.1)]
    assert [name for name, _ in order(*steps, quality=0.0)] == ["r a", "s c", "r b"]


def test_so_many_of_the_ends_count() -> None:
    """A group of a thousand is compared by those that are shown."""
    steps = (step("r", 0.9, "a", "b"), step("r", 0.8, "a", "c"), step("s", 0.1, "d"))
    assert [step.score for step in diverse([PartialPath(TOPIC)], steps, 1.0, 1.0, 1)][2] == pytest.approx(
        0.8 + 4 / 5 / 2
    )


@given(
    st.lists(st.tuples(st.sampled_from("rst"), st.floats(0, 2), st.sampled_from("abc")), max_size=8),
    st.floats(0, 2),
    st.floats(0, 2),
)
def test_it_only_orders(made: list[tuple[str, float, str]], quality: float, difference: float) -> None:
    """Each candidate stays, once, between its worst and its best score; twice the same is the same."""
    steps = [step(relation, score, end) for relation, score, end in made]
    once, again = (diverse([PartialPath(TOPIC)], steps, quality, difference, 8) for _ in range(2))
    assert once == again
    assert sorted(map(_said, once)) == sorted(map(_said, steps))
    assert all(step.score <= quality * 2 + difference + 1e-9 for step in once)


def _said(step: Step) -> tuple[str, str]:
    return step.relation.relation.value, step.edges[0].end.text
