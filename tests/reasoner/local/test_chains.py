"""Chains of relations, read off what is offered."""

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.reasoner.local.chains import RelationChain, chain_of


def test_the_chain_of_a_candidate_is_not_read_off_its_text() -> None:
    """Relations and directions come as such: whatever stands in a label, or around the end, is no step."""
    whole = PromptCandidate(1, "X → a → y ← b ← z [→ c → w]", ("a", "b"), ("z",), topic="X", directions=("out", "in"))
    assert chain_of(whole) == RelationChain("X", ("a", "b"), ("out", "in"), dated=False)
    alone = PromptCandidate(1, "← b ←", ("a", "b"), topic="X", directions=("in", "in"))
    assert chain_of(alone) == RelationChain("X", ("a", "b"), ("in", "in"))


@pytest.mark.parametrize("date", ["1999", "31 October 1961", "June 1961", "1961-10-31", "44 BC"])
def test_a_chain_may_end_in_dates(date: str) -> None:
    """As literals are shown; one end that is none is enough to say no."""
    dated = [
        chain_of(PromptCandidate(1, "X → a → y", ("a",), tails)).dated
        for tails in [("1999", date), (date, "Paris"), ()]
    ]
    assert dated == [True, False, None] if date != "44 BC" else [False, False, None]


def test_chains_grow_and_shrink_by_a_step() -> None:
    """What a longer chain went on from had edges, so it was no date."""
    chain = RelationChain("X", ("a",), ("out",)).then(RelationChain("", ("b",), ("in",)))
    assert chain == RelationChain("X", ("a", "b"), ("out", "in"))
    assert chain.before() == RelationChain("X", ("a",), ("out",), dated=False)
