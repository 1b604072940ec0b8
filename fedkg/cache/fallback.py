"""A cache that may fail: what it does not take is kept in memory, so that the question is answered all the same.

A dead server, a full disk or an unusable folder costs what would be kept, and no answer. A user of nothing but the
cache (offline mode, the commands of the cache) uses the store itself, or one that is `required`, and is told by a
CacheError.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from fedkg.cache.entries import Entry
from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import LastingStore, Store
from fedkg.errors import CacheError

__all__ = ["FallbackStore"]

PAUSE = 60.0
"""Seconds after which a store that failed is tried again: a try may take as long as the server's time limit."""

Action = Literal["read", "write"]
T = TypeVar("T")

log = logging.getLogger(__name__)


class FallbackStore(Store):
    """A Store that keeps in memory what the lasting one cannot take, for this process alone.

    `store` is the lasting one, or the CacheError that it could not be opened with. Reading and writing are told apart:
    a full disk is still read. What fails is left alone for a minute; the first failure is logged as a warning. With
    `required` a read that fails raises its CacheError.
    """

    def __init__(self, store: LastingStore | CacheError, *, required: bool = False) -> None:
        self._memory = MemoryStore()
        self._lock = threading.Lock()
        self._tried_again_at: dict[Action, float] = {}
        self._required = required
        self._store = None if isinstance(store, CacheError) else store
        self.failed = False
        """Whether the lasting store has ever failed."""
        if isinstance(store, CacheError):
            self._note(store)

    @property
    def at_hand(self) -> bool:
        """Whether the lasting store is, or there is none."""
        return self._store is None or self._store.at_hand

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale. Raises CacheError where the store is required and cannot be read."""
        kept = self._memory.entries(namespace, keys) if not self._memory.empty else {}
        missing = [key for key in keys if key not in kept]
        if missing and (store := self._usable("read")):
            try:
                kept |= store.entries(namespace, missing)
            except CacheError as error:
                if self._required:
                    raise
                self._failed("read", error)
        return {key: kept[key] for key in keys if key in kept}

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are."""
        self._write(namespace, entries, lambda store: store.put_entries(namespace, entries))

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place; returns it. `change` may be called several times."""

        def changed(store: Store) -> bytes:
            if store is self._memory:
                with contextlib.suppress(CacheError):  # what cannot be read either starts anew
                    store.put_entries(namespace, self.entries(namespace, [key]))
            return store.update(namespace, key, change)

        return self._write(namespace, [key], changed)

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these; a lasting store that cannot be written keeps them."""
        gone = list(keys)
        self._write(namespace, gone, lambda store: store.drop(namespace, gone))

    def count(self) -> dict[str, int]:
        """Entries by namespace, as `size` and `clear` of the lasting store where there is one. Raises CacheError."""
        return (self._store or self._memory).count()

    def size(self) -> int:
        """Bytes of all."""
        return (self._store or self._memory).size()

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        self._memory.clear(namespace)
        return self._store.clear(namespace) if self._store else 0

    def close(self) -> None:
        """Lets go of the lasting store, and of what is in memory."""
        self._memory.clear()
        if self._store:
            self._store.close()

    def _usable(self, action: Action) -> LastingStore | None:
        """The lasting store, unless it has failed at this a moment ago."""
        return self._store if time.monotonic() >= self._tried_again_at.get(action, float("-inf")) else None

    def _write(self, namespace: str, keys: Iterable[str], write: Callable[[Store], T]) -> T:
        """What `write` returns for the lasting store, or for memory where that cannot be written."""
        if store := self._usable("write"):
            try:
                result = write(store)
            except CacheError as error:
                self._failed("write", error)
            else:
                self._memory.drop(namespace, keys)
                return result
        return write(self._memory)

    def _failed(self, action: Action, error: CacheError) -> None:
        self._tried_again_at[action] = time.monotonic() + PAUSE
        self._note(error)

    def _note(self, error: CacheError) -> None:
        with self._lock:
            if not self.failed:
                self.failed = True
                log.warning("%s; without it nothing is kept beyond this process", error)
