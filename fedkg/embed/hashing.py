"""Vectors without a model, out of nothing but the words of a text."""

import hashlib
from collections.abc import Sequence

import numpy as np

from fedkg.embed.base import Matrix, unit_rows

__all__ = ["HashingEmbedder"]


class HashingEmbedder:
    """An Embedder without a model, to compare others with: words hashed into `size` buckets.

    Feature hashing as in Weinberger et al. 2009, without signs. Equal words give equal directions.
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
