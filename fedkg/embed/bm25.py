"""BM25 as a similarity: words in common instead of meaning (a retrieval backbone of FiDeLiS v4, Table 3)."""

import asyncio
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from fedkg.common.english import roots
from fedkg.embed.base import Matrix

__all__ = ["Bm25Similarity", "terms", "words"]

K1 = 1.5
B = 0.75
LARGE = 4_000
"""Characters of texts that take a few milliseconds to score; with fewer the event loop may wait."""
INDEXES = 256
"""Indexes of such texts that are kept: the relations around an entity are compared with one span after the other."""
CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ])")
# scripts without spaces: each character counts as a word
UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")


class Bm25Similarity:
    """A Similarity that takes the candidate texts themselves as the corpus.

    A score is BM25 (Lucene's variant, k1 = 1.5, b = 0.75) divided by the sum of the idf of all query words, the limit
    that no text exceeds however often it repeats every word. So scores lie in 0..1, keep BM25's order, and those of
    relations and of entities under one query can be added. Words that no text has count in the limit as the rarest: a
    match of "of" alone stays small. Words are compared by their English roots. Repeated texts count once in the corpus
    and score alike. Nothing is embedded.
    """

    name = "bm25"
    embedded = 0
    unrelated = 0.0
    weak = 0.0  # one rare word in common may be all that a relation shares with a question

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts),), float32, in 0..1; 0 for texts without a word of the query."""
        [row] = await self.table([query], texts)
        return np.asarray(row, dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Shape (len(queries), len(texts)), float32: the scores of each query, from one index of the texts."""
        corpus = tuple(dict.fromkeys(texts))
        if sum(map(len, texts)) < LARGE:
            return _table(queries, texts, _kept_index(corpus))
        return await asyncio.to_thread(lambda: _table(queries, texts, _Index(corpus)))


class _Index:
    """Texts to be scored: the words of each, in how many a word is, and their index."""

    def __init__(self, texts: Iterable[str]) -> None:
        import bm25s  # noqa: PLC0415  # imports scipy, which other embedders do without

        corpus = {text: list(stems) for text in texts if (stems := terms(text))}
        self._texts = list(corpus)
        self._counts = Counter(word for stems in corpus.values() for word in set(stems))
        self._scores = bm25s.BM25(method="lucene", k1=K1, b=B)
        if corpus:
            self._scores.index(list(corpus.values()), show_progress=False)

    def scored(self, query: str) -> dict[str, float]:
        """The score of each text that has words; nothing where none has a word of the query."""
        asked = list(dict.fromkeys(terms(query)))
        known = [word for word in asked if word in self._counts]
        if not known:
            return {}
        raw = self._scores.get_scores(known) / self._limit(asked)
        return dict(zip(self._texts, np.clip(raw, 0.0, 1.0).tolist(), strict=True))

    def _limit(self, asked: Sequence[str]) -> float:
        """The sum of Lucene's idf over the query's words; its term-frequency factor tends to 1."""
        counts = [self._counts[word] for word in asked]
        return sum(math.log1p((len(self._texts) - count + 0.5) / (count + 0.5)) for count in counts)


_kept_index = lru_cache(maxsize=INDEXES)(_Index)


def _table(queries: Sequence[str], texts: Sequence[str], index: _Index) -> Matrix:
    scored = [index.scored(query) for query in queries]
    rows = [[score.get(text, 0.0) for text in texts] for score in scored]
    return np.array(rows, dtype=np.float32).reshape(len(queries), len(texts))


@lru_cache(maxsize=1 << 12)
def terms(text: str) -> tuple[str, ...]:
    """What of a label is compared: the roots of its words, so that "born" meets "birth", and "treat" "treats"."""
    return roots(words(text), as_written=True)


@lru_cache(maxsize=1 << 12)
def words(text: str) -> tuple[str, ...]:
    """The words of a label, case-folded, in order; camelCase, snake_case and dotted names are taken apart.

    Letters keep their combining marks (Indic vowel signs belong to their word); Chinese and Japanese characters are
    words of their own.
    """
    split = UNSPACED.sub(r" \1 ", CAMEL.sub(" ", unicodedata.normalize("NFKC", text)))
    return tuple("".join(char if _in_word(char) else " " for char in split.casefold()).split())


def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"
