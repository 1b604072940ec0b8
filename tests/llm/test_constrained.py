"""Beam search over a trie, its model a table of random log-probabilities: what it writes, how much, in what order."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.llm.constrained import Matrix, decoded, numbered
from fedkg.llm.trie import Trie

VOCABULARY = 5
SEQUENCES = st.lists(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=4), max_size=12)


class Table:
    """A model whose log-probabilities depend on the whole beginning; it keeps which beginnings it was asked for."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.live: list[tuple[int, ...]] = []
        self.asked: list[tuple[int, ...]] = []

    def follows(self, beginning: tuple[int, ...]) -> Matrix:
        """Log-probabilities of what comes next."""
        drawn = np.random.default_rng([self.seed, *beginning, 99]).random(VOCABULARY) + 1e-3
        row: Matrix = np.log(drawn / drawn.sum()).astype(np.float32)
        return row

    def likely(self, sequence: Sequence[int]) -> float:
        """The mean log-probability of a whole sequence."""
        parts = [float(self.follows(tuple(sequence[:place]))[token]) for place, token in enumerate(sequence)]
        return sum(parts) / len(parts)

    def __call__(self, places: Sequence[int], tokens: Sequence[int]) -> Matrix:
        """What follows these hypotheses."""
        pairs = zip(places, tokens, strict=True)
        self.live = [(*self.live[place], token) for place, token in pairs] if self.live else [()]
        self.asked += self.live
        return np.stack([self.follows(prefix) for prefix in self.live])


@given(sequences=SEQUENCES, width=st.integers(1, 15), seed=st.integers(0, 99))
def test_it_writes_as_many_as_it_shall_each_once(sequences: list[list[int]], width: int, seed: int) -> None:
    """`width` sequences, or all where there are fewer; none that is no sequence of the trie, and none twice."""
    numbers = decoded(numbered(sequences), Table(seed), width)
    assert len(numbers) == len(set(numbers)) == min(width, len(sequences))
    assert set(numbers) <= set(range(1, len(sequences) + 1))


@given(sequences=SEQUENCES, width=st.integers(1, 4), seed=st.integers(0, 99))
def test_nothing_is_looked_at_that_no_sequence_starts_with(sequences: list[list[int]], width: int, seed: int) -> None:
    """Every beginning that the model is asked for is one of a sequence: no beam leaves the trie, even for a step."""
    table = Table(seed)
    decoded(numbered(sequences), table, width)
    starts = {tuple(sequence[:end]) for sequence in sequences for end in range(len(sequence) + 1)}
    assert set(table.asked) <= starts | {()}


@given(sequences=SEQUENCES, seed=st.integers(0, 99))
def test_a_beam_that_holds_all_orders_them_by_their_probability(sequences: list[list[int]], seed: int) -> None:
    """The mean log-probability of the tokens; among equal sequences the first number comes first."""
    table = Table(seed)
    numbers = decoded(numbered(sequences), table, len(sequences) + 1)
    right = sorted(range(1, len(sequences) + 1), key=lambda number: (-table.likely(sequences[number - 1]), number))
    assert list(numbers) == right


def test_without_a_sequence_nothing_is_written() -> None:
    """An empty trie ends the beam before its first token."""
    assert decoded(numbered([]), Table(), 3) == ()


def test_a_beginning_that_is_a_sequence_is_written_as_well_as_what_goes_on_from_it() -> None:
    """A path of one step, and the path of two that starts with it."""
    assert sorted(decoded(numbered([[1, 2], [1, 2, 3]]), Table(), 2)) == [1, 2]


def test_a_sequence_that_ends_in_the_middle_of_a_damaged_trie_is_not_written() -> None:
    """Where a trie has no continuation and no number the beam ends, and nothing is freed."""
    assert decoded(Trie.of([(1, 2), (3, -1)]), Table(), 5) == (1,)


@pytest.mark.parametrize("wrong", [float("nan"), float("-inf")])
def test_a_model_without_probabilities_still_writes_only_sequences(wrong: float) -> None:
    """Weights that went bad give logits that are no numbers."""

    def broken(places: Sequence[int], _tokens: Sequence[int]) -> Matrix:
        return np.full((max(1, len(places)), VOCABULARY), wrong, dtype=np.float32)

    assert set(decoded(numbered([[1, 2], [1, 3], [4]]), broken, 2)) <= {1, 2, 3}
