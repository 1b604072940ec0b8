"""Bytes on disk: the cache of replies, labels and embeddings.

diskcache does the work (one SQLite file, safe for several threads and processes). It would unpickle whatever lies in its
table, and open or delete whatever file a row names; that hands code execution to anyone who can write the file
(CVE-2025-69872). So its Disk is replaced by one that knows bytes inside the table and nothing else.

A cache may be slow, full or damaged without harm to an answer: what cannot be read is a miss, what cannot be written is
not kept, and a warning is logged.
"""

import contextlib
import logging
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import diskcache

from fedkg.errors import SettingsError

__all__ = ["DiskStore", "MemoryStore", "Store"]

GIGABYTE = 1 << 30
SECONDS = 60.0  # that another process may hold the file

log = logging.getLogger(__name__)


class Store(Protocol):
    """Keeps bytes under a namespace and a key, for a number of seconds."""

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and not expired."""
        ...

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values; `seconds` = None keeps them until they are cleared."""
        ...

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value (None: there is none) in its place, while nobody else can; returns it."""
        ...

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        ...

    def size(self) -> int:
        """Bytes on disk or in memory."""
        ...

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        ...


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache ships no types
    """A diskcache Disk without pickle and without files: str keys, zlib-compressed bytes, everything else is refused."""

    def put(self, key: Any) -> tuple[str, bool]:
        """The key as it lies in the table."""
        if not isinstance(key, str):
            raise TypeError("keys are text")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        """The key that lies in the table; "" for one that fedkg did not write (ours hold a namespace)."""
        return key if raw and isinstance(key, str) else ""

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> tuple[int, int, None, bytes]:
        """The columns size (0: inside the table), mode, file name and value."""
        if read or not isinstance(value, bytes):
            raise TypeError("values are bytes")
        return 0, diskcache.core.MODE_RAW, None, zlib.compress(value, 1)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        """The value of a row. Raises ValueError where fedkg did not write it."""
        if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise ValueError("the cache holds a value that fedkg did not write")
        try:
            return zlib.decompress(value)
        except zlib.error as error:
            raise ValueError("the cache holds a damaged value") from error

    def remove(self, file_path: str) -> None:
        """Nothing: no value of ours has a file, and a row that names one must not have it deleted."""


class DiskStore:
    """A Store in one folder; one folder may be shared by several processes.

    The file lies in `store/` inside `folder`, which only the user can enter (mode 0700); `folder` itself may be one that
    others use too. Nothing is evicted silently: the store grows to `size_limit` bytes, then drops the oldest entries. A
    damaged file is moved aside, to `store.damaged/`. Raises SettingsError where the folder cannot be used.
    """

    def __init__(self, folder: Path, size_limit: int = 4 * GIGABYTE) -> None:
        place = folder / "store"
        try:
            self._cache = _open(place, size_limit)
        except (OSError, sqlite3.OperationalError, diskcache.Timeout) as error:
            raise SettingsError(f"the cache cannot be kept in {place}: {error}", hint="set cache_dir") from error
        except sqlite3.DatabaseError as error:
            log.warning("the cache in %s is damaged (%s) and starts anew", place, error)
            shutil.rmtree(aside := place.with_suffix(".damaged"), ignore_errors=True)
            place.rename(aside)
            self._cache = _open(place, size_limit)

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and not expired; a value that fedkg did not write is dropped and not returned."""
        found = {}
        with _forgiving("read"):
            for key in keys:
                value = self._read(_name(namespace, key))
                if value is not None:
                    found[key] = value
        return found

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values, all or none."""
        with _forgiving("written"), self._cache.transact():
            for key, value in values.items():
                self._cache.set(_name(namespace, key), value, expire=seconds)

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place, while no other thread or process can; returns it."""
        name = _name(namespace, key)
        with _forgiving("written"), self._cache.transact():
            value = change(self._read(name))
            self._cache.set(name, value)
            return value
        return change(None)

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return _count(iter(self._cache))

    def size(self) -> int:
        """Bytes on disk."""
        return int(self._cache.volume())

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        if namespace is None:
            return int(self._cache.clear())
        return sum(bool(self._cache.delete(name)) for name in self._cache if name.startswith(f"{namespace}\n"))

    def close(self) -> None:
        """Closes the file."""
        self._cache.close()

    def _read(self, name: str) -> bytes | None:
        try:
            value: bytes | None = self._cache.get(name)
        except ValueError:
            self._cache.delete(name)
            return None
        return value


def _open(place: Path, size_limit: int) -> Any:
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    place.chmod(0o700)
    return diskcache.Cache(
        str(place), timeout=SECONDS, disk=BytesDisk, size_limit=size_limit, eviction_policy="least-recently-stored"
    )


def _name(namespace: str, key: str) -> str:
    """The key in the table; SQLite takes no lone surrogates, endpoints do send them."""
    return f"{namespace}\n{key}".encode(errors="backslashreplace").decode()


@contextlib.contextmanager
def _forgiving(done: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, diskcache.Timeout) as error:
        log.warning("the cache could not be %s: %s", done, str(error) or type(error).__name__)


class MemoryStore:
    """A Store that forgets everything with the process."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], tuple[bytes, float]] = {}

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and not expired."""
        now = time.monotonic()
        rows = ((key, self._values.get((namespace, key))) for key in keys)
        return {key: row[0] for key, row in rows if row and row[1] > now}

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values."""
        end = float("inf") if seconds is None else time.monotonic() + seconds
        self._values.update({(namespace, key): (value, end) for key, value in values.items()})

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place; returns it."""
        value = change(self.get_many(namespace, [key]).get(key))
        self.put_many(namespace, {key: value})
        return value

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return _count("\n".join(key) for key in list(self._values))

    def size(self) -> int:
        """Bytes in memory."""
        return sum(len(value) for value, _ in list(self._values.values()))

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        gone = [key for key in list(self._values) if namespace in (None, key[0])]
        for key in gone:
            self._values.pop(key, None)
        return len(gone)


def _count(keys: Iterator[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key in keys:
        namespace, ours, _ = key.partition("\n")
        if ours:
            counts[namespace] = counts.get(namespace, 0) + 1
    return dict(sorted(counts.items()))
