"""A cache that several machines share: a Store on a Redis or Valkey server.

It holds what the store on disk holds, in the same form: bytes with the time when they were stored, compressed, never pickled.
How full the server may get, and what goes then, is the server's own policy. As on disk, a cache that fails does no harm to
an answer: what cannot be read is a miss, what cannot be written is not kept, and a warning is logged.
"""

import contextlib
import logging
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar
from urllib.parse import urlsplit

import redis

from fedkg.cache.entries import Entry, by_namespace, entries_of, fresh_of, pack, row_name, unpack
from fedkg.errors import SettingsError

__all__ = ["SharedStore"]

PREFIX = "fedkg\n"
"""What the names of all entries begin with: the server may serve others, too."""
SECONDS = 5.0
"""That a reply of the server is waited for."""
AT_ONCE = 500
LARGEST = 256 << 20
"""Bytes of one value: the server is not ours alone, and a few kilobytes can stand for gigabytes."""

T = TypeVar("T")

log = logging.getLogger(__name__)


class SharedStore:
    """A Store on the server at `url` (redis://, rediss:// or unix://). Raises SettingsError where it cannot be reached.

    The URL may hold a password: no message shows it, and `name` is the URL without it. A server that fails is warned of once
    as it is read and once as it is written, not with every entry.
    """

    def __init__(self, url: str) -> None:
        self._warned: set[str] = set()
        try:
            where = urlsplit(url)
            self.name = f"{where.scheme}://{where.netloc.rpartition('@')[2]}{where.path}"
            self._server = redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
            self._server.ping()
        except (redis.RedisError, ValueError, OSError) as error:
            hint = "cache_url is redis://HOST:PORT/DATABASE, or unix:///SOCKET, of a Redis or Valkey server that runs"
            raise SettingsError(f"the shared cache cannot be used: {type(error).__name__}", hint=hint) from error

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
        """The values that are there and fresh."""
        return fresh_of(self.entries(namespace, keys))

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale; a value that fedkg did not write is a miss."""
        found = {}
        with self._forgiving("read"):
            for part in _parts(keys):
                values = self._server.mget([_name(namespace, key) for key in part])
                kept = {key: _unpacked(value) for key, value in zip(part, values, strict=True)}
                found.update({key: entry for key, entry in kept.items() if entry})
        return found

    def put_many(self, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keeps the values."""
        with self._forgiving("written"):
            self._write(namespace, entries_of(values, seconds))

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are. Raises SettingsError where they cannot be written."""
        with _needed():
            self._write(namespace, entries)

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place; where another was faster it is made of that one's."""
        name, made = _name(namespace, key), b""

        def changed(pipe: redis.client.Pipeline) -> None:
            nonlocal made
            kept = _unpacked(pipe.get(name))
            made = change(kept.value if kept and kept.fresh > time.time() else None)
            pipe.multi()
            pipe.set(name, _packed(entries_of({key: made}, None)[key]))

        with self._forgiving("written"):
            self._server.transaction(changed, name)
            return made
        return change(None)

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these."""
        with self._forgiving("written"):
            for part in _parts(keys):
                self._server.delete(*(_name(namespace, key) for key in part))

    def count(self) -> dict[str, int]:
        """Entries by namespace. Raises SettingsError where the server fails, as `size` and `clear` do."""
        with _needed():
            return by_namespace(name.removeprefix(PREFIX) for name in self._names(""))

    def size(self) -> int:
        """Bytes of all values, compressed."""
        with _needed():
            return sum(sum(map(self._server.strlen, part)) for part in _parts(self._names("")))

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything of fedkg's; returns how many entries went."""
        with _needed():
            names = self._names("" if namespace is None else f"{namespace}\n")
            return sum(int(self._server.delete(*part)) for part in _parts(names))

    def close(self) -> None:
        """Closes the connections."""
        self._server.close()

    def _write(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        for part in _parts(entries.items()):
            self._server.mset({_name(namespace, key): _packed(entry) for key, entry in part})

    @contextlib.contextmanager
    def _forgiving(self, done: str) -> Iterator[None]:
        try:
            yield
        except redis.RedisError as error:
            if done not in self._warned:
                self._warned.add(done)
                # the message may name the server with its password
                log.warning("the shared cache could not be %s: %s", done, type(error).__name__)

    def _names(self, start: str) -> Iterator[str]:
        """The names of the entries whose namespace begins so, each once."""
        found = dict.fromkeys(self._server.scan_iter(match=f"{PREFIX}{start}*", count=AT_ONCE))
        return (name.decode(errors="replace") for name in found)


def _name(namespace: str, key: str) -> str:
    return PREFIX + row_name(namespace, key)


def _packed(entry: Entry) -> bytes:
    return zlib.compress(pack(entry), 1)


def _unpacked(value: object) -> Entry | None:
    """The entry; None where there is none, or something that fedkg did not write."""
    if not isinstance(value, bytes):
        return None
    try:
        return unpack(zlib.decompressobj().decompress(value, LARGEST))
    except (zlib.error, ValueError):
        return None


@contextlib.contextmanager
def _needed() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise SettingsError(f"the shared cache fails: {type(error).__name__}") from error


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    """The values, as many at a time as one request takes."""
    left = iter(values)
    while part := list(islice(left, AT_ONCE)):
        yield part
