"""The protocol of a cache: bytes under a namespace and a key."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from fedkg.cache.entries import Entry, entries_of, fresh_of

__all__ = ["LastingStore", "Store"]


class Store(Protocol):
    """Keeps bytes under a namespace and a key, fresh for a number of seconds.

    A subclass has `get_many` and `put_many` from `entries` and `put_entries`. What cannot be read or
    written is a CacheError.
    """

    @property
    def at_hand(self) -> bool:
        """Whether a few entries are looked up in less time than a thread takes to begin: in memory, on a disk here."""
        return False

    @property
    def writes_at_once(self) -> bool:
        """Whether a few entries are put in less time than a thread takes to begin: in memory, or written behind."""
        return False

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and fresh."""
        return fresh_of(self.entries(namespace, keys))

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values; with `seconds` = None they stay fresh for ever."""
        self.put_entries(namespace, entries_of(values, seconds))

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale."""
        ...

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are."""
        ...

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these."""
        ...

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Replaces the value by what `change` makes of it (None: there is none), in one step; returns that."""
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


class LastingStore(Store, Protocol):
    """A Store that outlives the process, in a folder or on a server."""

    @property
    def name(self) -> str:
        """Where it is: the folder, or the server without its password."""
        ...

    def close(self) -> None:
        """Lets go of the file, or of the connections."""
        ...
