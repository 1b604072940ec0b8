"""Decoding that is held to a trie: beam search over the tokens with which it goes on (GCR section 4.3, Eq. 6).

It fails closed. Only tokens that follow in the trie are looked at, whatever their probability; where none follow the
beam ends. The published code allows the whole vocabulary there, and paths that no graph has come out.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedkg.llm.trie import Trie

__all__ = ["Matrix", "Step", "decoded", "numbered"]

Matrix = NDArray[np.float32]
"""Log-probabilities, shape (hypotheses, vocabulary)."""
Step = Callable[[Sequence[int], Sequence[int]], Matrix]
"""What follows hypotheses, each of which is one of the last call's by its place, with one more token.

The first call has no hypotheses: its one row is what follows the prompt.
"""


class Hypothesis(NamedTuple):
    """A beginning of a sequence, and the log-probability of its tokens in all."""

    score: float
    tokens: tuple[int, ...]


def numbered(sequences: Sequence[Sequence[int]]) -> Trie[int]:
    """The trie of these sequences of tokens, each ended by its number as -1, -2, and so on, which is no token.

    So it is told where a sequence is whole, also where another one goes on from it, and two with the same tokens stay
    two.
    """
    return Trie.of((*sequence, -number) for number, sequence in enumerate(sequences, 1))


def decoded(trie: Trie[int], step: Step, width: int) -> tuple[int, ...]:
    """The numbers of `width` sequences of a `numbered` trie, or of all if there are fewer; the likeliest first.

    `width` hypotheses are kept at a time, and those that are whole make room. They are compared by the mean
    log-probability of their tokens, as beam search does it in transformers with its defaults, so that a longer path is
    not the worse for it.
    """
    live, following, whole = [Hypothesis(0.0, ())], step((), ()), []
    while live:
        grown = []
        for place, hypothesis in enumerate(live):
            children = trie.children(hypothesis.tokens)
            whole += [(hypothesis.score / max(1, len(hypothesis.tokens)), child) for child in children if child < 0]
            grown += [
                (hypothesis.score + float(following[place, child]), -place, child) for child in children if child >= 0
            ]
        best = heapq.nlargest(width, grown)
        places, tokens = [-place for _, place, _ in best], [token for _, _, token in best]
        live = [Hypothesis(score, (*live[-place].tokens, token)) for score, place, token in best]
        following = step(places, tokens) if live else following
    # equally likely ones, such as those with the same tokens, stay in the order of their numbers
    return tuple(-number for _, number in heapq.nlargest(width, whole))
