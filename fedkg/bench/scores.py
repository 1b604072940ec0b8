"""Scores of one answer against its gold set, at the level of IRIs: pure functions of the record."""

from collections.abc import Iterable, Sequence

import msgspec

from fedkg.bench.datasets import Gold
from fedkg.records import Answer, AnswerValue

__all__ = ["Score", "mean", "score"]


class Score(msgspec.Struct, frozen=True):
    """How good one answer is; each value in 0..1.

    hits_at_1: the chance that an answer drawn from those ranked first is right; answers of one path rank equal, so for
    one answer it is 0 or 1. hit: whether any answer is right. f1: of the answer set. An error scores 0 everywhere.
    """

    hits_at_1: float = 0.0
    hit: float = 0.0
    f1: float = 0.0


def score(answer: Answer | None, gold: Sequence[Gold]) -> Score:
    """The scores of an answer; None stands for a question that raised an error."""
    found = [_key(value) for value in answer.answers] if answer else []
    right = {item.key for item in gold}
    correct = len(set(found) & right)
    if not answer or not correct:
        return Score()
    first = _first(answer)
    precision, recall = correct / len(set(found)), correct / len(right)
    at_1 = sum(_key(value) in right for value in first) / len(first)
    return Score(at_1, 1.0, 2 * precision * recall / (precision + recall))


def mean(values: Iterable[float]) -> float:
    """The mean, rounded to four digits; 0.0 of nothing."""
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


def _first(answer: Answer) -> list[AnswerValue]:
    """The answers that share the best path score."""
    rank = [max((answer.paths[index].score for index in value.paths), default=0.0) for value in answer.answers]
    best = max(rank)
    return [value for value, own in zip(answer.answers, rank, strict=True) if own == best]


def _key(value: AnswerValue) -> str:
    return value.iri or value.value
