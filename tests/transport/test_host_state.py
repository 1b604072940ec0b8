import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from fedkg.cache.disk import DiskStore
from fedkg.cache.entries import Entry
from fedkg.cache.memory import MemoryStore
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.transport.host_state import Clock, DetectedEngine, HostRegistry, HostState, origin

Serve = Callable[..., Awaitable[Any]]
WHERE = "http://h:80"
NOW = 1_000_000.0
DOWN = UnreachableError("down", status=503)
WRONG = QueryRejectedError("no", status=400)
CUT = TruncatedError("cut", status=200)
SILENT = EndpointTimeoutError("silent")
ERRORS = [
    DOWN,
    WRONG,
    CUT,
    SILENT,
    RefusedError("busy", status=429, wait=9),
    RefusedError("ban", status=403, wait=3600),
]


class Wall:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.time = NOW
        self.clock = Clock(now=lambda: self.time, wall=lambda: self.time)


def after(*errors: EndpointError | None, host: HostState | None = None, budget: int = 20) -> HostState:
    """The host after these replies at one instant, None being an answer."""
    host = host or HostState()
    for error in errors:
        host = host.failed(error, NOW, budget) if error else host.answered(NOW)
    return host


# ---- the state of one host ----


def test_five_in_a_row_shut_it_and_an_answer_ends_the_row() -> None:
    """Only failures that may pass count, and only those without an answer in between, be it a refusal of the query."""
    assert after(*[DOWN] * 4).shut(NOW) == 0
    assert after(*[DOWN] * 5).shut(NOW) == 30
    assert after(*[DOWN] * 4, None, DOWN).shut(NOW) == 0
    assert after(*[DOWN] * 4, WRONG, DOWN).shut(NOW) == 0
    assert after(*[DOWN] * 4, SILENT, DOWN).shut(NOW) == 30


def test_after_the_pause_one_finds_out() -> None:
    """Once the pause is over one request is on trial; its failure is another pause, its answer the end of it."""
    later = NOW + 31
    host = after(*[DOWN] * 5)
    assert (host.on_trial(NOW), host.on_trial(later)) == (False, True)
    tried = host.tried(later, 60)
    assert tried != host
    assert tried.tried(later + 1, 60) is tried, "another one is on its way"
    assert tried.untried().tried(later, 60) == tried
    assert tried.tried(later + 61, 60) != tried, "that one never came back"
    assert tried.failed(DOWN, later, 20).shut(later) == 30
    healed = tried.answered(later)
    assert not healed.on_trial(later)
    assert healed.failures == 0


def test_a_ban_is_not_lifted_by_a_request_that_was_on_its_way() -> None:
    """An answer that comes after a ban was sent before it."""
    assert after(RefusedError("ban", status=403, wait=3600), None).shut(NOW) == 3600


def test_short_waits_are_waited_for_and_long_ones_shut() -> None:
    """A minute is the border; nothing is shut for more than a week."""
    assert after(RefusedError("busy", wait=60)).delay(NOW) == 60
    assert after(RefusedError("busy", wait=60)).shut(NOW) == 0
    assert after(RefusedError("busy", wait=61)).shut(NOW) == 61
    assert after(RefusedError("busy", wait=float("inf"))).shut(NOW) == 7 * 86_400


@pytest.mark.parametrize(("error", "counts"), [(DOWN, True), (WRONG, True), (SILENT, True), (CUT, False)])
def test_the_error_budget_of_a_minute(error: EndpointError, counts: bool) -> None:
    """Failed requests of any kind use it up, a cut reply does not; a minute after the first there is room."""
    host = after(*[error, None] * 3, budget=3)
    assert host.shut(NOW) == (60 if counts else 0)
    assert host.shut(NOW + 60) == 0


@given(st.lists(st.tuples(st.sampled_from([None, *ERRORS]), st.floats(0, 40)), max_size=60), st.integers(1, 10))
def test_whoever_asks_only_when_he_may_stays_within_the_budget(
    replies: list[tuple[EndpointError | None, float]], budget: int
) -> None:
    """In no minute fail more requests than the budget, no wait is negative or longer than a week, and all is JSON."""
    host, now = HostState(), NOW
    failed: list[float] = []
    for error, pause in replies:
        now = max(now + pause, host.shut_until)
        host = host.tried(now, 60)
        host = host.failed(error, now, budget) if error else host.answered(now)
        failed += [now] if error and error is not CUT else []
        assert len([at for at in failed if at > now - 60]) <= budget
        assert 0 <= host.shut(now) <= 7 * 86_400
        assert 0 <= host.delay(now) <= 60
        assert msgspec.json.decode(msgspec.json.encode(host), type=HostState) == host


@given(st.lists(st.sampled_from([None, *ERRORS]), min_size=1, max_size=30))
def test_an_answer_on_trial_heals(replies: list[EndpointError | None]) -> None:
    """Whatever has happened: once the time is over, one answer opens the host."""
    host = after(*replies)
    later = NOW + 8 * 86_400
    assert not host.answered(later).on_trial(later)
    assert host.answered(later).shut(later) == 0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://h/sparql", "https://h:443"),
        ("http://H:8080/a/b", "http://h:8080"),
        ("http://h/", WHERE),
        ("", ""),
        ("http://h:x/", ""),
        ("file.nt", ""),
    ],
)
def test_the_origin_of_a_url(url: str, expected: str) -> None:
    """Scheme, host and port; whatever is no URL of a server has none."""
    assert origin(url) == expected


def test_after_a_ban_one_failure_is_a_pause() -> None:
    """Whatever shut the host: the request that finds out speaks for all others."""
    later = NOW + 3601
    assert after(RefusedError("ban", status=403, wait=3600)).tried(later, 60).failed(DOWN, later, 20).shut(later) == 30


def test_errors_that_lie_apart_are_within_the_budget() -> None:
    """Failures of different minutes neither shut a host nor put it on trial."""
    host = HostState()
    for minute in range(9):
        host = host.failed(WRONG, NOW + 60 * minute, 2)
    assert host.shut_until == 0


def test_a_budget_beyond_counting_is_none() -> None:
    """What nobody will ever use up is not kept count of."""
    host = after(*[WRONG] * 50, budget=1_000_000)
    assert (host.errors, host.shut(NOW)) == ((), 0)


# ---- kept ----


async def test_what_is_remembered_is_read_once_a_second_and_written_when_it_changes() -> None:
    """A healthy host costs no write, and a look at the store only after a second."""
    calls: list[str] = []

    class Counting(MemoryStore):
        def get_many(self, *args: object) -> dict[str, bytes]:
            calls.append("read")
            return super().get_many(*args)  # type: ignore[arg-type]

        def update(self, *args: object) -> bytes:
            calls.append("write")
            return super().update(*args)  # type: ignore[arg-type]

    wall = Wall()
    host_registry = HostRegistry(Counting(), wall.clock)
    for _ in range(5):
        await host_registry.change(WHERE, lambda host: host.answered(NOW))
    assert calls == ["read"]
    await host_registry.change(WHERE, lambda host: host.failed(DOWN, NOW, 9))
    assert calls[1:].count("write") == 1
    before = len(calls)
    wall.time += 1
    await host_registry.host(WHERE)
    await host_registry.host(WHERE)
    assert calls[before:] == ["read"]


async def test_another_process_sees_it(tmp_path: Path) -> None:
    """Two memories over one folder: a ban that one meets holds for the other after a second; forgetting does, too."""
    wall, files = Wall(), [DiskStore(tmp_path), DiskStore(tmp_path)]
    first, second = (HostRegistry(file, wall.clock) for file in files)
    assert (await second.host(WHERE)).shut(NOW) == 0
    await first.change(WHERE, lambda host: host.failed(RefusedError("ban", wait=3600), NOW, 9))
    assert (await second.host(WHERE)).shut(NOW) == 0
    wall.time += 1
    assert (await second.host(WHERE)).shut(wall.time) == 3599
    await second.forget("http://h/sparql")
    wall.time += 1
    assert await first.host(WHERE) == HostState(at=NOW + 1)
    for file in files:
        file.close()


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"shut_until": "soon"}',
        b'{"shut_until": -1}',
        b'{"shut_until": 1e308}',
        b'{"not_before": 1000061}',
        b'{"trial_until": 9999999999}',
        b'{"failures": 99999999999}',
        b'{"engines": {"http://h/": {"engine": "sql", "at": 1}}}',
        json.dumps({"errors": [NOW] * 20_000}).encode(),
        json.dumps({"why": "x" * 1000}).encode(),
    ],
)
async def test_what_nobody_can_have_written_is_ignored(value: bytes) -> None:
    """A damaged or hostile entry shuts nothing, least of all for years."""
    store = MemoryStore()
    store.put_many("manners", {WHERE: value})
    assert await HostRegistry(store, Wall().clock).host(WHERE) == HostState()


async def test_what_is_said_of_a_host_is_one_line() -> None:
    """Control characters of a reason that was kept do not reach a terminal."""
    store = MemoryStore()
    store.put_many("manners", {WHERE: json.dumps({"why": "a\x1b[2J\nb"}).encode()})
    assert (await HostRegistry(store, Wall().clock).host(WHERE)).why == "a [2J b"


async def test_engines_are_remembered_for_a_month() -> None:
    """Each URL has its engine, also in the next process, for thirty days; of very many the last stay."""
    store, wall = MemoryStore(), Wall()
    registry = HostRegistry(store, wall.clock)
    await registry.remember_engine("http://h/a", "virtuoso")
    await registry.remember_engine("http://h/b", "qlever")
    second = HostRegistry(store, wall.clock)
    await second.host(WHERE)
    assert [second.engine(f"http://h/{name}") for name in "abc"] == ["virtuoso", "qlever", None]
    wall.time += 31 * 86_400
    assert second.engine("http://h/a") is None
    for number in range(60):
        await second.remember_engine(f"http://h/{number}", "oxigraph")
    assert len(second.known(WHERE).engines) == 50
    assert second.known(WHERE).engines["http://h/59"] == DetectedEngine("oxigraph", wall.time)


async def test_a_disk_is_read_where_a_thread_would_take_longer(tmp_path: Path) -> None:
    """A first request goes out without a thread; while somebody writes, the event loop waits for no lock."""
    readers: list[int] = []

    class Noting(DiskStore):
        def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
            readers.append(threading.get_ident())
            return super().entries(namespace, keys)

        def update(self, namespace: str, key: str, change: Callable[[bytes | None], bytes]) -> bytes:
            begun.set()
            assert end.wait(60)
            return super().update(namespace, key, change)

    store, wall, begun, end = Noting(tmp_path), Wall(), threading.Event(), threading.Event()
    registry = HostRegistry(store, wall.clock)
    await registry.host(WHERE)
    assert readers == [threading.get_ident()]
    writing = asyncio.create_task(registry.change("http://other:80", lambda host: host.failed(DOWN, NOW, 9)))
    assert await asyncio.to_thread(begun.wait, 60)
    wall.time += 1
    looking = asyncio.create_task(registry.host(WHERE))
    await asyncio.sleep(0.01)
    assert not looking.done()
    end.set()
    await asyncio.gather(writing, looking)
    assert readers[-1] != threading.get_ident()
    store.close()


async def test_a_store_that_fails_does_not_make_it_forget() -> None:
    """What could not be written is still known in this process, and counted once."""

    class Broken(MemoryStore):
        def update(self, namespace: str, key: str, change: object) -> bytes:
            change(None)  # type: ignore[operator]
            return bytes(change(None))  # type: ignore[operator]

    host_registry = HostRegistry(Broken(), Wall().clock)
    for _ in range(5):
        await host_registry.change(WHERE, lambda host: host.failed(DOWN, NOW, 9))
    assert host_registry.known(WHERE).failures == 5
    assert (await host_registry.host(WHERE)).shut(NOW) == 30


# ---- several processes ----

FAIL = """
import asyncio, pathlib, sys
from fedkg.errors import UnreachableError
from fedkg.transport.host_state import HostRegistry
from fedkg.cache.disk import DiskStore

async def main(folder, times):
    host_registry = HostRegistry(DiskStore(pathlib.Path(folder)))
    for _ in range(times):
        await host_registry.change("http://h:80", lambda host: host.failed(UnreachableError("down"), 1.0, 20))

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""

ASK = """
import asyncio, pathlib, sys
from functools import partial
from fedkg.errors import RefusedError
from fedkg.transport.http import HttpTransport
from fedkg.transport.host_state import HostRegistry
from fedkg.transport.client import EndpointClient
from fedkg.sparql.results import accept
from fedkg.cache.disk import DiskStore

async def main(folder, url):
    host_registry = HostRegistry(DiskStore(pathlib.Path(folder)))
    acceptance = partial(accept, endpoint="e")
    polite = EndpointClient([HttpTransport(url)], acceptance, endpoint="e", host_registry=host_registry)
    try:
        await polite.select("ASK {}")
    except RefusedError as error:
        print(error)
    await polite.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_several_processes_lose_no_update(tmp_path: Path) -> None:
    """Whoever counts at the same time counts on."""
    command = [sys.executable, "-c", FAIL, str(tmp_path), "25"]
    running = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    store = DiskStore(tmp_path)
    assert msgspec.json.decode(store.get_many("manners", [WHERE])[WHERE], type=HostState).failures == 100
    store.close()


async def test_a_ban_holds_for_the_next_process(serve: Serve, tmp_path: Path) -> None:
    """One process is banned; the next one does not ask."""

    async def ban(_: web.Request) -> web.Response:
        return web.Response(status=403, text="You have been banned until 2999-01-01T00:00:00Z.")

    server = await serve(ban)
    outputs = []
    for _ in range(2):
        command = [sys.executable, "-c", ASK, str(tmp_path), server.url]
        process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        outputs.append((await process.communicate())[0].decode())
    assert "banned" in outputs[0]
    assert "left alone for another 604" in outputs[1]
    assert len(server.asked) == 1


async def test_a_change_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A pause that was asked for, a host that is shut and why, and one that is back; nothing else, and no password."""
    caplog.set_level("INFO", logger="fedkg.transport.host_state")
    now = 1_000.0
    hosts = HostRegistry(clock=Clock(wall=lambda: now))
    where = "https://e.org:443"
    await hosts.change(where, lambda host: host.failed(RefusedError("busy", wait=5), now, 10))
    await hosts.change(where, lambda host: host.failed(RefusedError("banned\x1b[31m", wait=600), now, 10))
    now += 601
    await hosts.change(where, lambda host: host.answered(now))
    await hosts.change(where, lambda host: host.answered(now))
    await hosts.remember_engine("https://me:password@e.org/sparql?key=value", "qlever")
    assert [record.getMessage() for record in caplog.records] == [
        "https://e.org:443 asked to wait for 5 s",
        "https://e.org:443 is not asked for 600 s: banned[31m",
        "https://e.org:443 has replied and is asked again",
        "https://e.org/sparql?…: its replies are those of the engine qlever",
    ]


# ---- clocks that jump ----


@pytest.mark.parametrize("jump", [-400 * 86_400.0, -86_400.0, -3600.0])
@pytest.mark.parametrize("shared", [True, False])
async def test_a_clock_that_goes_back_makes_no_pause_longer(jump: float, shared: bool) -> None:
    """What was to last 30 seconds, or an hour, lasts so long from the moment at which the clock is seen to be back."""
    wall = Wall()
    wall.time = NOW + 500 * 86_400.0
    registry = HostRegistry(MemoryStore() if shared else None, wall.clock)
    for error, pause in ((RefusedError("ban", status=403, wait=3600), 3600.0), (RefusedError("busy", wait=30), 30.0)):
        await registry.forget(WHERE)
        await registry.change(WHERE, lambda host, error=error: host.failed(error, wall.time, 20))  # type: ignore[misc]
        wall.time += jump
        host = await registry.host(WHERE)
        assert max(host.shut(wall.time), host.delay(wall.time)) == pytest.approx(pause)
        wall.time += pause / 2
        host = await registry.host(WHERE)
        assert max(host.shut(wall.time), host.delay(wall.time)) == pytest.approx(pause / 2)
        wall.time += pause
        host = await registry.host(WHERE)
        assert max(host.shut(wall.time), host.delay(wall.time)) == 0
        wall.time -= jump


async def test_a_clock_that_was_ahead_when_it_was_written(tmp_path: Path) -> None:
    """A process that starts after the clock was put right shuts a host for as long as was meant, not for years."""
    wall = Wall()
    wall.time += 30 * 365 * 86_400.0
    store = MemoryStore()
    ban = RefusedError("ban", status=403, wait=3600)
    await HostRegistry(store, wall.clock).change(WHERE, lambda host: host.failed(ban, wall.time, 20))
    wall.time = NOW
    host = await HostRegistry(store, wall.clock).host(WHERE)
    assert host.shut(NOW) == pytest.approx(3600)
    assert host.errors == (NOW,)


async def test_a_clock_that_goes_forth_lets_the_endpoint_be_asked_again() -> None:
    """A pause that is over by the clock is over: the endpoint is asked, and may ban again."""
    wall = Wall()
    registry = HostRegistry(MemoryStore(), wall.clock)
    ban = RefusedError("ban", status=403, wait=3600)
    await registry.change(WHERE, lambda host: host.failed(ban, wall.time, 20))
    wall.time += 86_400.0
    host = await registry.host(WHERE)
    assert not host.shut(wall.time)
    assert host.on_trial(wall.time)
