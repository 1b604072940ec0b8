"""Bytes on disk: the cache of replies, labels and embeddings.

diskcache does the work (one SQLite file, safe for several processes). It would unpickle whatever lies in its table,
which hands code execution to anyone who can write the file (CVE-2025-69872), so its Disk is replaced by one that stores
and reads bytes only. The folder is private to the user (mode 0700).
"""

import contextlib
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import diskcache

__all__ = ["DiskStore", "MemoryStore", "Store"]

GIGABYTE = 1 << 30


class Store(Protocol):
    """Keeps bytes under a namespace and a key, for a number of seconds."""

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and not expired."""
        ...

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values; `seconds` = None keeps them until they are cleared."""
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
    """A diskcache Disk without pickle: str keys, zlib-compressed bytes values, everything else is refused."""

    def put(self, key: Any) -> tuple[str, bool]:
        if not isinstance(key, str):
            raise TypeError("keys are text")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        if not raw or not isinstance(key, str):
            raise ValueError("the cache holds a key that fedkg did not write")
        return key

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> Any:
        if not isinstance(value, bytes):
            raise TypeError("values are bytes")
        return super().store(zlib.compress(value, 1), False, key=key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        if mode not in (diskcache.core.MODE_RAW, diskcache.core.MODE_BINARY):
            raise ValueError("the cache holds a value that fedkg did not write")
        return zlib.decompress(super().fetch(mode, filename, value, read))


class DiskStore:
    """A Store in one folder; one folder may be shared by several processes.

    Nothing is evicted silently: the store grows to `size_limit` bytes, then drops the oldest entries.
    """

    def __init__(self, folder: Path, size_limit: int = 4 * GIGABYTE) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        self._cache = diskcache.Cache(
            str(folder),
            disk=BytesDisk,
            size_limit=size_limit,
            eviction_policy="least-recently-stored",
            statistics=False,
        )

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and not expired; a value that fedkg did not write is dropped and not returned."""
        found = {}
        for key in keys:
            with contextlib.suppress(ValueError, zlib.error):
                value = self._cache.get(f"{namespace}\n{key}")
                if value is not None:
                    found[key] = value
        return found

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values in one transaction."""
        with self._cache.transact(retry=True):
            for key, value in values.items():
                self._cache.set(f"{namespace}\n{key}", value, expire=seconds, retry=True)

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return _count(self._keys())

    def size(self) -> int:
        """Bytes on disk."""
        return int(self._cache.volume())

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        if namespace is None:
            return int(self._cache.clear(retry=True))
        keys = [key for key in self._keys() if key.split("\n", 1)[0] == namespace]
        return sum(bool(self._cache.delete(key, retry=True)) for key in keys)

    def close(self) -> None:
        """Closes the file."""
        self._cache.close()

    def _keys(self) -> Iterator[str]:
        return iter(self._cache)


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

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return _count("\n".join(key) for key in self._values)

    def size(self) -> int:
        """Bytes in memory."""
        return sum(len(value) for value, _ in self._values.values())

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        gone = [key for key in self._values if namespace in (None, key[0])]
        for key in gone:
            del self._values[key]
        return len(gone)


def _count(keys: Iterator[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key in keys:
        namespace = key.split("\n", 1)[0]
        counts[namespace] = counts.get(namespace, 0) + 1
    return dict(sorted(counts.items()))
