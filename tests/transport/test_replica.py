import asyncio
from functools import partial
from typing import Any

import msgspec
import pytest

from fedkg.config.dialects import Dialect, Engine
from fedkg.config.profiles import Limits
from fedkg.errors import QueryRejectedError
from fedkg.sparql.detect import PROBE
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.client import EndpointClient
from fedkg.transport.host_state import Clock, HostRegistry, origin
from fedkg.transport.replica import Replica, RequestAttempt
from tests.support.virtual_time import virtual_time

JSON = {"content-type": "application/sparql-results+json"}
BODY = b'{"head": {}, "results": {"bindings": []}}'
GOOD = EndpointReply(200, JSON, BODY)
VIRTUOSO = EndpointReply(200, {**JSON, "server": "Virtuoso/07.20"}, BODY)
QLEVER = EndpointReply(400, {}, b'{"query": "", "status": "ERROR", "exception": "Invalid SPARQL query"}')
URL = "http://h/sparql"
DOWN = EndpointReply(503, {"content-type": "text/html"}, b"<html>down</html>")


def script(*replies: EndpointReply, url: str = URL) -> FakeTransport:
    """A transport that gives these one after the other, the last one for ever."""
    left = list(replies)
    return FakeTransport(lambda _: left.pop(0) if len(left) > 1 else left[0], url)


def polite(*transports: FakeTransport, **options: Any) -> EndpointClient:
    """A EndpointClient called e over these transports."""
    limits = {name: options.pop(name) for name in ("patience", "retries") if name in options}
    test = partial(accept, endpoint="e")
    return EndpointClient(transports, test, endpoint="e", limits=Limits(**limits), **options)


def spoken(dialect: Dialect) -> str:
    """A query that is the name of the engine it is made for."""
    return dialect.engine


async def test_what_replies_show_is_believed_and_remembered() -> None:
    """The first reply with a mark decides, for the next process as well; a mark in a good reply costs no request."""
    host_registry = HostRegistry()
    transport = script(VIRTUOSO, GOOD)
    gentle = polite(transport, engine="generic", host_registry=host_registry)
    for _ in range(2):
        await gentle.select(spoken)
    assert transport.queries == ["generic", "virtuoso"]
    assert gentle.engines == {URL: "virtuoso"}
    assert polite(script(GOOD), engine="generic", host_registry=host_registry).engines == {URL: "virtuoso"}


async def test_a_query_in_the_wrong_dialect_is_put_once_more() -> None:
    """Where another engine answers than was believed, the rejected query is made again for it; a text cannot be."""
    transport = script(QLEVER, GOOD)
    gentle = polite(transport, engine="virtuoso")
    assert (await gentle.select(spoken)).bytes == len(BODY)
    assert transport.queries == ["virtuoso", "qlever"]
    with pytest.raises(QueryRejectedError):
        await polite(script(QLEVER, GOOD)).select("text")


async def test_the_engine_is_found_out_before_a_heavy_query() -> None:
    """A hop in the wrong dialect may cost a simple server minutes."""
    transport = script(QLEVER, GOOD)
    await polite(transport).select(spoken, "neighbours")
    assert transport.queries == [PROBE, "qlever"]


async def test_a_query_that_stays_wrong_is_no_loop() -> None:
    """One more request, whatever the replies show."""
    transport = script(QLEVER)
    with pytest.raises(QueryRejectedError):
        await polite(transport, engine="virtuoso").select(spoken)
    assert transport.queries == ["virtuoso", "qlever"]


async def test_who_shows_nothing_is_asked_once() -> None:
    """The probe is sent once per URL and month, whatever comes of it, and counted as a kind of its own."""
    wall = [1e9]
    host_registry = HostRegistry(clock=Clock(wall=lambda: wall[0]))
    for probes in (1, 0):
        transport = script(GOOD)
        gentle = polite(transport, engine="generic", host_registry=host_registry)
        for _ in range(3):
            await gentle.select("q", "edges")
        assert transport.queries.count(PROBE) == probes
        assert gentle.meter.usage().by_kind.get("engine", 0) == probes
    wall[0] += 31 * 86_400
    late = script(GOOD, QLEVER, GOOD)
    gentle = polite(late, engine="generic", host_registry=host_registry)
    for _ in range(2):
        await gentle.select(spoken)
    assert late.queries == ["generic", PROBE, "qlever"]


@pytest.mark.parametrize("word", ["generic", "blazegraph"])
async def test_a_profile_may_insist(word: Engine) -> None:
    """With detects = false nothing is asked, and no reply changes the dialect."""
    transport = script(VIRTUOSO)
    gentle = polite(transport, engine=word, detects=False)
    for _ in range(2):
        await gentle.select(spoken)
    assert transport.queries == [word, word]


async def test_replicas_may_be_of_different_engines() -> None:
    """Each replica is asked in its own dialect."""
    first, second = script(QLEVER, DOWN, url="http://one/"), script(VIRTUOSO, url="http://two/")
    gentle = polite(first, second, engine="generic", retries=0)
    await gentle.select(spoken)
    assert (first.queries, second.queries) == (["generic", "qlever"], ["generic"])
    assert gentle.engines == {"http://one/": "qlever", "http://two/": "virtuoso"}


@virtual_time
async def test_a_probe_that_hangs_costs_no_answer() -> None:
    """What was answered before the question for the engine is returned, however long that takes."""

    class Mute(FakeTransport):
        async def send(self, query: str) -> EndpointReply:
            if query == PROBE:
                await asyncio.Event().wait()
            return await super().send(query)

    gentle = polite(Mute(lambda _: GOOD, URL), engine="generic", patience=0.2)
    assert (await gentle.select("q")).bytes == len(BODY)


async def test_who_died_while_it_tried_holds_the_others_for_ten_seconds() -> None:
    """A process that claimed to find out whether a host is back, then fell silent, is waited for like a reply."""
    wall = [1e9]

    async def sleep(seconds: float) -> None:
        wall[0] += seconds

    clock = Clock(now=lambda: wall[0], sleep=sleep, wall=lambda: wall[0])
    host_registry = HostRegistry(clock=clock)
    await host_registry.change(origin(URL), lambda host: msgspec.structs.replace(host, shut_until=wall[0]))
    dead = Replica(script(GOOD), host_registry, clock, "virtuoso", detects=False)
    assert await dead.enter(RequestAttempt(), "e") is True
    gentle = polite(script(GOOD), host_registry=host_registry, clock=clock, engine="virtuoso")
    await gentle.select("q")
    assert wall[0] - 1e9 == pytest.approx(10, abs=0.2)
    assert not host_registry.known(origin(URL)).on_trial(wall[0])


async def test_what_runs_in_this_process_is_not_asked() -> None:
    """A graph in memory has no URL, and no engine to be found out."""
    transport = script(GOOD, url="")
    await polite(transport, engine="generic").select("q")
    assert transport.queries == ["q"]
