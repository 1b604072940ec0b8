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
from fedkg.embed.cosine import HalfMatrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.vector_index import VectorIndex

__all__ = ["LabelIndex"]

BATCH = 1_024
"""Labels that are embedded before they are kept: what a process that is killed has to embed again, at most."""


class LabelIndex:
    """The labels that one graph has shown, kept in `folder`; `graph` tells it from others.

    Without a folder nothing is read or written, and with `read_only` nothing is written. Where the model behind the
    embedder's name has changed so that its vectors have another length, all starts anew.
    """

    def __init__(self, folder: Path | None, graph: str, similarity: LazySimilarity, *, read_only: bool = False) -> None:
        name = hashlib.blake2s(f"{graph}\n{similarity.name}".encode(), digest_size=12).hexdigest()
        self._similarity = similarity
        file = folder / f"{name}.labels" if folder else None
        self._index = VectorIndex(file, similarity.name, read_only=read_only)

    def __len__(self) -> int:
        return len(self._index)

    async def add(self, labels: Mapping[Term, str]) -> int:
        """Adds the labels of entities and relations; returns how many are new. Each text is embedded once, ever.

        Raises what the embedder raises, and CacheError where they cannot be kept.
        """
        keys = {f"{term.value} {label}": label for term, label in labels.items() if isinstance(term, Iri)}
        if not keys:
            return 0
        new = await asyncio.to_thread(self._index.missing, list(keys))
        # where all are known, one of them (mostly in memory) shows whether the embedder still is what it was
        probe = new[0] if new else next(iter(keys))
        if not self._fits(await self._similarity.halves([keys[probe]])):
            await asyncio.to_thread(self._index.clear)
            return await self.add(labels)
        added = 0
        for start in range(0, len(new), BATCH):
            part = new[start : start + BATCH]
            vectors = await self._similarity.halves([keys[key] for key in part])
            added += await asyncio.to_thread(self._index.add, part, vectors)
        return added

    async def nearest(self, text: str, m: int) -> list[Match]:
        """At most `m` entities and relations by the cosine of their label to the text, the nearest first."""
        vector = await self._similarity.query_half(text)
        if not self._fits(vector[None]):
            return []
        hits = await asyncio.to_thread(self._index.search, vector, m)
        return [_match(key, score) for key, score in hits]

    def _fits(self, vectors: HalfMatrix) -> bool:
        """Whether the vectors are of the index's size."""
        return self._index.size in (None, vectors.shape[1])


def _match(key: str, score: float) -> Match:
    iri, _, label = key.partition(" ")
    return Match(Iri(iri), label, score)
