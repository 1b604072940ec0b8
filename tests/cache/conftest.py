"""The kinds of store that several tests of the cache go through."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store


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


@pytest.fixture(params=["disk", "memory", "server"])
def store(request: pytest.FixtureRequest, disk: DiskStore) -> Iterator[Store]:
    """Each kind of store in turn, empty."""
    if request.param != "server":
        yield disk if request.param == "disk" else MemoryStore()
        return
    shared = pytest.importorskip("fedkg.cache.redis", reason="needs fedkg[redis]")
    server = shared.RedisStore(request.getfixturevalue("redis_url"))
    server.clear()
    yield server
    server.close()
