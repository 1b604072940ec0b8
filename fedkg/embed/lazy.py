"""Embeds each label once and keeps the vector: in memory for the session, on disk for the next one."""

import asyncio
import contextvars
import hashlib
import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fedkg.cache.store import Store
from fedkg.core.meter import count
from fedkg.embed.base import Embedder, Matrix, unit_rows

__all__ = ["NAMESPACE", "LazySimilarity"]

NAMESPACE = "embeddings"
# a literal can be a whole article; the first words say what it is about, and models read no more than these
CLIP = 2_000


class LazySimilarity:
    """A Similarity by cosine over an Embedder, with a Store behind it.

    `embedded` counts the texts that the model had to read. Vectors are kept under the embedder's name and the SHA-256
    of the text, as float16 (2 bytes a dimension; cosines move by less than 0.001), and are rounded before their first
    use, so that a run from the store scores exactly like the run that filled it. `keep` bounds the vectors in memory.

    Embedder and store are used by one worker thread only: concurrent callers wait for each other and find what the
    others embedded.
    """

    # measured with all-MiniLM-L6-v2 on benchmark questions, half of them without the relation that answers them:
    # unrelated texts reach 0.05; below 0.3 one answer of twelve is right
    unrelated = 0.05
    weak = 0.3

    def __init__(self, embedder: Embedder, store: Store, keep: int = 50_000) -> None:
        self.name = embedder.name
        self.embedded = 0
        self._embedder = embedder
        self._store = store
        self._keep = keep
        self._memory: dict[str, Matrix] = {}
        self._closed = False
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fedkg-embed")

    async def vectors(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1; shape (0, 0) for no texts.

        Raises what the embedder raises.
        """
        context = contextvars.copy_context()  # the worker counts for the question that asks
        return await asyncio.get_running_loop().run_in_executor(self._worker, context.run, self._matrix, texts)

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts),), float32: the cosine of each text to the query, in -1..1."""
        if not texts:
            return np.zeros(0, dtype=np.float32)
        matrix = await self.vectors([query, *texts])
        return np.asarray(matrix[1:] @ matrix[0], dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Shape (len(queries), len(texts)), float32: the cosine of each text to each query; embedded in one batch."""
        if not queries or not texts:
            return np.zeros((len(queries), len(texts)), dtype=np.float32)
        matrix = await self.vectors([*queries, *texts])
        return np.asarray(matrix[: len(queries)] @ matrix[len(queries) :].T, dtype=np.float32)

    def close(self) -> None:
        """Lets the worker thread end, without waiting for a batch that it is embedding.

        What that gives is not stored.
        """
        self._closed = True
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _matrix(self, texts: Sequence[str]) -> Matrix:
        clean = [_clean(text) for text in texts]
        places = {text: place for place, text in enumerate(dict.fromkeys(clean))}
        if not places:
            return np.zeros((0, 0), dtype=np.float32)
        rows = self._rows(list(places))
        return np.stack([rows[text] for text in places])[[places[text] for text in clean]]

    def _rows(self, texts: Sequence[str]) -> Mapping[str, Matrix]:
        rows = {text: self._memory.pop(text) for text in texts if text in self._memory}
        try:
            rows |= self._stored([text for text in texts if text not in rows])
            rows |= self._fresh([text for text in texts if text not in rows])
            if len({len(row) for row in rows.values()}) > 1:  # the model behind this name has changed
                rows = self._fresh(texts)
        finally:
            self._remember(rows)
        return rows

    def _stored(self, texts: Sequence[str]) -> dict[str, Matrix]:
        keys = {self._key(text): text for text in texts}
        values = self._store.get_many(NAMESPACE, list(keys)) if keys else {}
        rows = ((keys[key], _unpack(value)) for key, value in values.items())
        return {text: row for text, row in rows if row is not None}

    def _fresh(self, texts: Sequence[str]) -> dict[str, Matrix]:
        if not texts:
            return {}
        packed = dict(zip(texts, map(_pack, self._embedder.embed(texts)), strict=True))
        if not self._closed:
            self._store.put_many(NAMESPACE, {self._key(text): value for text, value in packed.items()})
        self.embedded += len(packed)
        count("labels_embedded", len(packed))
        return {text: _rounded(value) for text, value in packed.items()}

    def _remember(self, rows: Mapping[str, Matrix]) -> None:
        """Puts the rows last; the first, those unused for longest, make room."""
        self._memory |= rows
        for text in list(itertools.islice(self._memory, max(0, len(self._memory) - self._keep))):
            del self._memory[text]

    def _key(self, text: str) -> str:
        return f"{self.name} {hashlib.sha256(text.encode()).hexdigest()}"


def _clean(text: str) -> str:
    """The text as a tokenizer takes it: bounded, and without the lone surrogates that endpoints do send."""
    return text[:CLIP].encode(errors="replace").decode()


def _pack(row: Matrix) -> bytes:
    return row.astype("<f2").tobytes()


def _rounded(value: bytes) -> Matrix:
    row: Matrix = unit_rows(np.frombuffer(value, dtype="<f2").astype(np.float32)[np.newaxis])[0]
    return row


def _unpack(value: bytes) -> Matrix | None:
    """The stored row, or None where the bytes are none: neither of length 1 nor zero, as `unit_rows` makes them."""
    if not value or len(value) % 2:
        return None
    norm = float(np.linalg.norm(np.frombuffer(value, dtype="<f2").astype(np.float32)))
    return _rounded(value) if norm == 0 or abs(norm - 1) < 0.01 else None
