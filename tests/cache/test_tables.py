"""The cache's file as a stranger may have made it: what is not diskcache's own is never opened."""

import contextlib
import os
import sqlite3
import stat
import struct
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest

from fedkg.cache.disk import KNOWN, BytesCache, DiskStore
from fedkg.cache.entries import LARGEST, Entry, pack
from fedkg.cache.tables import SCHEMA, check, digest
from fedkg.errors import CacheError

MAGIC = bytes.fromhex("d9d505f920a163d7")

OPENED = """
import sqlite3, sys

connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT 1 FROM Cache").fetchall()
connection.close()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a store with one entry, which is closed."""
    with contextlib.closing(DiskStore(tmp_path)) as store:
        store.put_many("a", {"k": b"v"})
    return tmp_path / "store" / "cache.db"


def change(file: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Does that to the file behind the store's back."""
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement, values)


def opened(file: Path) -> dict[str, bytes]:
    """What a store on that file still has; it can be written and counted, too."""
    with contextlib.closing(DiskStore(file.parents[1])) as store:
        kept = store.get_many("a", ["k"])
        store.put_many("b", {"k": b"w"})
        assert store.get_many("b", ["k"]) == {"k": b"w"}
        assert store.size() < 1 << 20
        assert store.evicted() == {}
    return kept


def test_the_schema_is_that_of_diskcache(file: Path) -> None:
    """All that diskcache creates is known, and nothing besides."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        assert {digest(*row) for row in connection.execute("SELECT type, name, sql FROM sqlite_master")} == SCHEMA


def test_a_whole_file_is_opened_as_diskcache_does(tmp_path: Path) -> None:
    """What is there needs none of its statements: the attributes that they end with are the same."""
    DiskStore(tmp_path).close()
    caches = [BytesCache(tmp_path / "store", whole=whole) for whole in (True, False)]
    for cache in caches:
        cache.close()
    short, long = ({**vars(cache), "_disk": vars(cache.disk), "_local": None} for cache in caches)
    assert short == long


@pytest.mark.parametrize("lack", ["DROP INDEX Cache_expire_time", "DELETE FROM Settings WHERE key = 'tag_index'"])
def test_what_a_file_lacks_is_made(file: Path, lack: str) -> None:
    """A file that is just being made by another process has only some of it."""
    assert check(file, KNOWN)
    change(file, lack)
    assert not check(file, KNOWN)
    assert opened(file) == {"k": b"v"}
    assert check(file, KNOWN)


def test_a_log_without_its_file_is_not_read(tmp_path: Path) -> None:
    """Whoever deletes the file alone gets an empty store, not what SQLite had still to write into it."""
    with contextlib.closing(DiskStore(tmp_path / "old")) as store:
        store.put_many("a", {"k": b"v"})
        log = (tmp_path / "old" / "store" / "cache.db-wal").read_bytes()
    (tmp_path / "new" / "store").mkdir(parents=True)
    (tmp_path / "new" / "store" / "cache.db-wal").write_bytes(log)
    assert opened(tmp_path / "new" / "store" / "cache.db") == {}


def test_file_systems_without_links_have_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There diskcache makes the file."""

    def link(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    assert opened(tmp_path / "store" / "cache.db") == {}
    assert check(tmp_path / "store" / "cache.db", KNOWN)


def test_who_opens_a_new_file_at_once_keeps_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process does not take the log away from a thread that opened the file as soon as it was there."""
    file, link, early = tmp_path / "store" / "cache.db", os.link, contextlib.ExitStack()

    def opened_at_once(*names: Path) -> None:
        link(*names)
        connection = early.enter_context(contextlib.closing(sqlite3.connect(file)))
        connection.execute("SELECT 1 FROM Cache").fetchall()

    monkeypatch.setattr(os, "link", opened_at_once)
    with early, contextlib.closing(DiskStore(tmp_path)) as store:
        store.put_many("a", {"k": b"v"})
        subprocess.run([sys.executable, "-c", OPENED, file], check=True)
        assert file.with_name("cache.db-wal").exists()


def test_an_untouched_file_is_opened(file: Path) -> None:
    """With what it holds."""
    assert opened(file) == {"k": b"v"}
    assert not file.parent.with_suffix(".damaged").exists()


@pytest.mark.parametrize("value", [0, "x", b"x", 1e308, None])
@pytest.mark.parametrize(
    "key", ["get", "_sql", "set", "disk_store", "disk_x", "__class__", "_con", "sqlite_x", "sqlite_temp_store", ""]
)
def test_settings_that_are_not_diskcache_s(
    file: Path, caplog: pytest.LogCaptureFixture, key: str, value: object
) -> None:
    """It would make attributes, arguments and pragmas of them: the file is moved aside and the store starts anew."""
    change(file, "INSERT INTO Settings VALUES (?, ?)", values=(key, value))
    assert opened(file) == {}
    assert (file.parent.with_suffix(".damaged") / "cache.db").is_file()
    assert "was not made by fedkg" in caplog.text


@pytest.mark.parametrize(("key", "value"), [(b"get", 0), (b"sqlite_x", 0), (7, 0), ("sqlite_mmap_size", 1 << 50)])
def test_settings_of_odd_types_and_values(file: Path, key: object, value: object) -> None:
    """A key that is no text, and a pragma that diskcache sets otherwise."""
    change(file, "INSERT OR REPLACE INTO Settings VALUES (?, ?)", values=(key, value))
    assert opened(file) == {}


@pytest.mark.parametrize("value", ["x", b"x", 1e308, -5, None])
@pytest.mark.parametrize("key", ["size", "count", "cull_limit", "eviction_policy", "size_limit", "disk_min_file_size"])
def test_values_of_known_settings_are_not_believed(file: Path, key: str, value: object) -> None:
    """Neither sizes nor policies come from the file: the entries stay, and the store works."""
    change(file, "INSERT OR REPLACE INTO Settings VALUES (?, ?)", values=(key, value))
    assert opened(file) == {"k": b"v"}


@pytest.mark.parametrize("value", ["x", b"\xff", b"[1]", b'{"a": -1}', b'{"a": 1e400}', b"[" * 100_000, b'{"a": {}}'])
def test_counts_of_what_went_that_are_none(file: Path, value: bytes) -> None:
    """They are counted from nothing again."""
    store = DiskStore(file.parents[1])
    store.put_many("evicted", {"evicted": value if isinstance(value, bytes) else value.encode()})
    assert store.evicted() == {}
    store.size_limit = 1
    store.put_many("a", {"k": b"v"})
    assert sum(store.evicted().values()) >= 1
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON Cache BEGIN DELETE FROM Cache; END",
        "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n",
        "CREATE INDEX i ON Cache (length(value))",
        "CREATE TABLE mine (x CHECK (x > 0))",
        "ALTER TABLE Cache ADD COLUMN extra",
        "DROP TRIGGER Settings_count_insert; ",
    ],
)
def test_what_would_run_in_the_file(file: Path, statement: str) -> None:
    """Triggers, views and tables of a stranger run no more; what is missing is made again."""
    change(file, statement)
    assert opened(file) == ({"k": b"v"} if statement.startswith("DROP") else {})


def test_a_settings_row_that_comes_later(file: Path) -> None:
    """Planted while the store is open: its next connection is refused, and no attribute is set."""
    store = DiskStore(file.parents[1])
    store.close()  # the next call connects anew
    change(file, "INSERT INTO Settings VALUES (?, 0)", values=(b"get",))
    with pytest.raises(CacheError, match="none that fedkg made"):
        store.get_many("a", ["k"])
    store.close()


def test_a_journal_cannot_have_a_file_deleted(file: Path, tmp_path: Path) -> None:
    """SQLite deletes the file that the end of a rollback journal names; such a journal is moved aside unread."""
    victim = tmp_path / "diary.txt"
    victim.write_text("private")
    name = str(victim).encode()
    head = (MAGIC + struct.pack(">IIIII", 0, 0, 1, 512, 4_096)).ljust(512, b"\0")
    named = struct.pack(">I", 0x40000000 // 4_096 + 1) + name + struct.pack(">II", len(name), sum(name)) + MAGIC
    file.with_name("cache.db-journal").write_bytes(head + named)
    assert opened(file) == {}
    assert victim.read_text() == "private"


@pytest.mark.parametrize("part", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_files_that_are_none(file: Path, tmp_path: Path, kind: str, part: str) -> None:
    """What a link leads to is neither read nor written, and of a pipe nothing is waited for."""
    victim = tmp_path / "victim.db"
    change(victim, "CREATE TABLE mine (x)")
    before = victim.read_bytes()
    odd = file.with_name(f"cache.db{part}")
    odd.unlink(missing_ok=True)
    odd.symlink_to(victim) if kind == "link" else os.mkfifo(odd)
    assert opened(file) == {}
    assert victim.read_bytes() == before


@pytest.mark.parametrize("kind", ["file", "link to a folder", "link to nothing", "folder with a link"])
def test_the_place_for_damaged_files_is_taken(file: Path, tmp_path: Path, kind: str) -> None:
    """Whatever lies at store.damaged makes room; what a link there leads to stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "diary.txt").write_text("private")
    aside = file.parent.with_suffix(".damaged")
    if kind == "file":
        aside.write_text("in the way")
    elif kind == "folder with a link":
        aside.mkdir()
        (aside / "link").symlink_to(outside)
    else:
        aside.symlink_to(outside if kind == "link to a folder" else tmp_path / "nothing")
    file.write_bytes(b"this is no database" * 100)
    assert opened(file) == {}
    assert (aside / "cache.db").is_file()
    assert [path.name for path in outside.iterdir()] == ["diary.txt"]


def test_a_store_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """Its target keeps its mode and gets no file."""
    target = tmp_path / "target"
    target.mkdir()
    target.chmod(0o755)
    (tmp_path / "store").symlink_to(target)
    with pytest.raises(CacheError, match="is a link, and no folder of its own"):
        DiskStore(tmp_path)
    assert (stat.S_IMODE(target.stat().st_mode), list(target.iterdir())) == (0o755, [])


def test_a_file_that_is_not_there_is_all_right(tmp_path: Path) -> None:
    """It will be made."""
    check(tmp_path / "cache.db", {})


def test_a_row_of_megabytes_that_stands_for_gigabytes(file: Path) -> None:
    """It is unpacked up to the limit of one value, dropped, and a miss."""
    deflating = zlib.compressobj()
    head = deflating.compress(pack(Entry(b"", 0.0, 9e9))) + deflating.flush(zlib.Z_FULL_FLUSH)
    block = deflating.compress(bytes(1 << 20)) + deflating.flush(zlib.Z_FULL_FLUSH)
    change(file, "UPDATE Cache SET value = ?", values=(head + 3_000 * block,))
    store = DiskStore(file.parents[1])
    tracemalloc.start()
    assert store.get_many("a", ["k"]) == {}
    assert tracemalloc.get_traced_memory()[1] < 3 * LARGEST
    tracemalloc.stop()
    assert store.count() == {}
    store.close()
