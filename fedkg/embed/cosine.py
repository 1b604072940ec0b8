"""Cosines of half-precision vectors, by USearch's exact search: the one place where vectors are compared.

USearch sorts what it finds, which for a hub takes longer than the comparing. So the rows are the queries here, and what
is searched is the one vector that they are compared with: each row finds it, at its distance. A cosine depends on its
two vectors only, not on the rows beside them. It is within 0.000001 of numpy's in float32.
"""

import contextlib
import ctypes
import sys
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from fedkg.embed.base import Matrix

__all__ = ["HalfMatrix", "cosine_table", "cosines"]

HalfMatrix = NDArray[np.float16]


def cosines(vector: HalfMatrix, rows: HalfMatrix) -> Matrix:
    """Shape (n,), float32: the cosine of each of the `rows`, shape (n, d), to the `vector`, shape (d,).

    0 beside a vector of zeros; NaN where a number is not finite. Raises ValueError where the shapes do not fit.
    """
    if vector.ndim != 1 or rows.ndim != 2 or rows.shape[1] != len(vector):
        raise ValueError(f"a vector of shape {vector.shape} beside rows of shape {rows.shape}")
    if not len(rows) or not vector.any():
        return np.zeros(len(rows), dtype=np.float32)
    usearch = _usearch()
    _, distances, *_ = usearch.exact_search(
        vector[np.newaxis],
        rows,
        1,
        threads=1,
        metric_kind=usearch.MetricKind.Cos,
        metric_signature=usearch.MetricSignature.ArrayArraySize,
    )
    return np.asarray(1.0 - distances[:, 0], dtype=np.float32)


def cosine_table(vectors: HalfMatrix, rows: HalfMatrix) -> Matrix:
    """Shape (m, n), float32: the cosine of each of the `rows`, shape (n, d), to each of the `vectors`, shape (m, d).

    The same numbers as `cosines` has for each vector, by one search: each row finds all vectors, in its own order.
    """
    if len(vectors) == 1 or not len(rows) or not vectors.any(axis=1).all():
        return _one_by_one(vectors, rows)
    usearch = _usearch()
    places, distances, *_ = usearch.exact_search(
        vectors,
        rows,
        len(vectors),
        threads=1,
        metric_kind=usearch.MetricKind.Cos,
        metric_signature=usearch.MetricSignature.ArrayArraySize,
    )
    if np.isnan(distances).any():  # these have no order
        return _one_by_one(vectors, rows)
    table = np.empty(distances.shape, dtype=np.float32)
    np.put_along_axis(table, places.astype(np.intp), 1.0 - distances, axis=1)
    return np.ascontiguousarray(table.T)


def _one_by_one(vectors: HalfMatrix, rows: HalfMatrix) -> Matrix:
    return np.stack([cosines(vector, rows) for vector in vectors])


@cache
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
