"""Beam search over a trie, its model a table of random log-probabilities: what it writes, how much, in what order."""

import itertools
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import PathScore
from fedkg.llm.constrained import FREE, Matrix, ScoredSequence, decoded, numbered
from fedkg.llm.trie import Trie

VOCABULARY, CLOSE, FORCED = 7, 5, 6
"""Tokens of random sequences are below CLOSE, which may stand at their ends; FORCED is put where nothing else may."""
SEQUENCES = st.lists(st.lists(st.integers(0, CLOSE - 1), min_size=1, max_size=4), max_size=12)
SCORES = st.sampled_from(("trie", "vocabulary"))


class Table:
    """A model whose log-probabilities depend on the whole beginning, but for forced tokens.

    It keeps which beginnings it was asked for.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.live: list[tuple[int, ...]] = [()]
        self.asked: list[tuple[int, ...]] = []

    def follows(self, beginning: tuple[int, ...]) -> Matrix:
        """Log-probabilities of what comes next."""
        seen = [token for token in beginning if token != FORCED]
        drawn = np.random.default_rng([self.seed, *seen, 99]).random(VOCABULARY) + 1e-3
        row: Matrix = np.log(drawn / drawn.sum()).astype(np.float32)
        return row

    def mean(self, sequence: Sequence[int]) -> float:
        """The mean log-probability of a whole sequence."""
        parts = [float(self.follows(tuple(sequence[:place]))[token]) for place, token in enumerate(sequence)]
        return sum(parts) / len(parts)

    def share(self, sequence: Sequence[int], sequences: Sequence[Sequence[int]]) -> float:
        """Its log-probability where each token is one of those with which some of the sequences go on."""
        total = 0.0
        for place, token in enumerate(sequence):
            alike = [other for other in sequences if other[:place] == sequence[:place] and len(other) > place]
            logs = self.follows(tuple(sequence[:place]))
            total += float(logs[token]) - math.log(sum(math.exp(logs[child]) for child in {o[place] for o in alike}))
        return total

    def __call__(self, places: Sequence[int], tokens: Sequence[Sequence[int]]) -> Matrix:
        """What follows these hypotheses."""
        self.live = [(*self.live[place], *more) for place, more in zip(places, tokens, strict=True)]
        self.asked += self.live
        return np.stack([self.follows(prefix) for prefix in self.live])


def numbers(written: Sequence[ScoredSequence]) -> list[int]:
    """Which sequences these are."""
    return [one.number for one in written]


def closed(sequences: Sequence[Sequence[int]]) -> list[list[int]]:
    """The different ones, each with a mark at its end, so that none is the beginning of another."""
    return [[*sequence, CLOSE] for sequence in sorted({tuple(sequence) for sequence in sequences})]


@given(sequences=SEQUENCES, width=st.integers(1, 15), seed=st.integers(0, 99), score=SCORES)
def test_it_writes_as_many_as_it_shall_each_once(
    sequences: list[list[int]], width: int, seed: int, score: PathScore
) -> None:
    """`width` sequences, or all where there are fewer; none that is no sequence of the trie, and none twice."""
    written = numbers(decoded(numbered(sequences), Table(seed), width, score))
    assert len(written) == len(set(written)) == min(width, len(sequences))
    assert set(written) <= set(range(1, len(sequences) + 1))


@given(sequences=SEQUENCES, width=st.integers(1, 4), seed=st.integers(0, 99), score=SCORES)
def test_nothing_is_looked_at_that_no_sequence_starts_with(
    sequences: list[list[int]], width: int, seed: int, score: PathScore
) -> None:
    """Every beginning that the model is asked for is one of a sequence: no beam leaves the trie, even for a step."""
    table = Table(seed)
    decoded(numbered(sequences), table, width, score)
    starts = {tuple(sequence[:end]) for sequence in sequences for end in range(len(sequence) + 1)}
    assert set(table.asked) <= starts | {()}


@given(sequences=SEQUENCES, seed=st.integers(0, 99))
def test_as_published_a_beam_that_holds_all_orders_them_by_their_mean(sequences: list[list[int]], seed: int) -> None:
    """The mean log-probability of the tokens; among equal sequences the first number comes first."""
    table = Table(seed)
    written = decoded(numbered(sequences), table, len(sequences) + 1, "vocabulary")
    right = sorted(range(1, len(sequences) + 1), key=lambda number: (-table.mean(sequences[number - 1]), number))
    assert numbers(written) == right
    assert [one.score for one in written] == pytest.approx([table.mean(sequences[number - 1]) for number in right])


@given(sequences=SEQUENCES, seed=st.integers(0, 99))
def test_the_probabilities_of_all_sequences_are_one_together(sequences: list[list[int]], seed: int) -> None:
    """Normalised within the trie: each has the product of its tokens' shares, and the likeliest is the first."""
    table, whole = Table(seed), closed(sequences)
    written = decoded(numbered(whole), table, len(whole) + 1)
    assert [one.score for one in written] == pytest.approx(
        [table.share(whole[one.number - 1], whole) for one in written], abs=1e-6
    )
    assert math.fsum(math.exp(one.score) for one in written) == pytest.approx(1.0 if whole else 0.0)
    assert all(first.score >= second.score for first, second in itertools.pairwise(written))


@given(sequences=SEQUENCES, width=st.integers(1, 6), seed=st.integers(0, 99), most=st.integers(1, 5))
def test_forced_tokens_cost_nothing(sequences: list[list[int]], width: int, seed: int, most: int) -> None:
    """Tokens that nothing else could stand for change no probability and no order, however many they are."""
    plain = closed(sequences)
    longer = [[part for token in sequence for part in (token, *[FORCED] * (token % most))] for sequence in plain]
    few, many = Table(seed), Table(seed)
    assert decoded(numbered(longer), many, width) == decoded(numbered(plain), few, width)
    assert len(many.asked) == len(few.asked)


@given(sequences=SEQUENCES, seed=st.integers(0, 99))
def test_a_model_is_asked_only_where_the_trie_branches(sequences: list[list[int]], seed: int) -> None:
    """Each beginning that is looked at has several continuations; a single sequence needs no model."""
    table, trie = Table(seed), numbered(closed(sequences))
    decoded(trie, table, 3)
    assert all(len(trie.children(beginning)) > 1 for beginning in table.asked)


@given(sequences=SEQUENCES, seed=st.integers(0, 99), names=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_names_cost_nothing_and_decide_nothing(sequences: list[list[int]], seed: int, names: list[int]) -> None:
    """Free tokens, which may part the sequences early, change no probability: the others are weighed over all of them.

    They are told the model as any token, and each sequence is one that the trie has.
    """
    plain = closed(sequences)
    draw = random.Random(seed)
    named = [
        [part for token in sequence for part in (token, *[FREE + FORCED] * (1 + draw.choice(names)))]
        for sequence in plain
    ]
    few, many = Table(seed), Table(seed)
    width = len(plain) + 1
    least = {one.number: one.score for one in decoded(numbered(plain), few, width)}
    written = decoded(numbered(named), many, width)
    assert {one.number: one.score for one in written} == pytest.approx(least, abs=1e-6)
    assert all(token <= FORCED for beginning in many.asked for token in beginning)


def test_without_a_sequence_nothing_is_written() -> None:
    """An empty trie ends the beam before its first token."""
    assert decoded(numbered([]), Table(), 3) == ()


@pytest.mark.parametrize("score", ["trie", "vocabulary"])
def test_a_beginning_that_is_a_sequence_is_written_as_well_as_what_goes_on_from_it(score: PathScore) -> None:
    """A path of one step, and the path of two that starts with it."""
    assert sorted(numbers(decoded(numbered([[1, 2], [1, 2, 3]]), Table(), 2, score))) == [1, 2]


@pytest.mark.parametrize("score", ["trie", "vocabulary"])
def test_a_sequence_that_ends_in_the_middle_of_a_damaged_trie_is_not_written(score: PathScore) -> None:
    """Where a trie has no continuation and no number the beam ends, and nothing is freed."""
    assert numbers(decoded(Trie.of([(1, 2), (3, -1)]), Table(), 5, score)) == [1]


@pytest.mark.parametrize("score", ["trie", "vocabulary"])
@pytest.mark.parametrize("wrong", [float("nan"), float("-inf"), float("inf")])
def test_a_model_without_probabilities_still_writes_only_sequences(wrong: float, score: PathScore) -> None:
    """Weights that went bad give logits that are no numbers."""

    def broken(places: Sequence[int], _tokens: Sequence[Sequence[int]]) -> Matrix:
        return np.full((len(places), VOCABULARY), wrong, dtype=np.float32)

    written = decoded(numbered([[1, 2], [1, 3], [4]]), broken, 2, score)
    assert set(numbers(written)) <= {1, 2, 3}
    assert score == "vocabulary" or written[0].number == 3


@pytest.mark.parametrize("score", ["trie", "vocabulary"])
def test_probabilities_that_are_no_numbers_leave_the_order(score: PathScore) -> None:
    """Of a broken model all sequences come, the first number first, with scores that are numbers."""
    sequences = [[1, 2], [3], [1, 4, 0]]
    written = decoded(numbered(sequences), lambda places, _: np.full((len(places), VOCABULARY), np.nan), 3, score)
    assert sorted(numbers(written)) == [1, 2, 3]
    assert not any(math.isnan(one.score) for one in written)
