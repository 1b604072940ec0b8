"""A label index on disk: the m nearest of all labels that one endpoint has shown, up to millions.

It serves the keyword-driven global search for the entities E_m and relations R_m (FiDeLiS v4 section 3.1). Vectors are
kept in half precision, and USearch compares with them. New ones go to the end of a log, `row_log`, all of which is
compared; once it is long they move to a file that is grouped by cells, `grouped_rows`, of which the nearest are. There
is one writer at a time, by a lock; it takes nothing away from those who read meanwhile, and they see what it has added
at their next search. A process that is killed while it writes loses what it was adding, and nothing else.

USearch's own index, a graph of neighbours (HNSW), is not used: it would be read from its file without a check, so that
a damaged or forged one ends the process; it holds all vectors in memory; and each addition costs it more than a search.
"""

import contextlib
import hashlib
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from fedkg.cache.folders import claim
from fedkg.embed.base import Matrix
from fedkg.embed.cosine import HalfMatrix, cosines
from fedkg.embed.grouped_rows import LONGEST_KEY, Digests, GroupedRows, Hit, best, digests, group
from fedkg.embed.row_log import RowLog
from fedkg.errors import CacheError

__all__ = ["VectorIndex"]

log = logging.getLogger(__name__)

LOG_ROWS = 16_384
"""Rows of a log that is regrouped: comparing with so many takes a millisecond or two."""


class VectorIndex:
    """Keys with their vectors, searched by cosine; kept in `file` and a log beside it, in memory where there is none.

    `embedder` names what made the vectors: files written for another one, missing and damaged files give an empty
    index, since labels can be embedded again. A key stands for one vector: `add` skips keys that are there. With
    `read_only` what is added stays in memory. Safe to use from several threads and processes.
    """

    def __init__(self, file: Path | None, embedder: str = "", *, read_only: bool = False) -> None:
        self._file = file
        self._embedder = embedder
        self._read_only = read_only or file is None
        self._lock = threading.RLock()
        self._grouped: GroupedRows | None = None
        self._state: tuple[int, ...] | None = None
        self._known: Digests | None = None
        self._log = self._begun_log()
        self._memory = RowLog(None)
        self._refresh()

    def __len__(self) -> int:
        with self._lock:
            self._refresh()
            grouped = len(self._grouped) if self._grouped else 0
            return grouped + len(self._log.keys) + len(self._memory.keys)

    @property
    def size(self) -> int | None:
        """The dimensions d of the vectors; None where there is none yet."""
        with self._lock:
            self._refresh()
            return self._size()

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that are not there, in their order, each once; a key of more than 64 kB is never wanted."""
        with self._lock:
            self._refresh()
            return self._missing(keys)

    def clear(self) -> None:
        """Forgets all keys and vectors, and removes the files. Raises CacheError where that is not possible."""
        with self._lock, self._writing():
            if self._read_only:
                self._file = None  # what it holds is not wanted, and stays
            elif self._file:
                self._file.unlink(missing_ok=True)
                self._remove_logs(self._file)
            self._grouped, self._state = None, None
            self._log, self._memory = self._begun_log(), RowLog(None)

    def add(self, keys: Sequence[str], vectors: Matrix | HalfMatrix) -> int:
        """Adds the keys that are not there yet, with their rows of `vectors` (shape (len(keys), d)); returns how many.

        They are in the file when it returns; rows that are not finite are left out. Raises ValueError where the shape
        does not fit the keys or the vectors that are there, CacheError where the folder cannot be written.
        """
        if vectors.ndim != 2 or len(vectors) != len(keys):
            raise ValueError(f"{len(keys)} keys with vectors of shape {vectors.shape}")
        with self._lock, self._writing():
            self._refresh()
            places: dict[str, int] = {}
            for place, key in enumerate(keys):
                places.setdefault(key, place)
            halves = np.asarray(vectors, dtype=np.float16)
            new = [key for key in self._missing(list(places)) if np.isfinite(halves[places[key]]).all()]
            if new:
                if self._size() not in (None, vectors.shape[1]):
                    raise ValueError(f"vectors of {vectors.shape[1]} dimensions in an index of {self._size()}")
                self._append(new, halves[[places[key] for key in new]])
            return len(new)

    def search(self, vector: Matrix | HalfMatrix, m: int) -> list[Hit]:
        """The m keys nearest to `vector` (shape (d,)) with their cosine to it, the nearest first; equal ones by key.

        Of more than some ten thousand a few of the m may be others. Raises ValueError for another d.
        """
        with self._lock:
            self._refresh()
            grouped, size = self._grouped, self._size()
            logs = [(part.keys, part.rows) for part in (self._log, self._memory) if part.rows is not None]
        if size is None or m < 1:
            return []
        if vector.shape != (size,):
            raise ValueError(f"a vector of shape {vector.shape} in an index of {size} dimensions")
        half = np.asarray(vector, dtype=np.float16)
        hits = grouped.search(half, m) if grouped else []
        for keys, rows in logs:
            hits += _nearest(half, keys, rows, m)
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:m]

    # ---- what is read ----

    def _refresh(self) -> None:
        """Takes in what the files hold by now; where they cannot be read it stays as it is."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            while (state := _state(self._file)) != self._state:
                self._open(self._file, state)
            self._log.refresh()

    def _open(self, file: Path, state: tuple[int, ...]) -> None:
        self._grouped = None
        try:
            self._grouped = GroupedRows(file, self._embedder) if state else None
        except (ValueError, msgspec.MsgspecError) as error:
            log.info("%s starts anew: %s", file, error)
        self._state = state
        self._log = self._begun_log()

    def _size(self) -> int | None:
        return self._log.size or self._memory.size

    def _missing(self, keys: Sequence[str]) -> list[str]:
        known = self._log, self._memory
        new = [
            key for key in dict.fromkeys(keys) if len(key) <= LONGEST_KEY // 4 and not any(key in log for log in known)
        ]
        if not (self._grouped and new):
            return new
        if self._known is None:
            self._known = self._grouped.known()
        sought = digests([key.encode(errors="surrogatepass") for key in new])
        places = np.minimum(np.searchsorted(self._known, sought), len(self._known) - 1)
        return [key for key, there in zip(new, (self._known[places] == sought).tolist(), strict=True) if not there]

    # ---- what is written ----

    def _append(self, keys: list[str], rows: HalfMatrix) -> None:
        if self._file is None or self._read_only:
            self._memory.append(keys, rows)
            return
        self._log.append(keys, rows)
        if len(self._log.keys) >= LOG_ROWS:
            self._regroup(self._file)

    def _regroup(self, file: Path) -> None:
        """Moves what the log holds to the grouped file, whose new token names a new log."""
        assert self._log.rows is not None
        for left in file.parent.glob(f"{file.name}*.new"):  # of a process that was killed
            left.unlink(missing_ok=True)
        try:
            group(file, self._embedder, self._grouped, self._log.keys, self._log.rows)
        except ValueError as error:
            log.info("%s starts anew: %s", file, error)
            group(file, self._embedder, None, self._log.keys, self._log.rows)
        self._remove_logs(file)
        self._refresh()

    def _begun_log(self) -> RowLog:
        """The log of what the grouped file does not hold; that of an older one is read no more."""
        self._known = None
        size = self._grouped.size if self._grouped else None
        if self._file is None:
            return RowLog(None, size)
        token = self._grouped.token if self._grouped else ""
        name = hashlib.blake2s(f"{self._embedder}\n{token}".encode(), digest_size=6).hexdigest()
        return RowLog(self._file.with_name(f"{self._file.name}.{name}.log"), size)

    def _remove_logs(self, file: Path) -> None:
        for left in file.parent.glob(f"{file.name}.*.log"):
            left.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Waits until no other process writes. Raises CacheError where the folder cannot be written."""
        if self._file is None or self._read_only:
            yield
            return
        try:
            claim(self._file.parent)
            with _locked(self._file.with_name(f"{self._file.name}.lock")):
                yield
        except OSError as error:
            raise CacheError(f"cannot write {self._file}: {error.strerror}", hint="set cache_dir") from error


def _nearest(vector: HalfMatrix, keys: Sequence[str], rows: HalfMatrix, m: int) -> list[Hit]:
    """The m nearest of a log."""
    scores = cosines(vector, rows)
    return [(keys[place], float(scores[place])) for place in best(scores, m)]


def _state(file: Path) -> tuple[int, ...]:
    """What changes when the file is replaced; nothing where there is none."""
    try:
        state = file.lstat()
    except FileNotFoundError:
        return ()
    return state.st_ino, state.st_size, state.st_mtime_ns


def _locked(file: Path) -> BinaryIO:
    """The lock file, once no other process holds it; it is given back when it is closed, or the process killed."""
    while True:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        stream = os.fdopen(os.open(file, flags, 0o600), "r+b")
        _lock(stream)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(file.lstat(), os.fstat(stream.fileno())):
                return stream
        stream.close()  # who held it has removed it, as `cache clear` does


def _lock(stream: BinaryIO) -> None:
    try:
        import fcntl  # noqa: PLC0415  # Windows has none
    except ImportError:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX)
    except OSError as error:  # a network's file system may have no locks
        log.debug("%s", error)
