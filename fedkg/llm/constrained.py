"""Decoding that is held to a trie: beam search over the tokens with which it goes on (GCR section 4.3, Eq. 6).

It fails closed. Only tokens that follow in the trie are looked at, whatever their probability; where none follow the
beam ends. The published code allows the whole vocabulary there, and paths that no graph has come out.

A sequence is scored in one of two ways. `trie`, which is ours: the probability of each token is taken among the tokens
with which the trie goes on, and that of the sequence is their product, so that all sequences together have 1 and a name
that nothing else could stand for costs nothing. Tokens that are forced are not asked for; they are fed together with
the next one that is not. `vocabulary`, as published: the mean log-probability of all tokens, as transformers' beam
search has it; it prefers short paths and frequent names.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedkg.config.settings import PathScore
from fedkg.llm.trie import Trie

__all__ = ["FREE", "Matrix", "ScoredSequence", "Step", "decoded", "numbered"]

Matrix = NDArray[np.float32]
"""Log-probabilities, shape (hypotheses, vocabulary)."""
Logs = NDArray[np.float64]
FREE = 1 << 24
"""What is added to a token that costs nothing: one of a name, where the model is to choose between relations alone."""
LEAST_BEAM = 10
"""Hypotheses that are kept although fewer sequences are wanted, since the first choices do not decide."""
Step = Callable[[Sequence[int], Sequence[Sequence[int]]], Matrix]
"""What follows hypotheses, each of which is one of the last call's by its place, with more tokens.

The first call has one hypothesis, which goes on from the prompt; its tokens may be none.
"""


class ScoredSequence(NamedTuple):
    """A sequence by its number, and the logarithm of its probability, or of the geometric mean of its tokens'."""

    number: int
    score: float


class Hypothesis(NamedTuple):
    """A beginning of a sequence, and the log-probability of its tokens in all.

    `place` is where the model has it, or one that it goes on from; of its tokens it has `read` so many.
    """

    score: float
    place: int
    tokens: tuple[int, ...]
    read: int

    def then(self, score: float, place: int, token: int) -> "Hypothesis":
        """It with one more token, at a place that has all before that."""
        return Hypothesis(score, place, (*self.tokens, token), len(self.tokens))

    @property
    def unread(self) -> tuple[int, ...]:
        """The tokens that the model has not read."""
        return self.tokens[self.read :]


def numbered(sequences: Sequence[Sequence[int]]) -> Trie[int]:
    """The trie of these sequences of tokens, each ended by its number as -1, -2, and so on, which is no token.

    So it is told where a sequence is whole, also where another one goes on from it, and two with the same tokens stay
    two.
    """
    return Trie.of((*sequence, -number) for number, sequence in enumerate(sequences, 1))


def decoded(trie: Trie[int], step: Step, width: int, score: PathScore = "trie") -> tuple[ScoredSequence, ...]:
    """`width` sequences of a `numbered` trie, or all if there are fewer; the likeliest first.

    Of equally likely ones, such as those
    with the same tokens, the first number comes first.
    """
    whole = (_among_children if score == "trie" else _over_vocabulary)(trie, step, width)
    return tuple(ScoredSequence(-number, score) for score, number in heapq.nlargest(width, whole))


def _among_children(trie: Trie[int], step: Step, width: int) -> list[tuple[float, int]]:
    """Whole sequences with their log-probabilities, each token's taken among those that the trie has in its place.

    The hypotheses that are compared have been asked for equally often. A FREE token costs nothing, and what follows
    it is taken among what follows any of the beginnings that differ in such tokens alone. Where a sequence is the
    beginning of another one it is whole at no cost: marks at their ends keep sequences from being that.
    """
    chains = Trie.of(_counted(sequence) for sequence in trie) if trie.has(FREE) else trie
    beam, live, whole = max(width, LEAST_BEAM), [Hypothesis(0.0, 0, (), 0)], list[tuple[float, int]]()
    while live:
        open_ = [opened for hypothesis in live for opened in _opened(trie, chains, hypothesis)]
        whole += [(opened.score, child) for opened in open_ for child in trie.children(opened.tokens) if child < 0]
        least = heapq.nlargest(width, whole)[-1][0] if len(whole) >= width else -np.inf
        choices = [_tokens(trie, opened.tokens) for opened in open_]
        places = [place for place, tokens in enumerate(choices) if tokens and open_[place].score >= least]
        places = heapq.nlargest(beam, places, key=lambda place: (open_[place].score, -place))
        live, choices = [open_[place] for place in places], [choices[place] for place in places]
        if live:
            rows = step([one.place for one in live], [[token % FREE for token in one.unread] for one in live])
            among = [_tokens(chains, _counted(one.tokens)) for one in live]
            logs = [_shares(row, tokens, every) for row, tokens, every in zip(rows, choices, among, strict=True)]
            live = _likeliest(live, choices, logs, beam)
    return whole


def _opened(trie: Trie[int], chains: Trie[int], hypothesis: Hypothesis) -> list[Hypothesis]:
    """The hypothesis with all that is forced or free, as often as it comes to a choice or to an end."""
    opened, waiting = [], [hypothesis.tokens]
    while waiting:
        tokens = waiting.pop()
        children = trie.children(tokens)
        free = [child for child in children if child >= FREE]
        waiting += [(*tokens, child) for child in reversed(free)]
        counted = _tokens(trie, tokens)
        if len(counted) == 1 and len(_tokens(chains, _counted(tokens))) == 1 and min(children) >= 0:
            waiting.append((*tokens, *counted))
        elif len(children) > len(free):
            opened.append(hypothesis._replace(tokens=tokens))
    return opened


def _counted(tokens: Sequence[int]) -> tuple[int, ...]:
    """The tokens without those that are free."""
    return tuple(token for token in tokens if token < FREE)


def _tokens(trie: Trie[int], tokens: Sequence[int]) -> list[int]:
    """The tokens between which is chosen behind these."""
    return [child for child in trie.children(tokens) if 0 <= child < FREE]


def _over_vocabulary(trie: Trie[int], step: Step, width: int) -> list[tuple[float, int]]:
    """Whole sequences with the mean log-probability of their tokens over the whole vocabulary."""
    live, whole = [Hypothesis(0.0, 0, (), 0)], list[tuple[float, int]]()
    while live:
        children = [trie.children(hypothesis.tokens) for hypothesis in live]
        for hypothesis, following in zip(live, children, strict=True):
            mean = hypothesis.score / max(1, len(hypothesis.tokens))
            whole += [(mean, child) for child in following if child < 0]
        choices = [[child for child in following if child >= 0] for following in children]
        if not any(choices):
            break
        rows = step([one.place for one in live], [one.unread for one in live])
        logs = [_known(row, tokens) for row, tokens in zip(rows, choices, strict=True)]
        live = _likeliest(live, choices, logs, width)
    return whole


def _likeliest(
    live: Sequence[Hypothesis], choices: Sequence[Sequence[int]], logs: Sequence[Logs], width: int
) -> list[Hypothesis]:
    """The `width` likeliest hypotheses with one token more; of equal ones those of the first hypothesis."""
    grown = [
        (hypothesis.score + float(log), -place, token)
        for place, hypothesis in enumerate(live)
        for token, log in zip(choices[place], logs[place], strict=True)
    ]
    return [live[-place].then(score, -place, token) for score, place, token in heapq.nlargest(width, grown)]


def _known(row: Matrix, tokens: Sequence[int]) -> Logs:
    """The log-probabilities of the tokens; what is no number is impossible."""
    return np.where(np.isnan(row[tokens]), -np.inf, row[tokens]).astype(np.float64)


def _shares(row: Matrix, tokens: Sequence[int], among: Sequence[int]) -> Logs:
    """The log-probabilities of the tokens among all those; alike where they are no numbers."""
    known = _known(row, among)
    if not np.isfinite(known.max()):
        known = np.zeros_like(known)
    shares = dict(zip(among, known - known.max() - np.log(np.exp(known - known.max()).sum()), strict=True))
    return np.array([shares[token] for token in tokens])
