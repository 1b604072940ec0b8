"""A cache that is written behind: who puts something into it does not wait until that is on disk, or on a server.

A hop of a walk is over once its replies are read; what was read is kept meanwhile, in a thread of its own.
"""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from fedkg.cache.entries import Entry
from fedkg.cache.fallback import FallbackStore
from fedkg.cache.store import Store

__all__ = ["WriteBehindStore"]

MOST_WAITING, MOST_BYTES = 10_000, 64 << 20
"""Entries that may wait to be written, and bytes of their values; whoever puts more waits for them."""

GATHERED = 0.1
"""Seconds that what is put waits for more: the replies of one wave are read before one of them is written, which would
take processor and interpreter from the others."""

log = logging.getLogger(__name__)


class WriteBehindStore(Store):
    """A Store whose `put_entries` returns at once; `store` is written in the order of the calls, by one thread.

    What waits to be written is read from memory: this process sees no difference, others see it a little later. All
    other methods wait until everything is written. A process that ends writes what waits before.
    """

    def __init__(self, store: FallbackStore) -> None:
        self._store = store
        self._writer = ThreadPoolExecutor(1, "fedkg-cache")
        self._waiting: dict[tuple[str, str], Entry] = {}
        self._gathered: list[tuple[str, dict[str, Entry]]] = []
        self._bytes = 0
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._hurried = threading.Event()

    @property
    def at_hand(self) -> bool:
        """Whether the other store is."""
        return self._store.at_hand

    @property
    def writes_at_once(self) -> bool:
        """Whether `put_entries` does not wait: where not too much is waiting already."""
        return self.waiting < MOST_WAITING and self._bytes < MOST_BYTES

    @property
    def failed(self) -> bool:
        """Whether the other store has ever failed."""
        return self._store.failed

    @property
    def waiting(self) -> int:
        """How many entries wait to be written."""
        return len(self._waiting)

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale. Raises what the other store raises."""
        # first what waits: it leaves memory once the other store has it
        waiting = {key: entry for key in keys if (entry := self._waiting.get((namespace, key)))}
        missing = [key for key in keys if key not in waiting] if waiting else keys
        kept = self._store.entries(namespace, missing) if missing else {}
        return {key: entry for key in keys if (entry := waiting.get(key) or kept.get(key))} if waiting else kept

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are, soon."""
        if not self.writes_at_once:
            self.flush()
        written = dict(entries)
        with self._lock:
            self._waiting |= {(namespace, key): entry for key, entry in written.items()}
            self._bytes += _size(written)
            self._gathered.append((namespace, written))
            first = len(self._gathered) == 1
        if first:
            self._write_soon()

    def flush(self) -> None:
        """Returns once everything is written that was put before."""
        self._hurried.set()
        with contextlib.suppress(RuntimeError):  # closed: everything is
            self._writer.submit(self._write_gathered, 0.0).result()  # the thread writes in order
        self._hurried.clear()

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place; returns it. `change` may be called several times."""
        self.flush()
        return self._store.update(namespace, key, change)

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these."""
        self.flush()
        self._store.drop(namespace, keys)

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        self.flush()
        return self._store.count()

    def size(self) -> int:
        """Bytes of all."""
        self.flush()
        return self._store.size()

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        self.flush()
        return self._store.clear(namespace)

    def close(self) -> None:
        """Writes what waits, and closes the other store."""
        self._hurried.set()
        self._writer.shutdown()
        self._store.close()

    def _write_soon(self) -> None:
        try:
            self._writer.submit(self._write_gathered, GATHERED)
        except RuntimeError:  # closed, or the interpreter ends: from then on nothing is written behind
            self._write_gathered(0.0)

    def _write_gathered(self, seconds: float) -> None:
        """Writes what is there after so many seconds, or as soon as somebody waits for it."""
        self._hurried.wait(seconds)
        with self._writing:  # in the order of the calls, also where somebody else writes than the thread
            with self._lock:
                gathered, self._gathered = self._gathered, []
            for namespace, entries in gathered:
                self._write(namespace, entries)

    def _write(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        try:
            self._store.put_entries(namespace, entries)
        except Exception:
            log.exception("%d entries (%s) are not kept", len(entries), namespace)
        with self._lock:
            self._bytes -= _size(entries)
            for key, entry in entries.items():
                if self._waiting.get((namespace, key)) is entry:
                    del self._waiting[namespace, key]


def _size(entries: Mapping[str, Entry]) -> int:
    """Bytes of the values."""
    return sum(len(entry.value) for entry in entries.values())
