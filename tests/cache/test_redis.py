"""A cache on a server; what it has in common with the other stores is in test_store."""

import logging
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("redis", reason="needs fedkg[redis]")

import redis

from fedkg.cache.fallback import FallbackStore
from fedkg.cache.redis import RedisStore
from fedkg.config.settings import Settings, public
from fedkg.errors import CacheError, FedkgError, SettingsError
from fedkg.session import Session
from fedkg.wiring.adapters import open_store


@pytest.fixture
def store(redis_url: str) -> Iterator[RedisStore]:
    """An empty store on the server."""
    store = RedisStore(redis_url)
    store.clear()
    yield store
    store.close()


def test_two_clients_see_one_cache(store: RedisStore, redis_url: str) -> None:
    """What one machine has kept the other reads, with the time when it was stored."""
    store.put_many("labels", {"Q1": b"universe"}, 60)
    other = RedisStore(redis_url)
    assert other.entries("labels", ["Q1"]) == store.entries("labels", ["Q1"])
    assert other.get_many("labels", ["Q1"]) == {"Q1": b"universe"}
    other.close()


def test_updates_at_once_lose_none(store: RedisStore) -> None:
    """Whoever was slower is asked again with what the faster one has made."""

    def add(_number: int) -> bytes:
        return store.update("count", "n", lambda kept: str(int(kept or b"0") + 1).encode())

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(40)))
    assert store.get_many("count", ["n"]) == {"n": b"40"}


def test_nothing_of_others_is_touched(store: RedisStore, redis_url: str) -> None:
    """A server may serve others, too: what they keep is neither counted nor cleared."""
    server = redis.Redis.from_url(redis_url)
    server.set("labels\nQ1", b"not ours")
    store.put_many("labels", {"Q1": b"ours"})
    assert (store.count(), store.clear(), server.get("labels\nQ1")) == ({"labels": 1}, 1, b"not ours")
    server.delete("labels\nQ1")
    server.close()


@pytest.mark.parametrize("value", [b"", b"text", zlib.compress(b"no header"), b"\x80\x04."])
def test_what_fedkg_did_not_write_is_a_miss(store: RedisStore, redis_url: str, value: bytes) -> None:
    """Whoever can write to the server can make the cache forget, and nothing worse."""
    server = redis.Redis.from_url(redis_url)
    server.set("fedkg\nlabels\nQ1", value)
    assert store.entries("labels", ["Q1"]) == {}
    server.close()


def test_a_value_that_stands_for_gigabytes_is_a_miss(
    store: RedisStore, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is unpacked up to a limit only, and what is cut is no entry of ours."""
    monkeypatch.setattr("fedkg.cache.entries.LARGEST", 10)
    store.put_many("labels", {"Q1": b"universe" * 100})
    assert store.get_many("labels", ["Q1"]) == {}


def test_a_server_that_is_gone_costs_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, redis_url: str
) -> None:
    """What cannot be read is a miss, what cannot be written is kept in memory; no message holds the URL."""
    server = RedisStore(redis_url)
    store = FallbackStore(server)
    pool = server._server.connection_pool
    pool.disconnect()
    pool.reset()
    pool.connection_kwargs["path"] = str(tmp_path / "gone")
    with caplog.at_level(logging.WARNING):
        assert store.get_many("labels", ["Q1"]) == {}
        store.put_many("labels", {"Q1": b"universe"})
        assert store.get_many("labels", ["Q1"]) == {"Q1": b"universe"}
        assert store.get_many("labels", ["Q2"]) == {}
        assert store.update("labels", "Q1", lambda kept: (kept or b"") + b" of one") == b"universe of one"
    [message] = [record.getMessage() for record in caplog.records]  # once, for reading and writing
    assert message.startswith("the shared cache cannot be used: ConnectionError; without it")
    for failing in (store.count, store.size, store.clear):
        with pytest.raises(CacheError, match="the shared cache cannot be used"):
            failing()
    assert "gone" not in caplog.text


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("redis://:secret@127.0.0.1:1/0", CacheError),
        ("unix:///nowhere/secret.sock", CacheError),
        ("http://secret.example", SettingsError),
        ("nonsense secret", SettingsError),
        ("redis://127.0.0.1:secret/0", SettingsError),
    ],
)
def test_a_server_that_cannot_be_used_is_told_from_a_url_that_is_none(url: str, kind: type[FedkgError]) -> None:
    """It is said at once, without the password."""
    with pytest.raises(kind) as caught:
        open_store(Settings(cache_url=url))
    assert "secret" not in str(caught.value)


async def test_a_session_closes_the_server_that_it_opened(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is its own; what was touched is noted there, as on disk, before."""
    closed: list[RedisStore] = []

    def noted(store: RedisStore) -> None:
        closed.append(store)

    monkeypatch.setattr(RedisStore, "close", noted)
    async with Session(settings=Settings(cache_url=redis_url)) as session:
        session.store.put_many("labels", {"Q1": b"universe"})
    [server] = closed
    assert server.count()["runs"] >= 1
    monkeypatch.undo()
    server.clear()
    server.close()


def test_the_url_is_in_no_document(redis_url: str) -> None:
    """It may hold a password, and says nothing of how an answer was found."""
    settings = Settings(cache_url=redis_url)
    assert "cache_url" not in public(settings)
