"""Scores of one answer against its gold set, at the level of IRIs: pure functions of the record.

What a model answers from memory has no IRI: it is right where it is the name of a right answer, however it is written.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.bench.datasets import Gold
from fedkg.records import Answer, AnswerValue
from fedkg.words import same

__all__ = ["Score", "mean", "score"]


class Score(msgspec.Struct, frozen=True):
    """How good one answer is; each value in 0..1.

    hits_at_1: the chance that an answer drawn from those ranked first is right; answers of one path rank equal, so for
    one answer it is 0 or 1; of answers without paths the first ranks first. hit: whether any answer is right. f1: of the answer set. An error scores 0 everywhere.
    """

    hits_at_1: float = 0.0
    hit: float = 0.0
    f1: float = 0.0


def score(answer: Answer | None, gold: Sequence[Gold]) -> Score:
    """The scores of an answer; None stands for a question that raised an error."""
    named = {same(item.label): item.key for item in gold if item.label}
    found = [_key(value, named) for value in answer.answers] if answer else []
    right = {item.key for item in gold}
    correct = len(set(found) & right)
    if not answer or not correct:
        return Score()
    first = _first(answer)
    precision, recall = correct / len(set(found)), correct / len(right)
    at_1 = sum(_key(value, named) in right for value in first) / len(first)
    return Score(at_1, 1.0, 2 * precision * recall / (precision + recall))


def mean(values: Iterable[float]) -> float:
    """The mean, rounded to four digits; 0.0 of nothing."""
    listed = list(values)
    return round(sum(listed) / len(listed), 4) if listed else 0.0


def _first(answer: Answer) -> list[AnswerValue]:
    """The answers that share the best path score; a model that answers from memory names the surest first."""
    if not any(value.paths for value in answer.answers):
        return list(answer.answers[:1])
    rank = [max((answer.paths[index].score for index in value.paths), default=0.0) for value in answer.answers]
    best = max(rank)
    return [value for value, own in zip(answer.answers, rank, strict=True) if own == best]


def _key(value: AnswerValue, named: Mapping[str, str]) -> str:
    """What an answer is compared by: its IRI or value, or that of the gold answer which is called so."""
    return value.iri or (value.value if value.grounded else named.get(same(value.value), value.value))
