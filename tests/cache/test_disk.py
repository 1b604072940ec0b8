"""The store in a file: what it holds, what it survives, and how it stays below its limit."""

import pickle
import random
import sqlite3
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.errors import CacheError

ROOT = Path(__file__).resolve().parents[2]
KEYS = st.text(st.characters(), max_size=8)  # with lone surrogates, line breaks and NUL


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
            "INSERT OR REPLACE INTO Cache (key, raw, store_time, access_time, mode, filename, value) "
            "VALUES (?, ?, 0, 0, ?, ?, ?)",
            (key, raw, mode, filename, value),
        )
    file.close()


class Bomb:
    """Writes a file where it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Path, str]]:
        return Path.write_text, (self.target, "boom")


@given(values=st.dictionaries(KEYS, st.binary(max_size=50), max_size=5))
def test_any_text_is_a_key(shared: DiskStore, values: dict[str, bytes]) -> None:
    """Keys may hold whatever an endpoint sends, even half characters; values any bytes."""
    for store in (MemoryStore(), shared):
        store.put_many("n", values)
        assert store.get_many("n", list(values)) == values


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


@pytest.mark.parametrize("value", [b"no zlib", zlib.compress(b"no header"), zlib.compress(b"fkg1"), "text", 7, None])
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


def test_an_impossible_folder_is_a_cache_error(tmp_path: Path) -> None:
    """A cache folder that is a file cannot be used, and the error names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="cannot be kept"):
        DiskStore(tmp_path / "file")


def test_a_failing_file_is_a_cache_error(disk: DiskStore, tmp_path: Path) -> None:
    """When the table is gone, nothing can be read, written, counted or cleared, and each attempt says so."""
    with sqlite3.connect(tmp_path / "store" / "cache.db") as file:
        file.execute("DROP TABLE Cache")
    file.close()
    attempts: list[Callable[[], object]] = [
        lambda: disk.put_many("a", {"k": b"v"}),
        lambda: disk.get_many("a", ["k"]),
        lambda: disk.update("a", "k", lambda _: b"v"),
        lambda: disk.drop("a", ["k"]),
        disk.count,
        disk.clear,
    ]
    for attempt in attempts:
        with pytest.raises(CacheError, match=r"cannot be kept in .*store: no such table"):
            attempt()


def test_grows_to_its_limit_and_drops_the_oldest(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Beyond the limit the oldest entries go until a tenth is free, never the one just written; what went is told."""
    store = DiskStore(tmp_path, size_limit=1 << 20)
    noise = random.Random(0)
    largest = 0
    for number in range(200):
        store.put_many("ab"[number % 2], {str(number): noise.randbytes(20_000)})
        largest = max(largest, store.size())
    kept = sorted(int(key) for namespace in "ab" for key in store.get_many(namespace, [str(n) for n in range(200)]))
    assert kept == list(range(kept[0], 200))
    assert 25 < len(kept) < 60
    assert largest <= 1 << 20
    assert sum(store.evicted().values()) == kept[0]
    assert set(store.evicted()) == {"a", "b"}
    assert "the oldest entries went: " in caplog.text
    store.close()


def test_a_store_that_is_much_too_large_shrinks_by_and_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No single write waits until everything that is too much has gone; some writes later it has."""
    monkeypatch.setattr("fedkg.cache.disk.AT_ONCE", 20)
    monkeypatch.setattr("fedkg.cache.disk.EVICTING", 0.0)
    noise = random.Random(0)
    store = DiskStore(tmp_path)
    store.put_many("a", {str(number): noise.randbytes(20_000) for number in range(200)})
    store.size_limit = 1 << 20
    gone = []
    for number in range(20):
        store.put_many("b", {str(number): b"x"})
        gone.append(store.evicted().get("a", 0))
    assert gone[:3] == [20, 40, 60]
    assert (store.size() <= 1 << 20, store.count()["b"]) == (True, 20)
    store.close()


def test_nothing_goes_before_the_limit(disk: DiskStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stale entries stay as long as there is room."""
    disk.put_many("a", {str(number): b"x" for number in range(50)}, seconds=1)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1e9)
    disk.put_many("a", {"new": b"y"})
    assert (disk.count(), disk.evicted()) == ({"a": 51}, {})


def test_several_processes_at_once(tmp_path: Path) -> None:
    """Processes that write, read and count up the same keys lose nothing and read nothing half."""
    script = (
        "import sys; from pathlib import Path; from fedkg.cache.disk import DiskStore\n"
        "store, own = DiskStore(Path(sys.argv[1])), sys.argv[2].encode()\n"
        "keys = [str(n) for n in range(20)]\n"
        "for n in range(40):\n"
        "    store.put_many('same', {key: own * 5_000 for key in keys})\n"
        "    values = store.get_many('same', keys)\n"
        "    assert len(values) == 20 and all(v == v[:1] * 5_000 for v in values.values())\n"
        "    store.put_many(sys.argv[2], {str(n): own})\n"
        "    store.update('count', 'all', lambda v: str(int(v or 0) + 1).encode())\n"
        "assert len(store.get_many(sys.argv[2], [str(n) for n in range(40)])) == 40\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, tmp_path, name], cwd=ROOT) for name in "abcd"]
    assert [run.wait(100) for run in runs] == [0] * 4
    store = DiskStore(tmp_path)
    assert store.count() == {**dict.fromkeys("abcd", 40), "count": 1, "same": 20}
    assert store.get_many("count", ["all"]) == {"all": b"160"}
    store.close()


def test_processes_that_evict_at_once(tmp_path: Path) -> None:
    """A full store that several processes write to stays in its bounds, and counts each entry that went once."""
    script = (
        "import random, sys; from pathlib import Path; from fedkg.cache.disk import DiskStore\n"
        "store, noise = DiskStore(Path(sys.argv[1]), 1 << 20), random.Random(sys.argv[2])\n"
        "for n in range(60): store.put_many('n', {f'{sys.argv[2]} {n}': noise.randbytes(20_000)})\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", script, tmp_path, name], cwd=ROOT) for name in "abcd"]
    assert [run.wait(100) for run in runs] == [0] * 4
    store = DiskStore(tmp_path, 1 << 20)
    assert store.size() <= 1 << 20
    assert store.count()["n"] + store.evicted()["n"] == 240
    store.close()
