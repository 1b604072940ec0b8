"""What a cache that fails costs: nothing but what it would have kept; real servers die here, and real disks fill up."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedkg.cache.disk import DiskStore
from fedkg.cache.fallback import FallbackStore
from fedkg.config.settings import Settings
from fedkg.core.answer import Status
from fedkg.errors import CacheError
from fedkg.session import CACHE_FAILED, Session
from fedkg.wiring.adapters import fallback_store
from tests.conftest import redis_server

QUESTION = "Who are the children of Marie Curie?"
FULL = """
import logging, resource, sys
from pathlib import Path
from fedkg.cache.disk import DiskStore
from fedkg.cache.fallback import FallbackStore
from fedkg.errors import CacheError

logging.basicConfig(format="%(message)s", stream=sys.stdout)
disk = DiskStore(Path(sys.argv[1]))
store = FallbackStore(disk)
store.put_many("labels", {"Q1": b"universe"})
largest = max(file.stat().st_size for file in Path(sys.argv[1]).rglob("*") if file.is_file())
resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))  # from here on the disk has no room
noise = open("/dev/urandom", "rb").read(2_000_000)
try:
    disk.put_many("labels", {"Q2": noise})
except CacheError as error:
    print("refused:", error.exit_code)
store.put_many("labels", {"Q2": noise})
store.put_many("labels", {"Q3": noise})
print(sorted(store.get_many("labels", ["Q1", "Q2", "Q3"])), sorted(disk.get_many("labels", ["Q1", "Q2", "Q3"])))
store.close()
"""


@pytest.fixture
def socket(tmp_path: Path) -> Path:
    """Where a server of this test alone listens."""
    return tmp_path / "r.sock"


@pytest.fixture
def server(socket: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """That server; a test may kill it."""
    pytest.importorskip("redis", reason="needs fedkg[redis]")
    with redis_server(socket) as server:
        yield server


def stopped(server: "subprocess.Popen[bytes]", socket: Path) -> None:
    """Kills the server."""
    server.kill()
    server.wait()
    socket.unlink(missing_ok=True)


async def test_a_server_that_dies_costs_no_answer(
    server: "subprocess.Popen[bytes]", socket: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Between two questions: the second is answered too, says so in its document, and the log says it once."""
    settings = Settings(endpoints=("sample",), embedder="bm25", cache_url=f"unix://{socket}", cache_dir=str(tmp_path))
    with caplog.at_level(logging.WARNING, "fedkg"):
        async with Session(settings=settings) as session:
            before = await session.ask(QUESTION)
            stopped(server, socket)
            after = await session.ask(QUESTION)
            again = await session.ask("Where was Marie Curie born?")
            assert await session.search("Marie Curie")
    assert (before.status, before.warnings) == (Status.ANSWERED, ())
    assert (after.answers, after.warnings) == (before.answers, (CACHE_FAILED,))
    assert again.warnings == (CACHE_FAILED,)
    [message] = [record.getMessage() for record in caplog.records]
    assert message.startswith("the shared cache cannot be used: ConnectionError; without it nothing is kept")


async def test_offline_a_server_that_dies_ends_the_question(
    server: "subprocess.Popen[bytes]", socket: Path, tmp_path: Path
) -> None:
    """Where the cache is the only source, a miss would be a lie."""
    settings = Settings(
        endpoints=("sample",), embedder="hashing", cache_url=f"unix://{socket}", cache_dir=str(tmp_path), mode="offline"
    )
    async with Session(settings=settings) as session:
        assert (await session.ask(QUESTION)).status is Status.ANSWERED
        stopped(server, socket)
        with pytest.raises(CacheError, match="the shared cache cannot be used"):
            await session.ask("Where was Pierre Curie born?")


def test_a_server_that_comes_back_is_used_again(
    server: "subprocess.Popen[bytes]", socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept in memory meanwhile stays readable, and goes where a later value reaches the server."""
    monkeypatch.setattr("fedkg.cache.fallback.PAUSE", 0.0)
    shared = pytest.importorskip("fedkg.cache.redis")
    store = FallbackStore(shared.RedisStore(f"unix://{socket}"))
    stopped(server, socket)
    store.put_many("labels", {"Q1": b"meanwhile", "Q2": b"meanwhile"})
    with redis_server(socket):
        store.put_many("labels", {"Q1": b"later"})
        assert store.get_many("labels", ["Q1", "Q2"]) == {"Q1": b"later", "Q2": b"meanwhile"}
        assert store.count() == {"labels": 1}
        assert store.update("labels", "Q1", lambda kept: (kept or b"") + b" on") == b"later on"
        store.drop("labels", ["Q2"])
        assert store.get_many("labels", ["Q2"]) == {}
        assert (store.clear("labels"), store.size()) == (1, 0)
    store.close()


def test_what_failed_is_left_alone_for_a_while(server: "subprocess.Popen[bytes]", socket: Path) -> None:
    """A server that is back is not asked again at once: each try may take its time limit."""
    shared = pytest.importorskip("fedkg.cache.redis")
    store = FallbackStore(shared.RedisStore(f"unix://{socket}"))
    stopped(server, socket)
    store.put_many("labels", {"Q1": b"meanwhile"})
    with redis_server(socket):
        store.put_many("labels", {"Q2": b"meanwhile"})
        assert store.count() == {}
    store.close()


def test_a_disk_without_room_is_read_and_not_written(tmp_path: Path) -> None:
    """What does not fit is in memory, what lies on the disk is still read, and the warning comes once."""
    done = subprocess.run([sys.executable, "-c", FULL, tmp_path / "cache"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, warning, kept = done.stdout.splitlines()
    assert refused == "refused: 3"
    assert warning.startswith(f"the cache cannot be kept in {tmp_path / 'cache' / 'store'}: ")
    assert kept == "['Q1', 'Q2', 'Q3'] ['Q1']"


def test_a_folder_that_is_a_file_costs_no_answer(tmp_path: Path) -> None:
    """The command answers, and says on stderr and in the document that it went without a cache."""
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "fedkg", "ask", QUESTION, "-e", "sample", "--embedder", "bm25", "--json"]
    command += ["--cache-dir", str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["warnings"] == [CACHE_FAILED]
    assert done.stderr.count("without it nothing is kept beyond this process") == 1
    assert str(tmp_path) not in done.stdout
    offline = subprocess.run([*command, "--mode", "offline"], capture_output=True, text=True, check=False)
    assert (offline.returncode, offline.stdout) == (3, "")
    assert "error: the cache cannot be kept in" in offline.stderr


def test_a_store_that_never_opened_is_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It keeps, counts and forgets as memory does."""
    (tmp_path / "file").write_text("")
    store = fallback_store(Settings(cache_dir=str(tmp_path / "file")))
    assert store.failed
    store.put_many("labels", {"Q1": b"universe"})
    assert (store.count(), store.size()) == ({"labels": 1}, 8)
    store.clear()
    assert store.get_many("labels", ["Q1"]) == {}
    store.close()
    assert len(caplog.records) == 1


def test_a_store_that_works_leaves_no_trace(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Everything goes to the lasting store, and nothing stays in memory."""
    store = FallbackStore(DiskStore(tmp_path))
    store.put_many("labels", {"Q1": b"universe"})
    assert store.entries("labels", ["Q1"]) == DiskStore(tmp_path).entries("labels", ["Q1"])
    assert (store._memory.size(), store.failed, caplog.records) == (0, False, [])
    store.close()
