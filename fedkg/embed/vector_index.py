"""A label index on disk: the m nearest of all labels that one endpoint has shown.

It serves the keyword-driven global search for the entities E_m and relations R_m (FiDeLiS v4 section 3.1). USearch does
the work; its index holds numbers only, so the table of keys is kept here, in one file with the index: a crash leaves
the old pair or the new pair, never a mixture.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from usearch.index import Index

from fedkg.errors import CacheError

__all__ = ["VectorIndex"]

Matrix = NDArray[np.float32]

FORMAT = "fedkg label index 1"
# below this size comparing with every vector is fast enough (1 ms) and finds all
EXACT_BELOW = 20_000


class VectorIndex:
    """Keys with their vectors, searched by cosine; kept in `file` once saved, or in memory only where there is none.

    `embedder` names what made the vectors: a file written for another one, a missing and a damaged file all give an
    empty index, since labels can be embedded again. A key stands for one vector: `add` skips keys that are there.
    Vectors are float16 in an HNSW graph (built by one thread, so that the same additions give the same graph). Safe to
    use from several threads; of two processes, the last to save wins.
    """

    def __init__(self, file: Path | None, embedder: str = "") -> None:
        self._file = file
        self._embedder = embedder
        self._lock = threading.Lock()
        self._keys: list[str] = []
        self._index: Index | None = None
        self._changed = False
        with contextlib.suppress(OSError, ValueError, KeyError, RuntimeError):
            if file:
                self._keys, self._index = _unpack(file.read_bytes(), embedder)
        self._known = set(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._known

    @property
    def size(self) -> int | None:
        """The dimensions d of the vectors; None where there is none yet."""
        return self._index.ndim if self._index is not None else None

    def clear(self) -> None:
        """Forgets all keys and vectors; the file stays until `save` writes what is added next."""
        with self._lock:
            self._keys, self._known, self._index, self._changed = [], set(), None, False

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
                self._append(list(places), np.ascontiguousarray(vectors[list(places.values())], dtype=np.float32))
            return len(places)

    def search(self, vector: Matrix, m: int) -> list[tuple[str, float]]:
        """At most m keys with their cosine to `vector` (shape (d,)), the nearest first; equal ones by key.

        Up to 20,000 keys the result is exact, above nearly so (recall about 0.98). Raises ValueError for another d.
        """
        with self._lock:
            if self._index is None or m < 1:
                return []
            if vector.shape != (self._index.ndim,):
                raise ValueError(f"a vector of shape {vector.shape} in an index of {self._index.ndim} dimensions")
            exact = len(self._keys) <= EXACT_BELOW
            matches = self._index.search(np.asarray(vector, dtype=np.float32), min(m, len(self._keys)), exact=exact)
            hits = [
                (self._keys[int(number)], 1.0 - float(distance))
                for number, distance in zip(matches.keys, matches.distances, strict=True)
            ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def save(self) -> None:
        """Writes keys and vectors to the file, in one step; nothing where nothing was added.

        Raises CacheError where the folder cannot be written.
        """
        with self._lock:
            if self._file is None or self._index is None or not self._changed:
                return
            try:
                _replace(self._file, _pack(self._keys, self._index, self._embedder))
            except OSError as error:
                raise CacheError(f"cannot write {self._file}: {error.strerror}", hint="set cache_dir") from error
            self._changed = False

    def _append(self, keys: list[str], rows: Matrix) -> None:
        if self._index is None:
            self._index = Index(ndim=rows.shape[1], metric="cos", dtype="f16")
        if rows.shape[1] != self._index.ndim:
            raise ValueError(f"vectors of {rows.shape[1]} dimensions in an index of {self._index.ndim}")
        first = len(self._keys)
        self._index.add(np.arange(first, first + len(keys), dtype=np.uint64), rows, threads=1)
        self._keys += keys
        self._known.update(keys)
        self._changed = True


def _pack(keys: Sequence[str], index: Index, embedder: str) -> bytes:
    """A JSON line, the keys as a JSON line, the graph; the first line vouches for the other two."""
    body = json.dumps(keys).encode() + b"\n" + bytes(index.save())
    head = {"format": FORMAT, "embedder": embedder, "sha256": hashlib.sha256(body).hexdigest()}
    return json.dumps(head).encode() + b"\n" + body


def _unpack(data: bytes, embedder: str) -> tuple[list[str], Index]:
    """Keys and graph; raises ValueError or KeyError where the bytes are not what `_pack` made for this embedder."""
    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    fits = head == {"format": FORMAT, "embedder": embedder, "sha256": hashlib.sha256(body).hexdigest()}
    if not fits:
        raise ValueError("not this index")
    table, _, graph = body.partition(b"\n")
    keys, index = json.loads(table), Index.restore(graph)
    if index is None or len(index) != len(keys):
        raise ValueError("keys and graph differ")
    return keys, index


def _replace(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
