"""How well a run of words expresses one relation: in meaning, by words in common, and by what it goes beyond."""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from fedkg.common.normalize import content_words
from fedkg.embed.base import Matrix

__all__ = ["CROSSED", "OVERLAP", "akin", "likeness"]

OVERLAP = 0.23
"""How much words in common count beside meaning, which small embedders miss for rare words."""
CROSSED = 0.23
"""Taken off a span for each "of" or "'s" that it goes beyond and its relation has not: that is a step of its own."""
SHORTEST_STEM = 4
GENITIVE = re.compile(r"'s\b|\bof\b", re.IGNORECASE)
SYNONYMS = (
    "child children daughter kid offspring son",
    "genre category kind sort style type",
    "parent dad father mom mother",
    "spouse husband partner wife",
    "tag describe describing keyword subject term theme topic word",
)
"""Everyday words for what graphs have one word for; as a thesaurus has them, and small embedders have not."""
SENSES = {word: group.split()[0] for group in SYNONYMS for word in group.split()}


def likeness(spans: Sequence[str], relation: str, similarity: Matrix) -> Matrix:
    """How well each span expresses a relation, shape (spans,).

    Similarity in meaning, the words in common, and what the span goes beyond.
    """
    shared = np.array([_overlap(span, relation) for span in spans], dtype=np.float32)
    crossed = np.array([max(0, _genitives(span) - _genitives(relation)) for span in spans], dtype=np.float32)
    return np.asarray((1 - OVERLAP) * similarity + OVERLAP * shared - CROSSED * crossed, dtype=np.float32)


@lru_cache(maxsize=1 << 12)
def _overlap(span: str, relation: str) -> float:
    """The share of the relation's content words that the span says in some form."""
    asked, stated = content_words(relation), content_words(span)
    return sum(any(akin(word, other) for other in stated) for word in asked) / max(1, len(asked))


def akin(first: str, second: str) -> bool:
    """Whether two words are forms of one, "directed" and "co-director", "written" and "screenwriter", or synonyms."""
    first, second = _sense(first), _sense(second)
    if min(len(first), len(second)) < SHORTEST_STEM:
        return first == second
    return _stem(first) in second or _stem(second) in first


def _sense(word: str) -> str:
    return SENSES.get(word.removesuffix("s"), word)


def _stem(word: str) -> str:
    """The first three fifths of a word."""
    return word[: max(SHORTEST_STEM, 3 * len(word) // 5)]


@lru_cache(maxsize=1 << 12)
def _genitives(text: str) -> int:
    return len(GENITIVE.findall(text))
