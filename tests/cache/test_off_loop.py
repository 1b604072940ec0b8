"""Stores called from an event loop: what may wait, waits in a thread."""

import threading
from pathlib import Path

from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.cache.off_loop import off_loop


async def test_memory_is_looked_into_at_once() -> None:
    """No thread is started for it, and the value is there."""
    store = MemoryStore()
    await off_loop(store, store.put_many, "n", {"a": b"1"}, 60)
    assert await off_loop(store, store.get_many, "n", ["a"]) == {"a": b"1"}
    assert await off_loop(store, threading.get_ident) == threading.get_ident()


async def test_a_disk_keeps_no_event_loop_waiting(tmp_path: Path) -> None:
    """It is read in another thread than the loop's."""
    store = DiskStore(tmp_path)
    await off_loop(store, store.put_many, "n", {"a": b"1"}, seconds=60)
    assert await off_loop(store, store.get_many, "n", ["a"]) == {"a": b"1"}
    assert await off_loop(store, threading.get_ident) != threading.get_ident()
    store.close()
