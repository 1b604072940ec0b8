"""The seams to embeddings: an Embedder makes vectors, a Similarity scores texts against a query."""

from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from fedkg.core.terms import Iri
from fedkg.core.usage import Gap

__all__ = ["Embedder", "IndexedLabels", "Matrix", "NearestLabels", "Similarity", "unit_rows"]

Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Maps texts to vectors, z(·) of FiDeLiS v4 Eq. 1."""

    name: str

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Shape (len(texts), d), float32, rows of length 1. Blocking; called in a worker thread."""
        ...


class Similarity(Protocol):
    """Scores texts against one query.

    `embedded` counts the texts that a model had to read. Scores up to `unrelated` say nothing, those below `weak`
    little.
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


class IndexedLabels(msgspec.Struct, frozen=True):
    """How many entities and relations of a graph have their labels embedded, and how many labels of them are new.

    `missing` is what endpoints could not list.
    """

    entities: int
    relations: int
    new: int
    missing: tuple[Gap, ...] = ()


class NearestLabels(msgspec.Struct, frozen=True):
    """The m entities and the m relations of a graph whose labels are nearest to a text: E_m and R_m."""

    entities: frozenset[Iri]
    relations: frozenset[Iri]


def unit_rows(matrix: Matrix) -> Matrix:
    """The rows scaled to length 1; rows of zeros stay."""
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(norms == 0, 1, norms), dtype=np.float32)
