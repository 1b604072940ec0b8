"""Bytes on disk: the cache of replies, labels and embeddings.

diskcache does the work (one SQLite file, safe for several threads and processes). It would unpickle whatever lies in
its table, and open or delete whatever file a row names; that hands code execution to anyone who can write the file
(CVE-2025-69872). So its Disk is replaced by one that knows bytes inside the table and nothing else,
its file is checked before it is opened (`tables`), and none of the settings that the file holds are taken.

A value carries when it was stored and until when it is fresh. Nothing goes because it is stale: who works without a
network still reads it. The oldest entries go when the store is full, and the log says so.

What SQLite or the file system refuses is a CacheError; `fallback` has the store that goes on without the disk.
"""

import contextlib
import json
import logging
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import diskcache
import msgspec

from fedkg.cache.entries import Entry, by_namespace, deflated, entries_of, fresh_value, inflated, pack, row_name, unpack
from fedkg.cache.folders import claim
from fedkg.cache.store import Store
from fedkg.cache.tables import SECONDS, check
from fedkg.errors import CacheError

__all__ = ["DiskStore"]

SIZE_LIMIT = 4096 << 20
ROOM = 0.9
"""The part of the limit that is left in use once the oldest entries have gone."""
EVICTED = "evicted"
"""Counts, by namespace, of the entries that went for want of room; they do not go themselves."""
AT_ONCE = 1_000
"""Most entries that go in one transaction, since others wait for it."""
READ_AT_ONCE = 500
"""Rows of one statement; SQLite takes no more than 999 values in one."""
SELECT = """
    SELECT key, mode, filename, value FROM Cache
    WHERE key IN ({}) AND raw = 1 AND (expire_time IS NULL OR expire_time > ?)
"""
"""What diskcache itself selects by, for several keys."""
UPSERT = """
    INSERT INTO Cache (key, raw, store_time, access_time, size, mode, filename, value) VALUES (?, 1, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key, raw) DO UPDATE SET store_time = excluded.store_time, expire_time = NULL,
        access_time = excluded.access_time, access_count = 0, tag = NULL, size = excluded.size, mode = excluded.mode,
        filename = excluded.filename, value = excluded.value
"""
"""What diskcache itself puts into a row."""
EVICTING = 0.5
"""Seconds after which a write evicts no further: what is still too much goes with the next writes."""
ROW = 150
"""Bytes that a row takes besides its value and, in table and index, its key."""

SETTINGS = {**diskcache.DEFAULT_SETTINGS, "cull_limit": 0, "eviction_policy": "least-recently-stored"}
"""All that diskcache can be told: what is left out it would take from the file."""
KNOWN = {**SETTINGS, **diskcache.core.METADATA}
"""All that the file says of itself."""
Row = tuple[int, str | None, object]
"""Mode, file name and value, as they lie in the table."""
Goner = Annotated[int, msgspec.Meta(ge=0, le=1 << 50)]

HINT = "set cache_dir to a folder that can be written, on a disk that has room"

log = logging.getLogger(__name__)


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache ships no types
    """A diskcache Disk without pickle or files: str keys, zlib-compressed bytes; everything else is refused."""

    def put(self, key: Any) -> tuple[str, bool]:
        """The key as it lies in the table."""
        if not isinstance(key, str):
            raise TypeError("keys are text")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        """The key that lies in the table; "" for one that fedkg did not write (ours hold a namespace)."""
        return key if raw and isinstance(key, str) else ""

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> tuple[int, int, None, bytes]:
        """The columns size (0: inside the table), mode, file name and value."""
        if read or not isinstance(value, bytes):
            raise TypeError("values are bytes")
        return 0, diskcache.core.MODE_RAW, None, deflated(value)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        """The value of a row. Raises ValueError where fedkg did not write it."""
        if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise ValueError("the cache holds a value that fedkg did not write")
        return inflated(value)

    def remove(self, file_path: str) -> None:
        """Nothing: no value of ours has a file, and a row that names one must not have it deleted."""


class BytesCache(diskcache.Cache):  # type: ignore[misc]  # the same
    """A diskcache Cache that believes nothing of what its file says of itself.

    In a file that is `whole` diskcache would create and set once more what is there, by seventy statements: it gets the
    attributes that these would end with.
    """

    def __init__(self, place: Path, *, whole: bool) -> None:
        if not whole:
            super().__init__(str(place), timeout=SECONDS, disk=BytesDisk, **SETTINGS)
            return
        own = {"_directory": str(place), "_timeout": SECONDS, "_local": threading.local(), "_txn_id": None}
        self.__dict__.update(KNOWN | own)
        self._disk = BytesDisk(str(place), SETTINGS["disk_min_file_size"], SETTINGS["disk_pickle_protocol"])
        ((self._page_size,),) = self._sql("PRAGMA page_size").fetchall()

    def rows(self, names: Sequence[str]) -> dict[str, Row]:
        """Mode, file and value of the rows of these names that are there, all of them by as few statements as can be.

        diskcache would read them one by one, each with a statement of its own.
        """
        rows: dict[str, Row] = {}
        for start in range(0, len(names), READ_AT_ONCE):
            part = names[start : start + READ_AT_ONCE]
            select = SELECT.format(", ".join("?" * len(part)))
            rows.update((name, tuple(row)) for name, *row in self._sql(select, (*part, time.time())).fetchall())
        return rows

    def put(self, values: Mapping[str, bytes]) -> None:
        """Puts the values in the rows of these names, within a transaction of the caller's.

        diskcache would look for each row first, since it may have a file; ours have none.
        """
        now, disk = time.time(), self._disk
        rows = ((name, now, now, *disk.store(value, read=False)) for name, value in values.items())
        self._con.executemany(UPSERT, rows)

    def volume(self) -> int:
        """Bytes of the table, as SQLite counts them; diskcache would add a number that lies in it."""
        ((pages,),) = self._sql("PRAGMA page_count").fetchall()
        return int(self._page_size) * int(pages)

    @property
    def _con(self) -> Any:
        """The connection of this thread; for each diskcache reads the file's settings and takes them for text."""
        try:
            return super()._con
        except (AttributeError, TypeError) as error:
            raise sqlite3.DatabaseError("its settings are none that fedkg made") from error


class DiskStore(Store):
    """A Store in one folder; one folder may be shared by several processes.

    The file lies in `store/` inside `folder`, which is no link and only the user can enter (mode 0700); `folder` itself
    may be one that others use too. Beyond `size_limit` bytes the oldest entries go until a tenth of it is free, as many
    at each write as go in half a second; the log says how many of which namespace. A file that is damaged, or holds
    what fedkg does not write, is moved aside, to `store.damaged/`.

    It and each of its methods raise CacheError where the folder cannot be used.
    """

    at_hand = True

    def __init__(self, folder: Path, size_limit: int = SIZE_LIMIT) -> None:
        self.name = str(folder)
        self.size_limit = size_limit
        self._file = folder / "store" / diskcache.core.DBNAME
        with _mapped(self._file.parent):
            self._cache = _opened(self._file.parent)

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale; a value that fedkg did not write is dropped and not returned."""
        names = {row_name(namespace, key): key for key in keys}
        with self._mapped():
            rows = self._cache.rows(list(names))
            entries = {names[name]: self._entry(name, row) for name, row in rows.items()}
        return {key: entry for key in keys if (entry := entries.get(key))}

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are, all or none."""
        with self._mapped():
            with self._cache.transact():
                self._set(namespace, entries)
            if self._volume() > self.size_limit:
                self._evict()

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place, while no other thread or process can; returns it."""
        with self._mapped(), self._cache.transact():
            value = change(fresh_value(self._read(row_name(namespace, key))))
            self._set(namespace, entries_of({key: value}, None))
            return value

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these, all or none."""
        with self._mapped(), self._cache.transact():
            for key in keys:
                self._cache.delete(row_name(namespace, key))

    def evicted(self) -> dict[str, int]:
        """How many entries of each namespace have gone for want of room since the store was cleared."""
        return dict(sorted(_counts(self.get_many(EVICTED, [EVICTED]).get(EVICTED)).items()))

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        with self._mapped():
            return by_namespace(iter(self._cache))

    def size(self) -> int:
        """Bytes on disk."""
        with self._mapped():
            return self._volume()

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        with self._mapped():
            if namespace is None:
                return int(self._cache.clear())
            return sum(bool(self._cache.delete(name)) for name in self._cache if name.startswith(f"{namespace}\n"))

    def close(self) -> None:
        """Closes the file."""
        self._cache.close()

    def _read(self, name: str) -> Entry | None:
        row = self._cache.rows([name]).get(name)
        return self._entry(name, row) if row else None

    def _entry(self, name: str, row: Row) -> Entry | None:
        """The entry in that row; None where fedkg did not write it, and the row is dropped."""
        try:
            return unpack(self._cache.disk.fetch(*row, read=False))
        except ValueError:
            self._cache.delete(name)
            return None

    def _mapped(self) -> AbstractContextManager[None]:
        return _mapped(self._file.parent)

    def _volume(self) -> int:
        return int(self._cache.volume())

    def _set(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        self._cache.put({row_name(namespace, key): pack(entry) for key, entry in entries.items()})

    def _evict(self) -> None:
        """Drops the oldest entries, for some time. A file that shrinks less than expected is looked at again."""
        gone: Counter[str] = Counter()
        end = time.monotonic() + EVICTING
        with contextlib.closing(sqlite3.connect(self._file, timeout=SECONDS, isolation_level=None)) as file:
            while (much := self._volume() - ROOM * self.size_limit) > 0 and (rows := _oldest(file, much)):
                gone.update(_delete(file, rows))
                if time.monotonic() >= end:
                    break
        self.update(EVICTED, EVICTED, lambda counts: msgspec.json.encode(_counts(counts) + gone))
        went = ", ".join(f"{count:,} {namespace}" for namespace, count in sorted(gone.items()))
        log.warning("the cache is full (%d MB): the oldest entries went: %s", self.size_limit >> 20, went)


def _opened(place: Path) -> Any:
    """The cache in that folder; where its file is damaged, or of a stranger, an empty one."""
    claim(place)
    try:
        file = place / diskcache.core.DBNAME
        return _open(place, whole=_begun(file) or check(file, KNOWN))
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return _anew(place, error)


def _begun(file: Path) -> bool:
    """Whether there was none, and an empty cache was put there in one step; where that fails diskcache makes one."""
    if list(file.parent.glob(f"{file.name}*")):
        return False  # also where only a log of SQLite's is left: it must not be read into another file
    with contextlib.suppress(OSError, sqlite3.Error), tempfile.TemporaryDirectory(dir=file.parent) as folder:
        made = Path(folder, file.name)
        made.write_bytes(_empty())
        os.link(made, file)  # once it is closed, which would end the locks that another thread has on it
        return True
    return False


@cache
def _empty() -> bytes:
    """The file of an empty cache, as diskcache makes it; it does so once in a process."""
    with tempfile.TemporaryDirectory() as folder:
        BytesCache(Path(folder), whole=False).close()
        return Path(folder, str(diskcache.core.DBNAME)).read_bytes()


def _open(place: Path, *, whole: bool = False) -> Any:
    claim(place)
    return BytesCache(place, whole=whole)


def _anew(place: Path, error: Exception) -> Any:
    """An empty cache in the place of a damaged one, which is moved aside."""
    log.warning("the cache in %s is damaged (%s) and starts anew", place, error)
    aside = place.with_suffix(".damaged")
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside, ignore_errors=True)
    else:
        aside.unlink(missing_ok=True)  # of a link only itself
    place.rename(aside)
    return _open(place)


def _counts(value: bytes | None) -> Counter[str]:
    """How many entries have gone, by namespace; none where that cannot be read."""
    try:
        return Counter(msgspec.json.decode(value or b"{}", type=dict[str, Goner]))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Counter()


def _oldest(file: sqlite3.Connection, much: float) -> list[int]:
    """The rows of the oldest entries that take about so many bytes together."""
    select = "SELECT rowid, 2 * length(key) + length(value) FROM Cache WHERE key <> ? ORDER BY store_time"
    rows: list[int] = []
    with contextlib.closing(file.execute(select, [row_name(EVICTED, EVICTED)])) as cursor:
        for row, size in cursor:
            rows.append(row)
            much -= ROW + (size or 0)
            if much <= 0 or len(rows) == AT_ONCE:
                break
    return rows


def _delete(file: sqlite3.Connection, rows: Sequence[int]) -> list[str]:
    """The namespaces of the rows that went; those that another process was faster with are left out."""
    delete = "DELETE FROM Cache WHERE rowid IN (SELECT value FROM json_each(?)) RETURNING key"
    keys = file.execute(delete, [json.dumps(rows)]).fetchall()
    return [str(key).partition("\n")[0] for (key,) in keys]


@contextlib.contextmanager
def _mapped(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, diskcache.Timeout) as error:
        why = str(error) or type(error).__name__
        raise CacheError(f"the cache cannot be kept in {place}: {why}", hint=HINT) from error
