"""A cache in memory: gone with the process."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from fedkg.cache.entries import Entry, by_namespace, fresh_value
from fedkg.cache.store import Store

__all__ = ["MemoryStore"]

MOST_BYTES = 256 << 20
"""Bytes of values that are kept; with their keys they take about half as much again."""


class MemoryStore(Store):
    """A Store that forgets everything with the process; beyond `most` bytes what was put longest ago makes room.

    Several threads may use it.
    """

    at_hand = True
    writes_at_once = True

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        self._values: dict[tuple[str, str], Entry] = {}
        self._lock = threading.RLock()

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale."""
        entries = ((key, self._values.get((namespace, key))) for key in keys)
        return {key: entry for key, entry in entries if entry}

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are."""
        with self._lock:
            for key, entry in entries.items():
                self._drop((namespace, key))
                self._values[namespace, key] = entry
                self._size += len(entry.value)
            while self._size > self._most:
                self._drop(next(iter(self._values)))

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place, while no other thread can; returns it."""
        with self._lock:
            value = change(fresh_value(self._values.get((namespace, key))))
            self.put_many(namespace, {key: value})
        return value

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these."""
        with self._lock:
            for key in keys:
                self._drop((namespace, key))

    @property
    def empty(self) -> bool:
        """Whether there is no entry."""
        return not self._values

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return by_namespace("\n".join(key) for key in list(self._values))

    def size(self) -> int:
        """Bytes in memory."""
        return self._size

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        with self._lock:
            gone = [key for key in self._values if namespace in (None, key[0])]
            for key in gone:
                self._drop(key)
        return len(gone)

    def _drop(self, key: tuple[str, str]) -> None:
        if entry := self._values.pop(key, None):
            self._size -= len(entry.value)
