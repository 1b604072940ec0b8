"""Random unit vectors, and keys that tell their place."""

import numpy as np

from fedkg.embed.base import Matrix, unit_rows
from fedkg.embed.cosine import HalfMatrix

__all__ = ["halves", "keys", "rows"]


def rows(count: int, size: int = 32, seed: int = 0) -> Matrix:
    """Random unit vectors."""
    return unit_rows(np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32))


def halves(count: int, size: int = 32, seed: int = 0) -> HalfMatrix:
    """The same in half precision."""
    return rows(count, size, seed).astype(np.float16)


def keys(count: int, start: int = 0) -> list[str]:
    """Keys that tell their place."""
    return [f"k{number}" for number in range(start, start + count)]
