"""A cache that is written behind: whoever reads it sees what was put, and nothing that was put is lost."""

import logging
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fedkg.cache import write_behind
from fedkg.cache.disk import DiskStore
from fedkg.cache.entries import Entry
from fedkg.cache.fallback import FallbackStore
from fedkg.cache.write_behind import WriteBehindStore
from fedkg.errors import CacheError

UNCLOSED = """
import sys
from pathlib import Path
from fedkg.cache.disk import DiskStore
from fedkg.cache.fallback import FallbackStore
from fedkg.cache.write_behind import WriteBehindStore

store = WriteBehindStore(FallbackStore(DiskStore(Path(sys.argv[1]))))
for number in range(20):
    store.put_many("labels", {f"Q{number}": b"universe" * 1000})
"""


class Held(FallbackStore):
    """A store on disk that writes nothing until it is let go."""

    def __init__(self, folder: Path) -> None:
        self.disk = DiskStore(folder)
        self.free = threading.Event()
        self.writers: set[int] = set()
        super().__init__(self.disk)

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Waits, then writes."""
        assert self.free.wait(60)
        self.writers.add(threading.get_ident())
        super().put_entries(namespace, entries)


@pytest.fixture
def held(tmp_path: Path) -> Held:
    """A store that the test lets go."""
    return Held(tmp_path)


def test_what_waits_is_read(held: Held) -> None:
    """What was put is there before it is written, beside what was written before; the latest value counts."""
    held.disk.put_many("n", {"a": b"0", "b": b"2"})
    store = WriteBehindStore(held)
    store.put_many("n", {"a": b"old"})
    store.put_many("n", {"a": b"1"})
    assert store.get_many("n", ["a", "b", "c"]) == {"a": b"1", "b": b"2"}
    assert store.get_many("other", ["a"]) == {}
    assert held.disk.get_many("n", ["a"]) == {"a": b"0"}
    assert store.waiting == 1
    held.free.set()
    store.flush()
    assert held.disk.get_many("n", ["a", "b"]) == {"a": b"1", "b": b"2"}
    assert store.waiting == 0
    store.close()


def test_one_thread_writes(held: Held) -> None:
    """Whoever puts something does not write it: one other thread does."""
    held.free.set()
    store = WriteBehindStore(held)
    for number in range(5):
        store.put_many("n", {str(number): b"1"})
    store.flush()
    assert len(held.writers) == 1
    assert threading.get_ident() not in held.writers
    store.close()


def test_what_is_put_waits_for_more(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replies of a wave are not slowed down by the writing of one, and whoever waits for the writing hurries it."""
    monkeypatch.setattr(write_behind, "GATHERED", 3600.0)
    held.free.set()
    store = WriteBehindStore(held)
    for number in range(3):
        store.put_many("n", {str(number): b"1"})
    assert store.waiting == 3
    store.flush()
    assert held.disk.count() == {"n": 3}
    store.put_many("n", {"late": b"1"})
    assert store.waiting == 1
    store.close()


def test_all_else_comes_after_what_waits(held: Held) -> None:
    """An update sees what was put before, and what is dropped, counted or cleared has been written."""
    held.free.set()
    store = WriteBehindStore(held)
    store.put_many("n", {"a": b"1"})
    assert store.update("n", "a", lambda value: (value or b"") + b"2") == b"12"
    store.put_many("n", {"b": b"1"})
    assert store.count() == {"n": 2}
    assert store.size() > 0
    store.put_many("n", {"c": b"1"})
    store.drop("n", ["c"])
    assert store.get_many("n", ["a", "b", "c"]) == {"a": b"12", "b": b"1"}
    store.put_many("n", {"c": b"1"})
    assert store.clear() == 3
    assert store.get_many("n", ["c"]) == {}
    store.close()


@pytest.mark.parametrize(("limit", "most"), [("MOST_WAITING", 2), ("MOST_BYTES", 4)])
def test_too_much_waits_for_its_turn(held: Held, monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    """With as many entries waiting as may, or as many bytes, the next is put once they are written."""
    monkeypatch.setattr(write_behind, limit, most)
    store = WriteBehindStore(held)
    store.put_many("n", {"a": b"1"})
    assert store.writes_at_once
    store.put_many("n", {"b": b"123"})
    assert not store.writes_at_once
    threading.Timer(0.01, held.free.set).start()
    store.put_many("n", {"c": b"1"})
    assert held.disk.get_many("n", ["a", "b"]) == {"a": b"1", "b": b"123"}
    store.flush()
    assert store.writes_at_once
    store.close()


def test_a_closed_store_has_written_all(held: Held, tmp_path: Path) -> None:
    """Closing waits for the writes; what is put later is written at once, as by a walk that ends after its session."""
    store = WriteBehindStore(held)
    store.put_many("n", {"a": b"1"})
    held.free.set()
    store.close()
    store.put_many("n", {"b": b"2"})
    store.flush()
    later = DiskStore(tmp_path)
    assert later.get_many("n", ["a", "b"]) == {"a": b"1", "b": b"2"}
    later.close()
    store.close()


def test_what_is_put_last_is_written_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing is written behind any more while the thread is still writing, as when a session closes."""
    begun, free = threading.Event(), threading.Event()

    class Slow(FallbackStore):
        def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
            if entries["a"].value == b"old":
                begun.set()
                assert free.wait(60)
            super().put_entries(namespace, entries)

    def refused(*_of: object) -> None:
        raise RuntimeError

    store = WriteBehindStore(memory := Slow(CacheError("no disk")))
    store.put_many("n", {"a": b"old"})
    assert begun.wait(60)
    monkeypatch.setattr(ThreadPoolExecutor, "submit", refused)
    later = threading.Thread(target=store.put_many, args=("n", {"a": b"new"}))
    later.start()
    later.join(0.1)
    free.set()
    later.join()
    monkeypatch.undo()
    store.flush()
    assert memory.get_many("n", ["a"]) == {"a": b"new"}
    store.close()


def test_a_process_that_ends_writes_what_waits(tmp_path: Path) -> None:
    """Nothing is lost by a program that never closes its store."""
    subprocess.run([sys.executable, "-c", UNCLOSED, str(tmp_path)], check=True)
    store = DiskStore(tmp_path)
    assert store.count() == {"labels": 20}
    store.close()


def test_a_write_that_fails_is_told(held: Held, caplog: pytest.LogCaptureFixture) -> None:
    """What no store is prepared for is in the log, and the next write goes on."""
    held.free.set()
    store = WriteBehindStore(held)
    with caplog.at_level(logging.ERROR):
        store.put_entries("n", {"a": Entry("no bytes", 0.0, 0.0)})  # type: ignore[arg-type]
        store.put_many("n", {"b": b"1"})
        store.flush()
    assert "1 entries (n) are not kept" in caplog.text
    assert store.get_many("n", ["a", "b"]) == {"b": b"1"}
    assert not store.failed
    store.close()
