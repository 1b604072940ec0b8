"""A cache in memory: gone with the process."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from fedkg.cache.entries import Entry, by_namespace, entries_of, fresh_of

__all__ = ["MemoryStore"]


class MemoryStore:
    """A Store that forgets everything with the process."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], Entry] = {}

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and fresh."""
        return fresh_of(self.entries(namespace, keys))

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale."""
        found = ((key, self._values.get((namespace, key))) for key in keys)
        return {key: entry for key, entry in found if entry}

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values."""
        self.put_entries(namespace, entries_of(values, seconds))

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are."""
        self._values.update({(namespace, key): entry for key, entry in entries.items()})

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place; returns it."""
        value = change(self.get_many(namespace, [key]).get(key))
        self.put_many(namespace, {key: value})
        return value

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these."""
        for key in keys:
            self._values.pop((namespace, key), None)

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return by_namespace("\n".join(key) for key in list(self._values))

    def size(self) -> int:
        """Bytes in memory."""
        return sum(len(entry.value) for entry in list(self._values.values()))

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        gone = [key for key in list(self._values) if namespace in (None, key[0])]
        for key in gone:
            self._values.pop(key, None)
        return len(gone)
