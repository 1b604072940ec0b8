"""Embeds each label once and keeps the vector: in memory for the session, on disk for the next one."""

import asyncio
import hashlib
import itertools
import math
import threading
from collections.abc import Sequence

import numpy as np

from fedkg.cache.off_loop import at_once
from fedkg.cache.store import Store
from fedkg.embed.base import Embedder, Matrix, unit_rows
from fedkg.embed.batches import EmbeddingBatches, Rows
from fedkg.embed.cosine import HalfMatrix, cosine_table
from fedkg.embed.prefixes import NO_PREFIXES, Prefixes

__all__ = ["NAMESPACE", "LazySimilarity"]

NAMESPACE = "embeddings"
# a literal can be a whole article; the first words say what it is about, and models read no more than these
CLIP = 2_000
FEW = 4_096
"""Comparisons that take no longer than the way to another thread and back."""


class LazySimilarity:
    """A Similarity by cosine over an Embedder, with a Store behind it; USearch compares.

    `embedded` counts the texts that the model had to read. Vectors are kept under the embedder's name and the SHA-256
    of the text with its prefix, as float16 (2 bytes a dimension; cosines move by less than 0.001), and are compared as
    they are kept, so that a run from the store scores exactly like the run that filled it. `keep` bounds the vectors in
    memory. What a text is compared with gets the query's one of the `prefixes`, all others that of passages; the name
    tells them.

    The embedder is used by one worker thread only, which embeds what concurrent callers ask for in common batches; what
    is in memory, or a few rows of a disk, needs no thread.
    """

    # measured with all-MiniLM-L6-v2 on benchmark questions, half of them without the relation that answers them:
    # unrelated texts reach 0.05; below 0.3 one answer of twelve is right
    unrelated = 0.05
    weak = 0.3

    def __init__(self, embedder: Embedder, store: Store, keep: int = 50_000, prefixes: Prefixes = NO_PREFIXES) -> None:
        self.name = prefixes.marked(embedder.name)
        self._prefixes = prefixes
        self.embedded = 0
        self._embedder = embedder
        self._store = store
        self._keep = keep
        self._memory: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._batches = EmbeddingBatches(self._kept, self._fresh)

    async def vectors(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1; shape (0, 0) for no texts.

        Raises what the embedder raises.
        """
        return unit_rows((await self.halves(texts)).astype(np.float32))

    async def halves(self, texts: Sequence[str]) -> HalfMatrix:
        """The vectors as they are kept: shape (len(texts), d), float16, (0, 0) for no texts.

        Raises what the embedder raises.
        """
        return await self._halves([self._prefixes.passage + _clean(text) for text in texts])

    async def query_half(self, text: str) -> HalfMatrix:
        """The vector of a text that others are compared with: shape (d,), float16. Raises what the embedder raises."""
        rows = await self._halves([self._prefixes.query + _clean(text)])
        return np.asarray(rows[0], dtype=np.float16)

    async def _halves(self, clean: Sequence[str]) -> HalfMatrix:
        """The vectors of texts with their prefixes."""
        if not clean:
            return np.zeros((0, 0), dtype=np.float16)
        wanted = list(dict.fromkeys(clean))
        rows = self._kept(wanted) if at_once(self._store, wanted) else self._remembered(wanted)
        if len(rows) < len(wanted) or len(set(map(len, rows.values()))) > 1:
            rows = await self._batches.rows(wanted)
        return _halves([rows[text] for text in clean])

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts),), float32: the cosine of each text to the query, in -1..1."""
        return np.asarray((await self.table([query], texts))[0], dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Shape (len(queries), len(texts)), float32: the cosine of each text to each query; embedded in one batch."""
        if not queries or not texts:
            return np.zeros((len(queries), len(texts)), dtype=np.float32)
        wanted = [self._prefixes.query + _clean(query) for query in queries]
        matrix = await self._halves([*wanted, *(self._prefixes.passage + _clean(text) for text in texts)])
        few = len(queries) * len(texts) <= FEW
        loop, worker = asyncio.get_running_loop(), self._batches.worker
        return _table(matrix, len(queries)) if few else await loop.run_in_executor(worker, _table, matrix, len(queries))

    def close(self) -> None:
        """Lets the worker thread end, without waiting for a batch that it is embedding.

        What that gives is not stored.
        """
        self._closed = True
        self._batches.close()

    def _kept(self, texts: Sequence[str]) -> Rows:
        """The vectors that are in memory or in the store."""
        rows = self._remembered(texts)
        stored = self._stored([text for text in texts if text not in rows])
        self._remember(stored)
        return rows | stored

    def _remembered(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors that are in memory; they stay there longest."""
        with self._lock:
            rows = {text: self._memory.pop(text) for text in texts if text in self._memory}
            self._memory |= rows
        return rows

    def _stored(self, texts: Sequence[str]) -> dict[str, bytes]:
        keys = {self._key(text): text for text in texts}
        values = self._store.get_many(NAMESPACE, list(keys)) if keys else {}
        return {keys[key]: value for key, value in values.items() if _sound(value)}

    def _fresh(self, texts: Sequence[str]) -> Rows:
        """The vectors that the embedder makes, kept."""
        packed = dict(zip(texts, map(_pack, self._embedder.embed(texts)), strict=True))
        if not self._closed:
            self._store.put_many(NAMESPACE, {self._key(text): value for text, value in packed.items()})
        self.embedded += len(packed)
        self._remember(packed)
        return packed

    def _remember(self, rows: Rows) -> None:
        """Puts the rows last; the first, those unused for longest, make room."""
        with self._lock:
            self._memory |= rows
            for text in list(itertools.islice(self._memory, max(0, len(self._memory) - self._keep))):
                del self._memory[text]

    def _key(self, text: str) -> str:
        return f"{self.name} {hashlib.sha256(text.encode()).hexdigest()}"


def _table(matrix: HalfMatrix, queries: int) -> Matrix:
    """The cosines of the first `queries` rows, each to all rows after them."""
    return cosine_table(matrix[:queries], matrix[queries:])


def _clean(text: str) -> str:
    """The text as a tokenizer takes it: bounded, and without the lone surrogates that endpoints do send."""
    return text[:CLIP].encode(errors="replace").decode()


def _pack(row: Matrix) -> bytes:
    return row.astype("<f2").tobytes()


def _halves(values: Sequence[bytes]) -> HalfMatrix:
    """Shape (len(values), d); d is the same for all."""
    rows = np.frombuffer(b"".join(values), dtype="<f2")
    return rows.reshape(len(values), -1).astype(np.float16, copy=False)


def _sound(value: bytes) -> bool:
    """Whether the bytes are a vector as `unit_rows` makes them: of length 1 or zero."""
    if not value or len(value) % 2:
        return False
    row = np.frombuffer(value, dtype="<f2").astype(np.float32)
    norm = math.sqrt(float(row @ row))
    return norm == 0 or abs(norm - 1) < 0.01
