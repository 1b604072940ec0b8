"""How well runs of words express relations: in meaning, by words and wordings in common, and by what they go beyond."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fedkg.common.english import english, roots
from fedkg.embed.base import Matrix
from fedkg.embed.bm25 import words
from fedkg.reasoner.local.wording import content, small

__all__ = ["CROSSED", "WORDED", "covered", "expressed", "likeness", "lists", "senses", "unwalked", "worded"]

WORDED = 0.5
"""How much words in common count beside meaning (tuned)."""
CROSSED = 0.23
"""Taken off a span for each "of" or "'s" that it goes beyond and its relation has not: that is a step of its own."""
SENSE = 0.9
"""What a wording that means the same counts beside the same word (tuned)."""
BESIDE = 0.2
"""What a word counts that a relation's whole name has beside its label, like the label's domain (tuned)."""
KIND = 0.3
"""What a word counts that says what an end is ("films") and not how to get there (tuned)."""
LONGEST_PHRASE = 6
GENITIVE = re.compile(r"'s\b|\bof\b", re.IGNORECASE)
ARTICLE = frozenset({"a", "an", "the", "s"})


class _Parts(NamedTuple):
    """The roots of a text that carry meaning, with what each counts, and for each sense the roots that express it."""

    roots: dict[str, float]
    senses: dict[int, frozenset[str]]


def likeness(spans: Sequence[str], relations: Sequence[str], similarity: Matrix, beside: Sequence[str] = ()) -> Matrix:
    """How well each span expresses each relation, shape (spans, relations), as `similarity` in meaning.

    `beside` is what the relations' whole names say beside their labels.
    """
    besides = beside or ("",) * len(relations)
    genitives = np.array([_genitives(span) for span in spans], dtype=np.float32)
    crossed = np.maximum(0.0, genitives[:, None] - np.array([_genitives(name) for name in relations])[None, :])
    named = list(zip(relations, besides, strict=True))
    shared = np.array([[worded(span, name, more) for name, more in named] for span in spans], dtype=np.float32)
    shared = shared.reshape(len(spans), len(relations))
    return np.asarray((1 - WORDED) * similarity + WORDED * shared - CROSSED * crossed, dtype=np.float32)


@lru_cache(maxsize=1 << 18)
def worded(span: str, relation: str, beside: str = "") -> float:
    """The harmonic mean of the parts of a span and of a relation that are words or wordings of both, in 0..1."""
    return _mean(covered(span, relation, beside))


def senses(relation: str) -> frozenset[int]:
    """The senses that a relation's name expresses, by number."""
    return frozenset(_named(relation).senses)


def expressed(text: str) -> frozenset[int]:
    """The senses that words of a question express, by number."""
    return frozenset(_asked(text).senses)


def unwalked(text: str, relations: Iterable[tuple[str, str]]) -> int:
    """How many words of the text express a relation, by the word lists, and none of these: "directed" beside actors.

    The relations are by their labels, and what their whole names say beside that, "" to go by the labels alone.
    """
    calling = _calling(text)
    return len(calling.difference(*(_called(text, label, beside) for label, beside in relations))) if calling else 0


@lru_cache(maxsize=1 << 14)
def _calling(text: str) -> frozenset[str]:
    """The roots of the words that express relations, and say more than what an end is."""
    asked = _asked(text)
    return frozenset(word for words in asked.senses.values() for word in words if asked.roots.get(word) == 1.0)


@lru_cache(maxsize=1 << 16)
def _called(text: str, label: str, beside: str) -> frozenset[str]:
    """The roots of the words that express this relation."""
    asked, named = _asked(text), _named(f"{label} {beside}")
    return frozenset(named.roots).union(*(asked.senses.get(sense, ()) for sense in named.senses))


def covered(span: str, relation: str, beside: str = "") -> tuple[float, float]:
    """The part of the words of a span that a relation says, and of those of the relation that the span says.

    A relation that only lists things of its type is said by either, its label or the type.
    """
    by_label = _covered_by(span, relation, beside)
    return max(by_label, _covered_by(span, beside), key=_mean) if beside and lists(relation) else by_label


@lru_cache(maxsize=1 << 14)
def lists(relation: str) -> bool:
    """Whether the label says what stands at its end and nothing else: the people of a cause of death."""
    known = english()
    return not senses(relation) and all(word in known.kinds or word in known.agents for word in roots(words(relation)))


def _mean(parts: tuple[float, float]) -> float:
    of_span, of_relation = parts
    return 2 * of_span * of_relation / (of_span + of_relation) if of_span and of_relation else 0.0


def _covered_by(span: str, relation: str, beside: str = "") -> tuple[float, float]:
    asked, named = _asked(span), _named(relation)
    more = _besides(beside) & asked.roots.keys() if beside else frozenset[str]()
    if more:
        named = named._replace(roots=dict.fromkeys(more, BESIDE) | named.roots)
    direct = asked.roots.keys() & named.roots.keys()
    senses = asked.senses.keys() & named.senses.keys()
    if not (direct or senses):
        return 0.0, 0.0
    of_span = _covered(asked.roots, direct, [asked.senses[sense] for sense in senses])
    of_relation = _covered(named.roots, direct, [named.senses[sense] for sense in senses])
    return of_span, of_relation


def _covered(counts: dict[str, float], direct: set[str], senses: Sequence[frozenset[str]]) -> float:
    """The share of the words that is common to both."""
    meant = frozenset[str]().union(*senses)
    total = sum(counts.values())
    common = sum(count * (1.0 if word in direct else SENSE * (word in meant)) for word, count in counts.items())
    # a wording of small words alone, as "is from", is all that there is
    return common / total if total else SENSE * bool(senses)


@lru_cache(maxsize=1 << 14)
def _asked(span: str) -> _Parts:
    """The parts of words of a question; all of its wordings count."""
    kinds = english().kinds
    listed = [word for word in words(span) if word not in ARTICLE]
    every = roots(listed)
    counts = {each: KIND if each in kinds else 1.0 for each in content(span)}
    return _Parts(counts, _senses(every, named=False))


@lru_cache(maxsize=1 << 14)
def _named(relation: str) -> _Parts:
    """The parts of a relation's name."""
    listed = words(relation)
    counts = dict.fromkeys(roots([word for word in listed if not small(word)]), 1.0)
    return _Parts(counts or dict.fromkeys(roots(listed), 1.0), _senses(roots(listed), named=True))


@lru_cache(maxsize=1 << 14)
def _besides(beside: str) -> frozenset[str]:
    return frozenset(roots(beside))


def _senses(every: tuple[str, ...], *, named: bool) -> dict[int, frozenset[str]]:
    """The senses that the text has a phrase of, with the roots of these phrases."""
    index = _phrases(named=named)
    longest = range(min(len(every), LONGEST_PHRASE), 0, -1)
    runs = [(start, start + size) for size in longest for start in range(len(every) - size + 1)]
    known = [(start, end) for start, end in runs if every[start:end] in index]
    senses: dict[int, set[str]] = {}
    for number, (start, end) in enumerate(known):
        # "die of" says another thing than "die"
        if any(first <= start and end <= last for first, last in known[:number]):
            continue
        for sense in index[every[start:end]]:
            senses.setdefault(sense, set()).update(every[start:end])
    return {sense: frozenset(phrase) for sense, phrase in senses.items()}


@lru_cache(maxsize=2)
def _phrases(*, named: bool) -> dict[tuple[str, ...], tuple[int, ...]]:
    """The senses by their phrases: those of relations, or those of questions, which use both."""
    index: dict[tuple[str, ...], set[int]] = {}
    for number, sense in enumerate(english().senses):
        for phrase in sense.names if named else (*sense.names, *sense.words):
            index.setdefault(phrase, set()).add(number)
    return {phrase: tuple(numbers) for phrase, numbers in index.items()}


@lru_cache(maxsize=1 << 14)
def _genitives(text: str) -> int:
    return len(GENITIVE.findall(text))
