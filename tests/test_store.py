import logging
import pickle
import random
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.errors import SettingsError
from fedkg.store import DiskStore, MemoryStore, Store

ROOT = Path(__file__).resolve().parents[1]
KEYS = st.text(st.characters(), max_size=8)  # with lone surrogates, line breaks and NUL


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskStore]:
    """A store in a folder of its own."""
    store = DiskStore(tmp_path)
    yield store
    store.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DiskStore]:
    """One store for all examples of a law."""
    store = DiskStore(tmp_path_factory.mktemp("shared"))
    yield store
    store.close()


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, disk: DiskStore) -> Store:
    """Each kind of store in turn."""
    return disk if request.param == "disk" else MemoryStore()


def plant(
    folder: Path,
    *,
    key: object = "ns\nkey",
    raw: int = 1,
    mode: int = 1,
    value: object = b"",
    filename: str | None = None,
) -> None:
    """Writes a row into the store's table behind its back."""
    with sqlite3.connect(folder / "store" / "cache.db") as file:
        file.execute(
            "INSERT OR REPLACE INTO Cache (key, raw, store_time, access_time, mode, filename, value) VALUES (?, ?, 0, 0, ?, ?, ?)",
            (key, raw, mode, filename, value),
        )
    file.close()


class Bomb:
    """Writes a file where it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Path, str]]:
        return Path.write_text, (self.target, "boom")


def test_what_was_put_is_got(store: Store) -> None:
    """Values come back under their namespace and key; the rest is left out."""
    store.put_many("a", {"1": b"one", "2": b"", "3": b"\x00" * 100_000})
    store.put_many("b", {"1": b"other"})
    assert store.get_many("a", ["1", "2", "3", "4"]) == {"1": b"one", "2": b"", "3": b"\x00" * 100_000}
    assert store.get_many("b", ["1", "2"]) == {"1": b"other"}
    assert store.get_many("c", ["1"]) == {}


@given(values=st.dictionaries(KEYS, st.binary(max_size=50), max_size=5))
def test_any_text_is_a_key(shared: DiskStore, values: dict[str, bytes]) -> None:
    """Keys may hold whatever an endpoint sends, even half characters; values any bytes."""
    for store in (MemoryStore(), shared):
        store.put_many("n", values)
        assert store.get_many("n", list(values)) == values


def test_later_values_replace_earlier(store: Store) -> None:
    """A key has one value."""
    store.put_many("a", {"k": b"old"})
    store.put_many("a", {"k": b"new"})
    assert store.get_many("a", ["k"]) == {"k": b"new"}
    assert store.count() == {"a": 1}


def test_values_expire(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its seconds a value is gone; one without a limit stays."""
    store.put_many("a", {"soon": b"x"}, seconds=10)
    store.put_many("a", {"ever": b"y"})
    assert set(store.get_many("a", ["soon", "ever"])) == {"soon", "ever"}
    now, ticks = time.time(), time.monotonic()
    monkeypatch.setattr(time, "time", lambda: now + 11)
    monkeypatch.setattr(time, "monotonic", lambda: ticks + 11)
    assert set(store.get_many("a", ["soon", "ever"])) == {"ever"}


def test_count_size_and_clear(store: Store) -> None:
    """One namespace can be dropped without the others; names that begin alike are different."""
    store.put_many("a", {"1": b"x", "2": b"y"})
    store.put_many("ab", {"1": b"z"})
    assert store.count() == {"a": 2, "ab": 1}
    assert store.size() > 0
    assert (store.clear("a"), store.count()) == (2, {"ab": 1})
    assert (store.clear("none"), store.clear(), store.count()) == (0, 1, {})


def test_disk_outlives_the_process(tmp_path: Path) -> None:
    """What one DiskStore kept, the next one on that folder has."""
    first = DiskStore(tmp_path)
    first.put_many("a", {"k": b"v"})
    first.close()
    second = DiskStore(tmp_path)
    assert second.get_many("a", ["k"]) == {"k": b"v"}
    second.close()


def test_only_text_keys_and_bytes_values(disk: DiskStore) -> None:
    """Anything that would need pickle is refused, and nothing of that batch is kept."""
    with pytest.raises(TypeError, match="bytes"):
        disk.put_many("a", {"good": b"x", "bad": {"a": "dict"}})  # type: ignore[dict-item]  # that is the point
    assert disk.count() == {}


def test_large_values_stay_inside_the_file(disk: DiskStore, tmp_path: Path) -> None:
    """There are no files beside the database, so no row needs to name one."""
    disk.put_many("a", {"k": bytes(range(256)) * 4_000})
    assert {path.name for path in (tmp_path / "store").rglob("*")} <= {"cache.db", "cache.db-wal", "cache.db-shm"}


def test_a_planted_pickle_is_never_executed(disk: DiskStore, tmp_path: Path) -> None:
    """A row in pickle mode is dropped unread (CVE-2025-69872), as value, in a file and as key."""
    target = tmp_path / "boom"
    bomb = pickle.dumps(Bomb(target))
    (tmp_path / "store" / "bomb.val").write_bytes(bomb)
    plant(tmp_path, mode=4, value=bomb)
    plant(tmp_path, key="ns\nfile", mode=4, filename="bomb.val")
    plant(tmp_path, key=bomb, raw=0)
    disk.put_many("ns", {"own": b"x"})
    assert disk.get_many("ns", ["key", "file", "own"]) == {"own": b"x"}
    assert disk.count() == {"ns": 1}
    assert disk.clear("ns") == 1
    disk.clear()
    assert not target.exists()


def test_a_planted_file_name_is_neither_read_nor_deleted(disk: DiskStore, tmp_path: Path) -> None:
    """A row that names a file of the user's gives nothing away and cannot have it removed."""
    victim = tmp_path / "diary.txt"
    victim.write_text("private")
    for number, mode in enumerate((1, 2, 3, 4)):
        plant(tmp_path, key=f"ns\n{number}", mode=mode, filename="../diary.txt")
    assert disk.get_many("ns", ["0", "1", "2", "3"]) == {}
    plant(tmp_path, key="ns\nagain", mode=2, filename="../diary.txt")
    disk.clear()
    assert victim.read_text() == "private"


@pytest.mark.parametrize("value", [b"no zlib", "text", 7, None])
def test_damaged_values_are_dropped(disk: DiskStore, tmp_path: Path, value: object) -> None:
    """What does not unpack is a miss, and gone."""
    plant(tmp_path, value=value)
    assert disk.get_many("ns", ["key"]) == {}
    assert disk.count() == {}


def test_folder_is_private_and_its_parent_left_alone(tmp_path: Path) -> None:
    """Only the user may enter the store; the folder that it lies in, which may be shared, keeps its mode."""
    tmp_path.chmod(0o755)
    (tmp_path / "store").mkdir(mode=0o777)
    DiskStore(tmp_path).close()
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_damaged_file_is_moved_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A database that is none gives an empty store, with a warning, and stays for inspection."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "cache.db").write_bytes(b"this is no database, but long enough to look at" * 100)
    store = DiskStore(tmp_path)
    store.put_many("a", {"k": b"v"})
    assert store.get_many("a", ["k"]) == {"k": b"v"}
    assert (tmp_path / "store.damaged" / "cache.db").is_file()
    assert "damaged" in caplog.text
    store.close()


def test_an_impossible_folder_is_a_settings_error(tmp_path: Path) -> None:
    """A cache folder that is a file is the user's mistake, and says so."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be kept"):
        DiskStore(tmp_path / "file")


def test_a_failing_cache_is_a_miss(disk: DiskStore, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """When the table is gone, reading finds nothing and writing keeps nothing; both are logged, neither raises."""
    with sqlite3.connect(tmp_path / "store" / "cache.db") as file:
        file.execute("DROP TABLE Cache")
    file.close()
    with caplog.at_level(logging.WARNING):
        disk.put_many("a", {"k": b"v"})
        assert disk.get_many("a", ["k"]) == {}
    assert "written" in caplog.text
    assert "read" in caplog.text


def test_grows_to_its_limit_and_drops_the_oldest(tmp_path: Path) -> None:
    """Beyond the limit the oldest entries go, never the one just written."""
    store = DiskStore(tmp_path, size_limit=1 << 20)
    noise = random.Random(0)
    for number in range(200):
        store.put_many("a", {str(number): noise.randbytes(20_000)})
    kept = sorted(map(int, store.get_many("a", [str(number) for number in range(200)])))
    assert kept[-1] == 199
    assert len(kept) < 200
    assert kept == list(range(kept[0], 200))
    store.close()


def test_two_processes_at_once(tmp_path: Path) -> None:
    """Two processes that write and read the same folder at once lose nothing."""
    script = (
        "import sys; from pathlib import Path; from fedkg.store import DiskStore\n"
        "store = DiskStore(Path(sys.argv[1]))\n"
        "for n in range(100): store.put_many(sys.argv[2], {str(n): sys.argv[2].encode() * n})\n"
        "assert len(store.get_many(sys.argv[2], [str(n) for n in range(100)])) == 100\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, tmp_path, name], cwd=ROOT) for name in ("a", "b")]
    assert [run.wait(60) for run in runs] == [0, 0]
    store = DiskStore(tmp_path)
    assert store.count() == {"a": 100, "b": 100}
    assert store.get_many("b", ["99"]) == {"99": b"b" * 99}
    store.close()


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
