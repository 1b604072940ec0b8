"""Journal: what each session touched in the cache, noted so that it can be packed and replayed elsewhere."""

import logging
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from fedkg.cache.entries import LARGEST, Entry, table_key
from fedkg.cache.store import Store
from fedkg.config.settings import Mode
from fedkg.core.encoding import decode, encode
from fedkg.errors import PackError

__all__ = ["ASKED", "Journal", "JournalEntry", "Keys", "RecordingStore"]

NAMESPACE = "runs"
INDEX = "index"
MOST = 50
MOST_TOUCHED = 500_000
"""Entries of one run beyond which they are not noted: their names alone would take a hundred megabytes."""
ASKED = 20
"""Questions that a run is known by, its first ones."""
ASKED_LENGTH = 200

log = logging.getLogger(__name__)

Keys = Mapping[str, Iterable[str]]
"""Keys of the cache by namespace."""


class JournalEntry(msgspec.Struct, frozen=True):
    """One session: its name, when it ended (UTC), what it was asked (the first of it), how many entries it touched.

    `entries` is None where they were more than are noted.
    """

    id: str
    at: str
    asked: tuple[str, ...]
    entries: int | None


class Journal:
    """The latest runs that a store remembers: the last 50."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> list[JournalEntry]:
        """The runs, the latest last."""
        return _read(self._store.get_many(NAMESPACE, [INDEX]).get(INDEX))

    def add(self, asked: Sequence[str], keys: Keys) -> JournalEntry:
        """Remembers a run, and forgets the oldest one where there are too many."""
        touched = {namespace: sorted(names) for namespace, names in keys.items()}
        entries, encoded = sum(map(len, touched.values())), encode(touched)
        fits = entries <= MOST_TOUCHED and len(encoded) <= LARGEST
        now = time.gmtime()
        # with two bytes, two of fifty runs in one second had the same name once in fifty times, and one lost its keys
        name = f"{time.strftime('%Y%m%d-%H%M%S', now)}-{secrets.token_hex(4)}"
        # a command line may hold bytes that are no text
        shown = tuple(table_key(text[:ASKED_LENGTH]) for text in asked[:ASKED])
        run = JournalEntry(name, time.strftime("%Y-%m-%dT%H:%M:%SZ", now), shown, entries if fits else None)
        if run.entries is not None:
            self._store.put_many(NAMESPACE, {run.id: encoded})
        gone: list[JournalEntry] = []

        def appended(index: bytes | None) -> bytes:
            runs = [*_read(index), run]
            gone[:] = runs[:-MOST]
            return encode(runs[-MOST:])

        self._store.update(NAMESPACE, INDEX, appended)
        self._store.drop(NAMESPACE, [old.id for old in gone])
        return run

    def keys(self, name: str) -> dict[str, list[str]]:
        """What that run touched. Raises PackError where that is not known."""
        if any(run.id == name and run.entries is None for run in self.all()):
            raise PackError(
                f"the run {name} touched more than {MOST_TOUCHED:,} entries, or very long ones: too many for a pack",
                hint="ask in several runs, and name each with --run",
            )
        value = self._store.get_many(NAMESPACE, [name]).get(name)
        if value is None or name == INDEX:
            raise PackError(f"no run is called {name[:100]!r}", hint="`fedkg cache runs` lists them")
        try:
            return decode(value, dict[str, list[str]])
        except msgspec.MsgspecError as error:
            raise PackError(f"what the run {name} touched cannot be read", hint="run it once more") from error


class RecordingStore:
    """A Store that shows of another one what the mode lets be used, and notes which of its entries were touched.

    In the modes `cached` and `offline` stale values count. `refresh` hides what was kept before, apart from what never
    gets stale, such as embeddings.
    """

    def __init__(self, store: Store, mode: Mode = "live", *, refresh: bool = False) -> None:
        self._store = store
        self._stale = mode != "live"
        self._since = time.time() if refresh else 0.0
        self._touched: defaultdict[str, set[str]] = defaultdict(set)

    @property
    def at_hand(self) -> bool:
        """Whether the other one is."""
        return self._store.at_hand

    @property
    def writes_at_once(self) -> bool:
        """Whether the other one does."""
        return self._store.writes_at_once

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there and not hidden, fresh or stale."""
        visible = {key: entry for key, entry in self._store.entries(namespace, keys).items() if self._shows(entry)}
        self._note(namespace, visible)
        return visible

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and may be used."""
        entries, now = self._store.entries(namespace, keys).items(), time.time()
        usable = {
            key: entry.value for key, entry in entries if self._shows(entry) and (self._stale or entry.is_fresh(now))
        }
        self._note(namespace, usable)
        log.debug("cache: %s: %d of %d are kept", namespace, len(usable), len(keys))
        return usable

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values."""
        self._store.put_many(namespace, values, seconds)
        self._note(namespace, values)

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are."""
        self._store.put_entries(namespace, entries)
        self._note(namespace, entries)

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place, while no other process can; returns it."""
        value = self._store.update(namespace, key, change)
        self._note(namespace, [key])
        return value

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these; the run has not touched them, then."""
        gone = list(keys)
        self._store.drop(namespace, gone)
        self._touched[namespace] -= {table_key(key) for key in gone}

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        return self._store.count()

    def size(self) -> int:
        """Bytes of all."""
        return self._store.size()

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything; returns how many entries went."""
        return self._store.clear(namespace)

    @property
    def touched(self) -> Keys:
        """What was touched. Raises PackError where it is more than is noted."""
        if sum(map(len, self._touched.values())) > MOST_TOUCHED:
            raise PackError(f"more than {MOST_TOUCHED:,} entries were touched: too many for a pack")
        return self._touched

    def keep(self, asked: Sequence[str]) -> None:
        """Remembers what was touched as a run, where anything was; `asked` is what the run is known by."""
        if any(self._touched.values()):
            Journal(self._store).add(asked, self._touched)

    def _shows(self, entry: Entry) -> bool:
        return entry.stored >= self._since or entry.fresh == float("inf")

    def _note(self, namespace: str, keys: Iterable[str]) -> None:
        if (noted := {table_key(key) for key in keys}) and sum(map(len, self._touched.values())) <= MOST_TOUCHED:
            self._touched[namespace] |= noted


def _read(index: bytes | None) -> list[JournalEntry]:
    """The runs of the index; none where it cannot be read."""
    try:
        return decode(index or b"[]", list[JournalEntry])
    except msgspec.MsgspecError:
        return []
