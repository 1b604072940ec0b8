"""A cache that several machines share: a Store on a Redis or Valkey server.

It holds what the store on disk holds, in the same form: bytes with the time when they were stored, compressed, never
pickled. How full the server may get, and what goes then, is the server's own policy. A server that fails is a
CacheError; `fallback` has the store that goes on without it.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar
from urllib.parse import urlsplit

import redis

from fedkg.cache.entries import Entry, by_namespace, deflated, entries_of, fresh_value, inflated, pack, row_name, unpack
from fedkg.cache.store import Store
from fedkg.errors import CacheError, SettingsError

__all__ = ["RedisStore"]

PREFIX = "fedkg\n"
"""What the names of all entries begin with: the server may serve others, too."""
SECONDS = 5.0
"""That a reply of the server is waited for."""
AT_ONCE = 500

HINT = "cache_url is redis://HOST:PORT/DATABASE, or unix:///SOCKET, of a Redis or Valkey server that runs"

T = TypeVar("T")


class RedisStore(Store):
    """A Store on the server at `url` (redis://, rediss:// or unix://). Raises SettingsError for what is no such URL.

    It and each of its methods raise CacheError where the server cannot be reached, or fails. The URL may hold a
    password: no message shows it, and `name` is the URL without it.
    """

    def __init__(self, url: str) -> None:
        try:
            where = urlsplit(url)
            self.name = f"{where.scheme}://{where.netloc.rpartition('@')[2]}{where.path}"
            self._server = redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
        except ValueError as error:
            raise SettingsError("cache_url is not the URL of a server", hint=HINT) from error
        with _mapped():
            self._server.ping()

    def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
        """What is there, fresh or stale; a value that fedkg did not write is a miss."""
        kept: dict[str, Entry] = {}
        with _mapped():
            for part in _parts(keys):
                values = self._server.mget([_name(namespace, key) for key in part])
                entries = zip(part, map(_unpacked, values), strict=True)
                kept.update({key: entry for key, entry in entries if entry})
        return kept

    def put_entries(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        """Keeps the entries as they are."""
        with _mapped():
            for part in _parts(entries.items()):
                self._server.mset({_name(namespace, key): _packed(entry) for key, entry in part})

    def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Puts what `change` makes of the value in its place; where another was faster it is made of that one's."""
        name, made = _name(namespace, key), b""

        def changed(pipe: redis.client.Pipeline) -> None:
            nonlocal made
            made = change(fresh_value(_unpacked(pipe.get(name))))
            pipe.multi()
            pipe.set(name, _packed(entries_of({key: made}, None)[key]))

        with _mapped():
            self._server.transaction(changed, name)
        return made

    def drop(self, namespace: str, keys: Iterable[str]) -> None:
        """Forgets these."""
        with _mapped():
            for part in _parts(keys):
                self._server.delete(*(_name(namespace, key) for key in part))

    def count(self) -> dict[str, int]:
        """Entries by namespace."""
        with _mapped():
            return by_namespace(name.removeprefix(PREFIX) for name in self._names(""))

    def size(self) -> int:
        """Bytes of all values, compressed."""
        with _mapped():
            return sum(sum(map(self._server.strlen, part)) for part in _parts(self._names("")))

    def clear(self, namespace: str | None = None) -> int:
        """Drops a namespace, or everything of fedkg's; returns how many entries went."""
        with _mapped():
            names = self._names("" if namespace is None else f"{namespace}\n")
            return sum(int(self._server.delete(*part)) for part in _parts(names))

    def close(self) -> None:
        """Closes the connections."""
        self._server.close()

    def _names(self, start: str) -> Iterator[str]:
        """The names of the entries whose namespace begins so, each once."""
        names = dict.fromkeys(self._server.scan_iter(match=f"{PREFIX}{start}*", count=AT_ONCE))
        return (name.decode(errors="replace") for name in names)


def _name(namespace: str, key: str) -> str:
    return PREFIX + row_name(namespace, key)


def _packed(entry: Entry) -> bytes:
    return deflated(pack(entry))


def _unpacked(value: object) -> Entry | None:
    """The entry; None where there is none, or something that fedkg did not write."""
    if not isinstance(value, bytes):
        return None
    try:
        return unpack(inflated(value))
    except ValueError:
        return None


@contextlib.contextmanager
def _mapped() -> Iterator[None]:
    try:
        yield
    except (redis.RedisError, OSError) as error:
        # the message may name the server with its password
        raise CacheError(f"the shared cache cannot be used: {type(error).__name__}", hint=HINT) from error


def _parts(values: Iterable[T]) -> Iterator[list[T]]:
    """The values, as many at a time as one request takes."""
    left = iter(values)
    while part := list(islice(left, AT_ONCE)):
        yield part
