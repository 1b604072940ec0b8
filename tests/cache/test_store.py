import threading
import time

import pytest

from fedkg.cache.disk import DiskStore
from fedkg.cache.entries import Entry
from fedkg.cache.store import Store


def test_what_was_put_is_got(store: Store) -> None:
    """Values come back under their namespace and key; the rest is left out."""
    store.put_many("a", {"1": b"one", "2": b"", "3": b"\x00" * 100_000})
    store.put_many("b", {"1": b"other"})
    assert store.get_many("a", ["1", "2", "3", "4"]) == {"1": b"one", "2": b"", "3": b"\x00" * 100_000}
    assert store.get_many("b", ["1", "2"]) == {"1": b"other"}
    assert store.get_many("c", ["1"]) == {}


def test_later_values_replace_earlier(store: Store) -> None:
    """A key has one value."""
    store.put_many("a", {"k": b"old"})
    store.put_many("a", {"k": b"new"})
    assert store.get_many("a", ["k"]) == {"k": b"new"}
    assert store.count() == {"a": 1}


def test_values_get_stale_and_stay(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its seconds a value is stale, and still there as an entry; one without a limit stays fresh."""
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    store.put_many("a", {"soon": b"x"}, seconds=10)
    store.put_many("a", {"ever": b"y"})
    assert set(store.get_many("a", ["soon", "ever"])) == {"soon", "ever"}
    monkeypatch.setattr(time, "time", lambda: now + 11)
    assert set(store.get_many("a", ["soon", "ever"])) == {"ever"}
    ever = float("inf")
    assert store.entries("a", ["soon", "ever"]) == {"soon": Entry(b"x", now, now + 10), "ever": Entry(b"y", now, ever)}


def test_a_stale_value_is_none_to_an_update(store: Store) -> None:
    """What is stale is not built upon."""
    store.put_entries("a", {"k": Entry(b"old", 0.0, 1.0)})
    assert store.update("a", "k", lambda value: value or b"new") == b"new"


def test_entries_are_kept_as_they_are(store: Store) -> None:
    """An entry from elsewhere keeps its times."""
    entries = {"1": Entry(b"x", 5.0, 6.0), "2": Entry(b"", 0.0, float("inf"))}
    store.put_entries("a", entries)
    assert store.entries("a", ["1", "2", "3"]) == entries


def test_single_entries_can_be_dropped(store: Store) -> None:
    """Those that are named go, the others stay; one that is not there is no matter."""
    store.put_many("a", {"1": b"x", "2": b"y"})
    store.drop("a", ["1", "3"])
    assert store.get_many("a", ["1", "2"]) == {"2": b"y"}


def test_count_size_and_clear(store: Store) -> None:
    """One namespace can be dropped without the others; names that begin alike are different."""
    store.put_many("a", {"1": b"x", "2": b"y"})
    store.put_many("ab", {"1": b"z"})
    assert store.count() == {"a": 2, "ab": 1}
    assert store.size() > 0
    assert (store.clear("a"), store.count()) == (2, {"ab": 1})
    assert (store.clear("none"), store.clear(), store.count()) == (0, 1, {})


def test_threads_share_one_store(store: Store) -> None:
    """Threads may write and count at once."""
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(50):
                store.put_many(name, {str(number): b"x"})
                store.count()
        except BaseException as error:  # noqa: BLE001  # handed to the test's own thread
            failed.append(error)
        finally:
            if isinstance(store, DiskStore):
                store.close()  # closes this thread's connection

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert store.count() == dict.fromkeys("abcd", 50)
