"""Cosines of half-precision vectors, by USearch's exact search: the one place where vectors are compared.

USearch sorts what it finds, which for a hub takes longer than the comparing. So the rows are the queries here, and what
is searched is the one vector that they are compared with: each row finds it, at its distance. A cosine depends on its
two vectors only, not on the rows beside them. It is within 0.000001 of numpy's in float32.
"""

import contextlib
import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedkg.embed.base import Matrix

__all__ = ["HalfMatrix", "cosine_table", "cosines", "cosines_in_parts"]

HalfMatrix = NDArray[np.float16]


def cosines(vector: HalfMatrix, rows: HalfMatrix) -> Matrix:
    """Shape (n,), float32: the cosine of each of the `rows`, shape (n, d), to the `vector`, shape (d,).

    0 beside a vector of zeros; NaN where a number is not finite. Raises ValueError where the shapes do not fit.
    """
    return cosines_in_parts(vector, [rows])


def cosines_in_parts(vector: HalfMatrix, parts: Sequence[HalfMatrix]) -> Matrix:
    """As `cosines`, for rows that lie in several places, without a copy of them: shape (n,) for n rows in all."""
    for rows in parts:
        if vector.ndim != 1 or rows.ndim != 2 or rows.shape[1] != len(vector):
            raise ValueError(f"a vector of shape {vector.shape} beside rows of shape {rows.shape}")
    parts = [rows for rows in parts if len(rows)]
    if not parts or not vector.any():
        return np.zeros(sum(map(len, parts)), dtype=np.float32)
    search, sought = _search(), vector[np.newaxis]
    distances = [search(sought, rows, 1)[1][:, 0] for rows in parts]
    return np.asarray(1.0 - (distances[0] if len(distances) == 1 else np.concatenate(distances)), dtype=np.float32)


def cosine_table(vectors: HalfMatrix, rows: HalfMatrix) -> Matrix:
    """Shape (m, n), float32: the cosine of each of the `rows`, shape (n, d), to each of the `vectors`, shape (m, d).

    The same numbers as `cosines` has for each vector, by one search: each row finds all vectors, in its own order.
    """
    if len(vectors) == 1 or not len(rows) or not vectors.any(axis=1).all():
        return _one_by_one(vectors, rows)
    places, distances, *_ = _search()(vectors, rows, len(vectors))
    if np.isnan(distances).any():  # these have no order
        return _one_by_one(vectors, rows)
    table = np.empty(distances.shape, dtype=np.float32)
    np.put_along_axis(table, places.astype(np.intp), 1.0 - distances, axis=1)
    return np.ascontiguousarray(table.T)


def _one_by_one(vectors: HalfMatrix, rows: HalfMatrix) -> Matrix:
    return np.stack([cosines(vector, rows) for vector in vectors])


@cache
def _search() -> Callable[..., tuple[Any, ...]]:
    """USearch's exact search by cosine, on one thread: of vectors, rows that each find some of them, and how many."""
    usearch = _usearch()
    kind, signature = usearch.MetricKind.Cos, usearch.MetricSignature.ArrayArraySize
    return partial(usearch.exact_search, threads=1, metric_kind=kind, metric_signature=signature)


def _usearch() -> ModuleType:
    """USearch's compiled module, without the front `usearch.index`, which loads bars of progress.

    It brings a C++ runtime of its own, some of whose symbols are unique in a process: where it is loaded before the
    system's runtime, libraries that use that one (onnxruntime) crash on loading. So the system's goes first, for all.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
    import usearch.compiled  # noqa: PLC0415  # after the runtime

    module: ModuleType = usearch.compiled
    return module
