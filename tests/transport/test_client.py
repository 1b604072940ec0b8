import asyncio
import contextlib
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import stamina
from aiohttp import web

from fedkg.config.dialects import DIALECTS, GENERIC, Dialect, Format
from fedkg.config.profiles import Labels
from fedkg.core.meter import Meter
from fedkg.core.usage import Usage
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql import build, detect
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport import embedded
from fedkg.transport.client import EndpointClient
from fedkg.transport.host_state import HostRegistry
from fedkg.transport.http import HttpTransport
from tests.support.clients import (
    BANNED,
    BODY,
    BUSY,
    DOWN,
    GOOD,
    JSON,
    SLOW,
    WRONG,
    Crowd,
    Hours,
    polite,
    script,
    shut_until,
    turns,
)


async def test_a_query_is_put_in_the_dialect_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in that of an engine that another package brings."""
    monkeypatch.setitem(DIALECTS, "tinystore", Dialect("tinystore", branches=10))
    transport = script(GOOD)
    client = EndpointClient([transport], partial(accept, endpoint="e"), endpoint="e", engine="tinystore")
    await client.select(lambda dialect: f"{dialect.engine} {dialect.branches}")
    assert transport.queries == ["tinystore 10"]


# ---- which engine it is ----


async def test_an_unknown_engine_is_found_out_once() -> None:
    """Before the first query; who asks meanwhile waits for the same reply, and learns of it."""
    virtuoso = EndpointReply(400, {"content-type": "text/plain"}, b"Virtuoso 37000 Error SP030: SPARQL compiler")
    transport = script(virtuoso, url="http://e/sparql")
    client = EndpointClient([transport], partial(accept, endpoint="e"), endpoint="e")

    async def engines() -> list[str]:
        await client.identify()
        return list(client.engines.values())

    assert [*await asyncio.gather(engines(), engines())] == [["virtuoso"]] * 2
    assert await engines() == ["virtuoso"]
    assert transport.queries == [detect.PROBE]


async def test_an_engine_that_does_not_tell_is_asked_no_more() -> None:
    """An error is left to the first query."""
    transport = script(UnreachableError("gone"), url="http://e/sparql")
    client = EndpointClient([transport], partial(accept, endpoint="e"), endpoint="e")
    for _ in range(2):
        await client.identify()
    assert (transport.queries, list(client.engines.values())) == ([detect.PROBE], ["generic"])


# ---- in which format ----


class Formats(FakeTransport):
    """A transport that can ask for either format; it replies with what it has, and keeps what was asked for."""

    def __init__(self, **replies: EndpointReply) -> None:
        super().__init__(lambda _: replies["json"])
        self.replies = replies
        self.wanted: list[str] = []

    async def send_for(self, query: str, wanted: Format) -> EndpointReply:
        self.wanted.append(wanted)
        return self.replies[wanted]


XML = EndpointReply(
    200,
    {"content-type": "application/sparql-results+xml"},
    b'<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><results/></sparql>',
)


async def test_an_engine_is_asked_for_the_format_that_it_writes_quickest() -> None:
    """Virtuoso for XML, where its transport can choose."""
    transport = Formats(json=WRONG, xml=XML)
    assert (await polite(transport).select("q")).format == XML.content_type
    assert (transport.wanted, transport.queries) == (["xml"], [])


@pytest.mark.parametrize(
    "unread",
    [
        msgspec.structs.replace(XML, body=XML.body[:-3]),
        msgspec.structs.replace(XML, body=XML.body.replace(b"<head/>", b"")),
        EndpointReply(200, {"content-type": "text/html"}, b"<html>"),
        EndpointReply(406, {"content-type": "text/plain"}, b"not acceptable"),
    ],
)
async def test_what_cannot_be_read_in_one_format_is_asked_for_in_json(unread: EndpointReply) -> None:
    """Once for each endpoint: it is remembered whether this helped."""
    for in_json, asked in ((GOOD, ["xml"]), (EndpointReply(200, {}, b""), ["xml", "xml"])):
        transport = Formats(json=in_json, xml=unread)
        client = polite(transport)
        for _ in range(2):
            with contextlib.suppress(EndpointError):
                assert (await client.select("q")).bytes == len(BODY)
        assert (transport.wanted, len(transport.queries)) == (asked, 3 - len(asked))


@pytest.mark.parametrize(
    "trouble",
    [SLOW, WRONG, BANNED, msgspec.structs.replace(XML, headers={**XML.headers, "x-sparql-maxrows": "9"})],
)
async def test_what_another_format_would_not_mend_is_asked_once(trouble: EndpointReply) -> None:
    """A timeout, an error in the query, a ban or a cut are the same in JSON."""
    transport = Formats(json=GOOD, xml=trouble)
    with pytest.raises(EndpointError):
        await polite(transport).select("q")
    assert (transport.wanted, transport.queries) == (["xml"], [])


# ---- once more, or not ----


@pytest.mark.parametrize("trouble", [DOWN, UnreachableError("gone"), RefusedError("busy"), BUSY])
async def test_what_may_pass_is_tried_again(trouble: EndpointReply | EndpointError) -> None:
    """Broken connections, lost gateways and throttling are retried as often as the limits say, then raised."""
    assert (await polite(script(trouble, trouble, GOOD), retries=2).select("q")).bytes == len(BODY)
    transport = script(trouble)
    with pytest.raises((UnreachableError, RefusedError)):
        await polite(transport, retries=2).select("q")
    assert transport.queries == ["q"] * 3


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (SLOW, EndpointTimeoutError),
        (WRONG, QueryRejectedError),
        (EndpointReply(206, {}, b""), TruncatedError),
        (EndpointReply(200, {}, b""), NotSparqlError),
        (BANNED, RefusedError),
    ],
)
async def test_what_will_not_pass_is_asked_once(trouble: EndpointReply, error: type[EndpointError]) -> None:
    """Timeouts, cuts, rejections and bans are not asked again."""
    transport = script(trouble)
    with pytest.raises(error) as caught:
        await polite(transport).select("q", "edges")
    assert len(transport.queries) == 1
    assert (caught.value.endpoint, caught.value.asked) == ("e", "edges")


async def test_the_wait_that_was_asked_for_is_waited() -> None:
    """Retry-After is kept by everyone, also by the next query."""
    hours = Hours()
    gentle = polite(script(BUSY, GOOD, BUSY, GOOD), hours=hours, retries=1)
    await gentle.select("q")
    assert hours.slept == [9.0]
    await gentle.select("q")
    assert hours.slept == [9.0, 9.0]


async def test_no_more_waiting_than_a_minute() -> None:
    """A longer wait is told to the caller at once, and the endpoint is not asked until it is over."""
    hours = Hours()
    transport = script(EndpointReply(429, {"retry-after": "61"}, b"slow down"), GOOD)
    gentle = polite(transport, hours=hours)
    with pytest.raises(RefusedError) as caught:
        await gentle.select("q")
    assert caught.value.wait == 61
    hours.time += 20
    with pytest.raises(RefusedError, match=r"e is left alone for another 41 s: .*slow down") as caught:
        await gentle.select("q")
    assert (caught.value.wait, caught.value.endpoint) == (41, "e")
    hours.time += 41
    assert (await gentle.select("q")).bytes == len(BODY)
    assert (len(transport.queries), hours.slept) == (2, [])


async def test_five_failures_in_a_row_are_a_pause() -> None:
    """After the fifth failure it is left alone for 30 s; then one more failure is enough, and one answer heals it."""
    hours = Hours()
    transport = script(*[DOWN] * 6, GOOD, DOWN, GOOD)
    gentle = polite(transport, hours=hours, retries=9)
    for asked in (5, 5):
        with pytest.raises((UnreachableError, RefusedError)):
            await gentle.select("q")
        assert len(transport.queries) == asked
    hours.time += 30
    with pytest.raises(UnreachableError):
        await gentle.select("q")
    assert len(transport.queries) == 6
    hours.time += 30
    await gentle.select("q")
    await gentle.select("q")
    assert len(transport.queries) == 9


async def test_an_answer_that_says_no_is_an_answer() -> None:
    """Rejected queries are no failures of the endpoint: they end the row."""
    transport = script(*[DOWN] * 4, WRONG, *[DOWN] * 4, GOOD)
    gentle = polite(transport, retries=4)
    with pytest.raises(QueryRejectedError):
        await gentle.select("q")
    assert (await gentle.select("q")).bytes == len(BODY)


# ---- one tries first ----


async def test_after_a_pause_one_request_goes_first() -> None:
    """Of many that wait for a host that was shut one is sent; when it is answered, the others follow."""
    hours, crowd = Hours(), Crowd()
    gentle = polite(crowd, hours=hours, host_registry=await shut_until(hours, 1001.0), concurrency=9)
    hours.time += 2
    async with asyncio.TaskGroup() as tasks:
        for _ in range(5):
            tasks.create_task(gentle.select("q"))
        await turns()
        assert crowd.waiting == 1
        crowd.open.set()
    assert gentle.meter.usage().requests == 5


async def test_who_gives_up_lets_another_find_out() -> None:
    """A request on trial that is cancelled does not keep the others waiting."""
    hours, crowd = Hours(), Crowd()
    gentle = polite(crowd, hours=hours, host_registry=await shut_until(hours, 1001.0))
    hours.time += 2
    task = asyncio.create_task(gentle.select("q"))
    await turns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    crowd.open.set()
    await gentle.select("q")
    assert (gentle.meter.usage().requests, hours.slept) == (2, [])


async def test_the_error_budget_holds_for_all_urls_of_a_host() -> None:
    """Rejected queries use up the budget of a minute; another URL of that host is then left alone, too."""
    hours = Hours()
    host_registry = HostRegistry(clock=hours.clock)
    client = polite(script(WRONG, url="http://h/one"), hours=hours, host_registry=host_registry, errors=3)
    for _ in range(3):
        with pytest.raises(QueryRejectedError):
            await client.select("q")
    other = polite(script(GOOD, url="http://h/two"), hours=hours, host_registry=host_registry)
    with pytest.raises(RefusedError, match=r"another 60 s.*syntax error"):
        await other.select("q")
    hours.time += 60
    assert (await other.select("q")).bytes == len(BODY)


# ---- several replicas ----


async def test_the_next_replica_takes_over_and_keeps_the_work() -> None:
    """When the first choice fails the next one answers, and goes first for five minutes."""
    hours = Hours()
    first, second = script(DOWN, DOWN, GOOD), script(GOOD)
    gentle = polite(first, second, hours=hours, retries=1)
    for _ in range(3):
        await gentle.select("q")
    assert (len(first.queries), len(second.queries)) == (2, 3)
    hours.time += 301
    await gentle.select("q")
    assert (len(first.queries), len(second.queries)) == (3, 3)


async def test_a_banned_replica_is_left_alone_while_the_other_answers() -> None:
    """A ban holds for its replica only; when the other one fails too, the last error is raised."""
    first, second = script(BANNED, GOOD), script(GOOD, DOWN)
    gentle = polite(first, second, retries=0)
    await gentle.select("q")
    with pytest.raises(RefusedError, match="left alone"):
        await gentle.select("q")
    assert (len(first.queries), len(second.queries)) == (1, 2)


async def test_replicas_that_all_rest_are_asked_in_their_order() -> None:
    """Resting is about who goes first: it never leaves nobody to ask."""
    first, second = script(DOWN, GOOD), script(DOWN, GOOD)
    gentle = polite(first, second, retries=0)
    with pytest.raises(UnreachableError):
        await gentle.select("q")
    await gentle.select("q")
    assert (len(first.queries), len(second.queries)) == (2, 1)


async def test_another_replica_does_not_help_a_wrong_query() -> None:
    """Errors of the query stay with the replica that found them."""
    second = script(GOOD)
    with pytest.raises(QueryRejectedError):
        await polite(script(WRONG), second).select("q")
    assert not second.queries


def test_no_transport_at_all() -> None:
    """An endpoint that is served nowhere is a mistake of the program."""
    with pytest.raises(ValueError, match="needs a transport"):
        polite()


# ---- how many, how often, how long ----


# ---- until when ----


async def test_daily_business_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    """That an endpoint is asked again is a line for those who debug; other retries of the program warn as ever."""
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", logger="fedkg")  # a command in this process may have set another level
    caplog.set_level("DEBUG", logger="stamina")  # the command line silences it
    await polite(script(DOWN, GOOD), retries=1).select("q")
    assert [record.levelname for record in caplog.records if "again" in record.message] == ["DEBUG"]
    with contextlib.suppress(OSError):
        for attempt in stamina.retry_context(on=OSError, attempts=2):
            with attempt:
                raise OSError
    assert {record.name for record in caplog.records if record.levelname == "WARNING"} == {"stamina"}


def test_one_endpoint_serves_several_event_loops() -> None:
    """Slots and pace belong to the event loop: queues of one loop do not get stuck in another."""
    gentle = polite(script(GOOD), concurrency=1, interval=0.001)

    async def several() -> int:
        return len(await asyncio.gather(*(gentle.select("q") for _ in range(4))))

    assert [asyncio.run(several()) for _ in range(3)] == [4, 4, 4]
    assert len(gentle._gates) == 1


# ---- what it cost ----


async def test_the_meter_counts_requests_bytes_kinds_and_waves() -> None:
    """Queries side by side are one round trip, one after the other several; retries and failures count."""
    meter = Meter()
    healthy = polite(script(GOOD), meter=meter)
    flaky = polite(script(DOWN, GOOD), meter=meter, retries=1)
    await asyncio.gather(healthy.select("a", "edges"), healthy.select("b", "edges"), flaky.select("c", "labels"))
    first = meter.usage()
    assert first.by_kind == {"edges": 2, "labels": 2}
    assert (first.requests, first.bytes) == (4, 3 * len(BODY) + len(DOWN.body))
    await healthy.select("d", "search")
    new = meter.since(first)
    assert new == Usage(requests=1, round_trips=1, bytes=len(BODY), by_kind={"search": 1})
    assert healthy.meter is flaky.meter


async def test_requests_in_flight_together_are_one_wave() -> None:
    """A wave ends when nothing is in flight any more."""
    crowd = Crowd()
    gentle = polite(crowd, concurrency=8)
    for waves in (1, 2):
        crowd.open.clear()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(5):
                tasks.create_task(gentle.select("q"))
            await turns()
            crowd.open.set()
        assert gentle.meter.usage().round_trips == waves
    assert gentle.meter.usage().requests == 10


async def test_a_large_reply_keeps_nobody_waiting() -> None:
    """While it is read the event loop goes on: other endpoints have deadlines, too."""
    others = threading.Event()

    def check(reply: EndpointReply) -> Rows:
        assert others.wait(20), "the event loop stood still"
        return accept(reply, endpoint="e")

    large = EndpointReply(200, GOOD.headers, BODY + b" " * 500_000)
    gentle = EndpointClient([script(large)], check, endpoint="e")
    asyncio.get_running_loop().call_later(0.05, others.set)
    assert (await gentle.select("q")).bytes == len(large.body)


# ---- over a real connection ----


async def test_a_flaky_server_is_survived(serve: Callable[..., Awaitable[Any]]) -> None:
    """A hung-up connection, a broken body and a throttle in a row, and still the rows come."""
    seen: list[str] = []

    async def flaky(request: web.Request) -> web.StreamResponse:
        seen.append("x")
        if len(seen) == 1:
            assert request.transport is not None
            request.transport.close()
        if len(seen) == 2:
            return web.Response(status=429, headers={"Retry-After": "3"})
        return web.Response(body=b"?" if len(seen) == 1 else BODY, content_type=JSON)

    server = await serve(flaky)
    hours = Hours()
    gentle = polite(HttpTransport(server.url), hours=hours, retries=3)
    assert (await gentle.select("ASK {}")).bytes == len(BODY)
    await gentle.close()
    assert (gentle.meter.usage().by_kind, hours.slept) == ({"": 3}, [3.0])


@pytest.fixture
async def tongue_tied(serve: Callable[..., Awaitable[Any]], tmp_path: Path) -> AsyncIterator[Any]:
    """A server over a small graph that fails, deterministically, over names in several languages in one list."""
    file = tmp_path / "g.ttl"
    file.write_text('<http://x/a> <http://x/n> "A"@en . <http://x/b> <http://x/n> "A"@de .')
    graph = embedded.load(file)

    async def answer(request: web.Request) -> web.StreamResponse:
        query = str((await request.post())["query"])
        if any("@" in values and values.count('"A"') > 1 for values in re.findall(r"VALUES[^{]*{([^}]*)}", query)):
            return web.Response(status=500, text="Error: attempt to compare literals with differing languages")
        reply = await graph.send(query)
        return web.Response(status=reply.status, body=reply.body, content_type=JSON)

    yield await serve(answer)
    await graph.close()


def spelled(dialect: Dialect) -> str:
    """A name in two languages."""
    return build.named(["A"], Labels(("http://x/n",)), ("en", "de"), 9, dialect)


async def test_a_query_that_the_engine_fails_over_is_put_plainly(tongue_tied: Any) -> None:
    """Once as it is and once as constants in a union; from then on queries of that kind are plain at once."""
    gentle = EndpointClient(
        [HttpTransport(tongue_tied.url)], partial(accept, endpoint="e"), endpoint="e", detects=False
    )
    for asked in (2, 3):
        assert {row["e0"].text for row in (await gentle.select(spelled, "search")).rows} == {
            "<http://x/a>",
            "<http://x/b>",
        }
        assert len(tongue_tied.asked) == asked
    await gentle.close()


async def test_what_no_other_words_help_is_refused_at_once(tongue_tied: Any) -> None:
    """The engine's own text is what is shown, and nobody asks four times."""
    gentle = EndpointClient(
        [HttpTransport(tongue_tied.url)], partial(accept, endpoint="e"), endpoint="e", detects=False
    )
    with pytest.raises(QueryRejectedError, match="500: Error: attempt to compare literals with differing languages"):
        await gentle.select(spelled(GENERIC), "search")
    assert len(tongue_tied.asked) == 1
    await gentle.close()
