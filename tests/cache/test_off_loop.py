"""Stores called from an event loop: what may wait, waits in a thread."""

import threading
from collections.abc import Sequence
from pathlib import Path

from fedkg.cache.disk import DiskStore
from fedkg.cache.entries import Entry
from fedkg.cache.fallback import FallbackStore
from fedkg.cache.journal import RecordingStore
from fedkg.cache.memory import MemoryStore
from fedkg.cache.off_loop import at_once, look_up, off_loop


async def test_memory_is_looked_into_at_once() -> None:
    """No thread is started for it, and the value is there."""
    store = MemoryStore()
    await off_loop(store, store.put_many, "n", {"a": b"1"}, 60)
    assert await look_up(store, "n", ["a"]) == {"a": b"1"}
    assert await off_loop(store, threading.get_ident) == threading.get_ident()


async def test_a_disk_keeps_no_event_loop_waiting(tmp_path: Path) -> None:
    """It is written in another thread than the loop's, and a few of its rows are read at once, many in a thread."""
    store = DiskStore(tmp_path)
    await off_loop(store, store.put_many, "n", {"a": b"1"}, seconds=60)
    assert await look_up(store, "n", ["a"]) == {"a": b"1"}
    assert await look_up(store, "n", ["a", *map(str, range(1_000))]) == {"a": b"1"}
    assert await off_loop(store, threading.get_ident) != threading.get_ident()
    recorded = RecordingStore(FallbackStore(store))
    assert at_once(recorded, ["a"])
    assert not at_once(recorded, list(map(str, range(1_000))))
    store.close()


async def test_a_server_is_looked_up_in_a_thread() -> None:
    """A store that does not say otherwise is not at hand, whatever is asked of it."""
    seen = set()

    class Server(MemoryStore):
        at_hand = False

        def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
            seen.add(threading.get_ident())
            return super().entries(namespace, keys)

    assert await look_up(Server(), "n", ["a"]) == {}
    assert seen
    assert threading.get_ident() not in seen
