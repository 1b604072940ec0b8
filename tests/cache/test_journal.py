"""What a session notes of the cache, and what each mode lets it see."""

import time

import pytest

from fedkg.cache.entries import Entry
from fedkg.cache.journal import MOST, Journal, RecordingStore
from fedkg.cache.memory import MemoryStore
from fedkg.errors import PackError

EVER = float("inf")


@pytest.fixture
def store() -> MemoryStore:
    """A store with a stale, a fresh and a lasting value."""
    store = MemoryStore()
    now = time.time()
    kept = {"stale": Entry(b"1", 1.0, 2.0), "fresh": Entry(b"2", 1.0, now + 900), "ever": Entry(b"3", 1.0, EVER)}
    store.put_entries("n", kept)
    return store


KEYS = ["stale", "fresh", "ever", "none"]


def test_live_sees_what_is_fresh(store: MemoryStore) -> None:
    """A stale value is a miss."""
    assert set(RecordingStore(store).get_many("n", KEYS)) == {"fresh", "ever"}


@pytest.mark.parametrize("mode", ["cached", "offline"])
def test_other_modes_see_what_is_stale_too(store: MemoryStore, mode: str) -> None:
    """A stale value is better than a request, or than nothing."""
    assert set(RecordingStore(store, mode).get_many("n", KEYS)) == {"stale", "fresh", "ever"}  # type: ignore[arg-type]  # it is one


def test_refresh_sees_what_it_wrote_itself(store: MemoryStore) -> None:
    """What was kept before is hidden, apart from what never gets stale; what comes now is kept and seen."""
    recorder = RecordingStore(store, "cached", refresh=True)
    assert set(recorder.get_many("n", KEYS)) == {"ever"}
    recorder.put_many("n", {"fresh": b"new"}, 10)
    assert recorder.get_many("n", KEYS) == {"fresh": b"new", "ever": b"3"}
    assert set(recorder.entries("n", KEYS)) == {"fresh", "ever"}
    assert store.get_many("n", ["fresh"]) == {"fresh": b"new"}


def test_a_run_is_what_was_read_and_written(store: MemoryStore) -> None:
    """Hits and writes are noted with their namespace; misses are not, nor what was not looked at."""
    recorder = RecordingStore(store)
    recorder.get_many("n", ["fresh", "none", "stale"])
    recorder.put_many("m", {"b": b"", "a\ud800": b""})
    recorder.update("k", "c", lambda _: b"x")
    recorder.keep(["Who?"])
    [run] = Journal(store).all()
    assert (run.asked, run.entries) == (("Who?",), 4)
    assert Journal(store).keys(run.id) == {"n": ["fresh"], "m": ["a\\ud800", "b"], "k": ["c"]}


def test_what_a_run_has_dropped_is_no_part_of_it(store: MemoryStore) -> None:
    """Otherwise its pack could not be written."""
    recorder = RecordingStore(store)
    recorder.put_many("n", {"a\ud800": b"", "b": b""})
    recorder.get_many("n", ["fresh"])
    recorder.drop("n", iter(["a\ud800", "fresh", "none"]))
    recorder.keep(["Who?"])
    [run] = Journal(store).all()
    assert Journal(store).keys(run.id) == {"n": ["b"]}
    assert set(store.entries("n", KEYS)) == {"stale", "ever"}
    gone = RecordingStore(store)
    gone.put_many("n", {"c": b""})
    gone.drop("n", ["c"])
    gone.keep(["Who?"])
    assert Journal(store).all() == [run]


def test_a_run_that_touched_nothing_is_not_kept(store: MemoryStore) -> None:
    """Looking for what is not there leaves no trace."""
    recorder = RecordingStore(store)
    recorder.get_many("n", ["none"])
    recorder.keep(["Who?"])
    assert Journal(store).all() == []


def test_the_oldest_runs_are_forgotten() -> None:
    """The last fifty stay, in their order, and nothing of the others."""
    store = MemoryStore()
    made = [Journal(store).add([f"question {number}"], {"n": ["k"]}) for number in range(MOST + 3)]
    assert Journal(store).all() == made[3:]
    assert store.count() == {"runs": MOST + 1}
    with pytest.raises(PackError, match=made[0].id):
        Journal(store).keys(made[0].id)


def test_long_lists_of_questions_are_cut() -> None:
    """A benchmark's thousand questions are not all shown."""
    run = Journal(MemoryStore()).add(["x" * 1_000] * 1_000, {})
    assert sum(map(len, run.asked)) <= 4_000


def test_what_was_asked_may_be_no_text() -> None:
    """A command line may hold bytes that are none; they are noted by their escapes."""
    store = MemoryStore()
    assert Journal(store).add(["search \udcff"], {"n": ["k"]}).asked == ("search \\udcff",)
    assert len(Journal(store).all()) == 1


def test_very_many_entries_are_not_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in memory nor on disk, from the bound on; the run is listed, and says why it cannot be packed."""
    monkeypatch.setattr("fedkg.cache.journal.MOST_TOUCHED", 10)
    for number, entries in ((10, 10), (30, None)):
        store = MemoryStore()
        recorder = RecordingStore(store)
        for part in range(number):
            recorder.put_many(f"n{part % 2}", {str(part): b""})
        assert sum(map(len, recorder._touched.values())) <= 11
        recorder.keep(["Who?"])
        [run] = Journal(store).all()
        assert run.entries == entries
    assert store.count()["runs"] == 1
    with pytest.raises(PackError, match="more than 10 entries") as caught:
        Journal(store).keys(run.id)
    assert "--run" in caught.value.hint


@pytest.mark.parametrize("name", ["index", "20000101-000000-0000", ""])
def test_a_run_that_is_not_known(store: MemoryStore, name: str) -> None:
    """Names that no run has are bad input."""
    Journal(store).add([], {"n": ["k"]})
    with pytest.raises(PackError, match="no run is called"):
        Journal(store).keys(name)


def test_a_damaged_list_of_runs_is_empty(store: MemoryStore) -> None:
    """What nobody can read is no run, and the next one starts a new list."""
    store.put_many("runs", {"index": b"{"})
    assert Journal(store).all() == []
    run = Journal(store).add([], {})
    assert Journal(store).all() == [run]


def test_the_rest_is_the_store_s(store: MemoryStore) -> None:
    """Counts, sizes and clearing are those of the store behind."""
    recorder = RecordingStore(store)
    recorder.put_entries("m", {"k": Entry(b"v", 1.0, EVER)})
    recorder.drop("n", ["stale"])
    assert (recorder.count(), recorder.size()) == ({"m": 1, "n": 2}, 3)
    assert (recorder.clear("m"), recorder.clear()) == (1, 2)


def test_what_was_touched_is_told_at_any_time(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """By namespace; where it is more than is noted, that is an error and no half of it."""
    recorder = RecordingStore(store)
    recorder.get_many("n", ["fresh", "none"])
    assert recorder.touched == {"n": {"fresh"}}
    monkeypatch.setattr("fedkg.cache.journal.MOST_TOUCHED", 2)
    recorder.put_many("m", {"a": b"", "b": b""})
    with pytest.raises(PackError, match="more than 2 entries"):
        _ = recorder.touched
