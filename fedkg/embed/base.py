"""The seams to embeddings: an Embedder makes vectors, a Similarity scores texts against a query."""

import hashlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "HashingEmbedder", "Matrix", "Similarity", "unit_rows"]

Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Maps texts to vectors, z(·) of FiDeLiS v4 Eq. 1."""

    name: str

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1. Blocking; called in a worker thread."""
        ...


class Similarity(Protocol):
    """Scores texts against one query.

    `embedded` counts the texts that a model had to read. Scores up to `unrelated` say nothing, those below `weak` little.
    """

    name: str
    embedded: int
    unrelated: float
    weak: float

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts),), float32; cosine for dense embedders, 0..1 for lexical ones."""
        ...

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """Shape (len(queries), len(texts)): the scores of many queries in one go."""
        ...


def unit_rows(matrix: Matrix) -> Matrix:
    """The rows scaled to length 1; rows of zeros stay."""
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(norms == 0, 1, norms), dtype=np.float32)


class HashingEmbedder:
    """An Embedder without a model, to compare others with: words hashed into `size` buckets (Weinberger et al. 2009, unsigned).

    Equal words give equal directions.
    """

    name = "hashing"

    def __init__(self, size: int = 256) -> None:
        self.size = size

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Bag-of-words vectors, unit rows."""
        matrix = np.zeros((len(texts), self.size), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for word in text.lower().split():
                row[int.from_bytes(hashlib.blake2s(word.encode(), digest_size=4).digest()) % self.size] += 1
        return unit_rows(matrix)
