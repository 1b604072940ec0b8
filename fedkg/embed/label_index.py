"""Global keyword search: the m entities and relations nearest in meaning among all labels that walks have shown.

E_m = argtop-m over e of cos(z(K), z(e)), and R_m likewise (FiDeLiS v1, section 2.1, Eq. 3). The paper embeds the whole
graph beforehand; a graph that stays where it is shows itself hop by hop, so the index grows with every question.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path

from fedkg.core.question import Match
from fedkg.core.terms import Iri, Term
from fedkg.embed.base import Matrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.vector_index import VectorIndex

__all__ = ["LabelIndex"]


class LabelIndex:
    """The labels that one graph has shown, kept in `folder` once saved; `graph` tells it from others.

    Without a folder nothing is read or written. Where the model behind the embedder's name has changed so that its
    vectors have another length, all starts anew.
    """

    def __init__(self, folder: Path | None, graph: str, similarity: LazySimilarity) -> None:
        name = hashlib.blake2s(f"{graph}\n{similarity.name}".encode(), digest_size=12).hexdigest()
        self._similarity = similarity
        self._index = VectorIndex(folder / f"{name}.labels" if folder else None, similarity.name)

    async def add(self, labels: Mapping[Term, str]) -> int:
        """Adds the labels of entities and relations; returns how many are new. Each text is embedded once, ever."""
        keys = {f"{term.value} {label}": label for term, label in labels.items() if isinstance(term, Iri)}
        new = {key: label for key, label in keys.items() if key not in self._index}
        if not keys:
            return 0
        # where all are known, one of them (mostly in memory) shows whether the embedder still is what it was
        vectors = await self._similarity.vectors(list(new.values()) or list(keys.values())[:1])
        if not self._fits(vectors):
            return await self.add(labels)
        return await asyncio.to_thread(self._index.add, list(new), vectors) if new else 0

    async def nearest(self, text: str, m: int) -> list[Match]:
        """At most `m` entities and relations by the cosine of their label to the text, the nearest first."""
        vectors = await self._similarity.vectors([text])
        if not self._fits(vectors):
            return []
        hits = await asyncio.to_thread(self._index.search, vectors[0], m)
        return [_match(key, score) for key, score in hits]

    def save(self) -> None:
        """Writes the index, where it has changed."""
        self._index.save()

    def _fits(self, vectors: Matrix) -> bool:
        """Whether the vectors are of the index's size; where they are not, the index is empty afterwards."""
        fits = self._index.size in (None, vectors.shape[1])
        if not fits:
            self._index.clear()
        return fits


def _match(key: str, score: float) -> Match:
    iri, _, label = key.partition(" ")
    return Match(Iri(iri), label, score)
