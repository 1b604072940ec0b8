"""A table that does not grow for ever: what was put longest ago makes room."""

import threading
from collections.abc import Hashable, Iterator, Mapping, MutableMapping
from typing import Generic, TypeVar

__all__ = ["BoundedDict"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedDict(MutableMapping[K, V], Generic[K, V]):
    """A mapping of at most `most` entries; the one that was put longest ago goes first.

    Several threads may use it; they iterate over a `snapshot`.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: dict[K, V] = {}
        self._lock = threading.Lock()

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __setitem__(self, key: K, value: V) -> None:
        with self._lock:
            self._put({key: value})

    def __delitem__(self, key: K) -> None:
        with self._lock:
            del self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self.snapshot())

    def __len__(self) -> int:
        return len(self._entries)

    def keep(self, entries: Mapping[K, V]) -> None:
        """Puts all of these, the last ones first where there are more than there is room for."""
        with self._lock:
            self._put(entries)

    def snapshot(self) -> dict[K, V]:
        """The entries as they are now, in the order in which they were put."""
        with self._lock:
            return dict(self._entries)

    def _put(self, entries: Mapping[K, V]) -> None:
        for key in entries:
            self._entries.pop(key, None)
        self._entries.update(entries)
        surplus = len(self._entries) - self.most
        for key in list(self._entries)[:surplus] if surplus > 0 else ():
            del self._entries[key]
