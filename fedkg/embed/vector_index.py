"""A label index on disk: the m nearest of all labels that one endpoint has shown.

It serves the keyword-driven global search for the entities E_m and relations R_m (FiDeLiS v4 section 3.1). The vectors
are kept as they are, and USearch compares with all of them: 100,000 take 20 ms. A graph of neighbours (HNSW) would be
faster from millions on; but it takes a second to add a thousand, and USearch reads one from a file without checking it,
so that a damaged or forged file ends the process.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from fedkg.cache.folders import claim, read_bounded
from fedkg.embed.base import Matrix
from fedkg.embed.cosine import HalfMatrix, cosines
from fedkg.errors import CacheError

__all__ = ["VectorIndex"]

FORMAT = "fedkg label index 2"
MOST_BYTES = 512 << 20
"""Bytes of a file that is read: half a million labels of MiniLM."""


class _Head(msgspec.Struct, frozen=True):
    """The first line of a file: it vouches for the rest."""

    format: str
    embedder: str
    size: int
    sha256: str


class VectorIndex:
    """Keys with their vectors, searched by cosine; kept in `file` once saved, or in memory only where there is none.

    `embedder` names what made the vectors: a file written for another one, a missing and a damaged file all give an
    empty index, since labels can be embedded again. A key stands for one vector: `add` skips keys that are there.
    Vectors are float16. Safe to use from several threads; of two processes, the last to save wins.
    """

    def __init__(self, file: Path | None, embedder: str = "") -> None:
        self._file = file
        self._embedder = embedder
        self._lock = threading.Lock()
        self._keys: list[str] = []
        self._rows: HalfMatrix | None = None
        self._changed = False
        with contextlib.suppress(OSError, ValueError, RecursionError, msgspec.MsgspecError):
            if file:
                self._keys, self._rows = _unpack(read_bounded(file, MOST_BYTES), embedder)
        self._known = set(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._known

    @property
    def size(self) -> int | None:
        """The dimensions d of the vectors; None where there is none yet."""
        return self._rows.shape[1] if self._rows is not None else None

    def clear(self) -> None:
        """Forgets all keys and vectors; the file stays until `save` writes what is added next."""
        with self._lock:
            self._keys, self._known, self._rows, self._changed = [], set(), None, False

    def add(self, keys: Sequence[str], vectors: Matrix) -> int:
        """Adds the keys that are not there yet, with their rows of `vectors` (shape (len(keys), d)); returns how many.

        Raises ValueError where the shape does not fit the keys or the vectors that are there.
        """
        if vectors.ndim != 2 or len(vectors) != len(keys):
            raise ValueError(f"{len(keys)} keys with vectors of shape {vectors.shape}")
        with self._lock:
            places: dict[str, int] = {}
            for place, key in enumerate(keys):
                if key not in self._known:
                    places.setdefault(key, place)
            if places:
                self._append(list(places), vectors[list(places.values())].astype(np.float16))
            return len(places)

    def search(self, vector: Matrix, m: int) -> list[tuple[str, float]]:
        """The m keys nearest to `vector` (shape (d,)) with their cosine to it, the nearest first; equal ones by key.

        Raises ValueError for another d.
        """
        with self._lock:
            keys, rows = self._keys, self._rows
        if rows is None or m < 1:
            return []
        if vector.shape != rows.shape[1:]:
            raise ValueError(f"a vector of shape {vector.shape} in an index of {rows.shape[1]} dimensions")
        scores = cosines(vector.astype(np.float16), rows)
        best = np.argpartition(-scores, min(m, len(rows)) - 1)[:m]
        hits = [(keys[number], float(scores[number])) for number in best.tolist()]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def save(self) -> None:
        """Writes keys and vectors to the file, in one step; nothing where nothing was added.

        Raises CacheError where the folder cannot be written.
        """
        with self._lock:
            if self._file is None or self._rows is None or not self._changed:
                return
            try:
                _replace(self._file, _pack(self._keys, self._rows, self._embedder))
            except OSError as error:
                raise CacheError(f"cannot write {self._file}: {error.strerror}", hint="set cache_dir") from error
            self._changed = False

    def _append(self, keys: list[str], rows: HalfMatrix) -> None:
        if self._rows is not None and rows.shape[1] != self._rows.shape[1]:
            raise ValueError(f"vectors of {rows.shape[1]} dimensions in an index of {self._rows.shape[1]}")
        self._rows = rows if self._rows is None else np.concatenate([self._rows, rows])
        self._keys = self._keys + keys  # a new list: a search may still read the old one
        self._known.update(keys)
        self._changed = True


def _pack(keys: Sequence[str], rows: HalfMatrix, embedder: str) -> bytes:
    """A JSON line, the keys as a JSON line, the rows; the first line vouches for the other two."""
    body = json.dumps(keys).encode() + b"\n" + rows.astype("<f2").tobytes()
    head = _Head(FORMAT, embedder, rows.shape[1], hashlib.sha256(body).hexdigest())
    return msgspec.json.encode(head) + b"\n" + body


def _unpack(data: bytes, embedder: str) -> tuple[list[str], HalfMatrix]:
    """Keys and rows; raises ValueError or MsgspecError where the bytes are not what `_pack` made for this embedder."""
    line, _, body = data.partition(b"\n")
    head = msgspec.json.decode(line, type=_Head)
    if head != _Head(FORMAT, embedder, head.size, hashlib.sha256(body).hexdigest()) or head.size < 1:
        raise ValueError("not this index")
    table, _, rest = body.partition(b"\n")
    keys, rows = json.loads(table), np.frombuffer(rest, dtype="<f2")
    if not (isinstance(keys, list) and all(isinstance(key, str) for key in keys)):
        raise ValueError("keys are texts")
    if not np.isfinite(rows).all():
        raise ValueError("a vector is no vector")
    return keys, rows.reshape(len(keys), head.size).astype(np.float16)


def _replace(file: Path, data: bytes) -> None:
    claim(file.parent)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".new")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
