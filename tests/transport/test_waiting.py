"""How long a client waits: for a slot, for a reply, and for an endpoint that stalls."""

import asyncio
import time
from functools import partial

import msgspec
import pytest

from fedkg.config.profiles import Limits
from fedkg.core import deadline
from fedkg.core.meter import Meter
from fedkg.errors import (
    EndpointTimeoutError,
    RefusedError,
)
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.client import EndpointClient
from fedkg.transport.host_state import Clock
from tests.support.clients import (
    BUSY,
    DOWN,
    GOOD,
    Crowd,
    Hours,
    polite,
    script,
    turns,
)
from tests.support.virtual_time import virtual_time


async def test_no_more_at_once_than_allowed() -> None:
    """However many ask, at most `concurrency` requests are in flight."""
    crowd = Crowd()
    gentle = polite(crowd, concurrency=3)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(10):
            tasks.create_task(gentle.select("q"))
        await turns()
        assert crowd.waiting == 3
        crowd.open.set()
    assert crowd.most == 3
    await gentle.close()
    assert crowd.closed


async def test_a_short_question_does_not_wait_for_a_hub_s_requests() -> None:
    """Questions have the slots in turns: the two requests of one are sent among the first of the other's twenty."""
    sent: list[str] = []

    class Distant(FakeTransport):
        async def send(self, query: str) -> EndpointReply:
            sent.append(query)
            await turns()
            return GOOD

    gentle = polite(Distant(lambda _: GOOD), concurrency=2)

    async def question(name: str, requests: int) -> None:
        with Meter().own():
            await asyncio.gather(*(gentle.select(name) for _ in range(requests)))

    await asyncio.gather(question("hub", 20), question("short", 2))
    assert len(sent) == 22
    assert sent[:6].count("short") == 2


@virtual_time
async def test_requests_keep_their_distance() -> None:
    """Between two requests lie at least `interval` seconds, retries included."""
    loop = asyncio.get_running_loop()
    gentle = polite(script(DOWN, GOOD), interval=0.05, retries=1)
    start = loop.time()
    await asyncio.gather(*(gentle.select("q") for _ in range(3)))
    assert loop.time() - start == pytest.approx(0.15, abs=1e-3)


@virtual_time
async def test_time_runs_from_the_slot_on() -> None:
    """Waiting for a slot does not count: many queries in a row each have their whole time."""

    class Tardy(FakeTransport):
        async def send(self, query: str) -> EndpointReply:
            done = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_later(0.1, done.set_result, GOOD)
            result: EndpointReply = await done
            return result

    gentle = polite(Tardy(lambda _: GOOD), concurrency=1, timeout=0.4)
    assert len(await asyncio.gather(*(gentle.select("q") for _ in range(6)))) == 6


@virtual_time
async def test_a_request_that_takes_too_long_is_cut_off() -> None:
    """The deadline ends a request, frees its slot, and is not retried."""
    crowd = Crowd()
    gentle = polite(crowd, concurrency=1, timeout=0.05)
    for _ in range(2):
        with pytest.raises(EndpointTimeoutError, match=r"e: no whole reply within 0\.05 s"):
            await gentle.select("q")
    assert gentle.meter.usage().requests == 2


async def test_a_cancelled_question_frees_its_slot() -> None:
    """Whoever gives up leaves the slot and the meter as they were."""
    crowd = Crowd()
    gentle = polite(crowd, concurrency=1)
    task = asyncio.create_task(gentle.select("q"))
    await turns()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    crowd.open.set()
    await gentle.select("q")
    assert gentle.meter.usage().round_trips == 2


@virtual_time
async def test_a_queue_counts_against_the_time() -> None:
    """Whoever waits for a slot is told so when his patience is over, and has asked nobody."""
    crowd = Crowd()
    gentle = polite(crowd, concurrency=1, patience=0.05)
    outcomes = await asyncio.gather(*(gentle.select("q", "edges") for _ in range(3)), return_exceptions=True)
    assert [str(error) for error in outcomes] == [
        "e: no answer within 0.05 s: no whole reply",
        "e: no answer within 0.05 s: waiting for a slot behind other requests",
        "e: no answer within 0.05 s: waiting for a slot behind other requests",
    ]
    assert {type(error) for error in outcomes} == {EndpointTimeoutError}
    assert gentle.meter.usage().by_kind == {"edges": 1}


@virtual_time
async def test_a_third_of_what_is_left_of_a_question() -> None:
    """A stalling endpoint takes a third of the question's time, so that the others' answers can still be used."""
    gentle = polite(Crowd())
    with deadline.within(0.3):
        with pytest.raises(EndpointTimeoutError, match=r"within 0\.1 s"):
            await gentle.select("q")
        assert deadline.left() == pytest.approx(0.2, abs=1e-3)


@virtual_time
async def test_a_pace_counts_against_the_time() -> None:
    """Requests that the pace puts behind the end are not sent."""
    gentle = polite(script(GOOD), interval=5.0, patience=0.1)
    await gentle.select("q")
    with pytest.raises(EndpointTimeoutError, match="waiting for the pace"):
        await gentle.select("q")
    assert gentle.meter.usage().requests == 1


@virtual_time
async def test_a_longer_wait_than_there_is_time_fails_at_once() -> None:
    """Retry-After beyond the deadline is not slept through, neither by this request nor by the next."""
    hours = Hours()
    transport = script(BUSY, GOOD)
    gentle = polite(transport, hours=hours)
    with deadline.within(10):
        for says in ("^e answered 429", "^e is left alone for another 9 s"):
            with pytest.raises(RefusedError, match=says) as caught:
                await gentle.select("q")
            assert caught.value.wait == 9
    assert (len(transport.queries), hours.slept) == (1, [])


@virtual_time
async def test_waiting_as_asked_is_no_stall() -> None:
    """The time that an endpoint asked for is told as such, and says nothing against it."""

    async def forever(_: float) -> None:
        await asyncio.Event().wait()

    transport = script(RefusedError("e is busy", wait=0.001))
    gentle = EndpointClient(
        [transport],
        partial(accept, endpoint="e"),
        endpoint="e",
        limits=Limits(patience=0.02),
        clock=Clock(now=time.monotonic, sleep=forever, wall=time.monotonic),
    )
    for _ in range(4):
        with pytest.raises(EndpointTimeoutError, match="the endpoint asked to wait: e is busy"):
            await gentle.select("q")
    assert len(transport.queries) == 4


@virtual_time
async def test_two_stalls_in_a_row_shut_a_replica_for_this_process() -> None:
    """Later hops do not wait again; half a minute later they do."""
    hours, crowd = Hours(), Crowd()
    gentle = polite(crowd, hours=hours, patience=0.02)
    for _ in range(2):
        with pytest.raises(EndpointTimeoutError):
            await gentle.select("q")
    with pytest.raises(RefusedError, match="left alone for another 30 s: it has not replied in time"):
        await gentle.select("q")
    hours.time += 31
    crowd.open.set()
    await gentle.select("q")
    assert gentle.meter.usage().requests == 3


@virtual_time
async def test_requests_that_go_out_together_stall_once() -> None:
    """Both directions of a hub may be too much; the smaller requests that follow are still sent."""
    hours, crowd = Hours(), Crowd()
    gentle = polite(crowd, hours=hours, patience=0.02)
    for wave in (4, 8):
        hours.time += 1
        waiting = [asyncio.create_task(gentle.select("q")) for _ in range(4)]
        await turns()
        hours.time += 1
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert {type(error) for error in outcomes} == {EndpointTimeoutError}
        assert gentle.meter.usage().requests == wave
    with pytest.raises(RefusedError, match="has not replied in time"):
        await gentle.select("q")


class Unhurried(FakeTransport):
    """A transport whose replies take `seconds` by its own account, and that never replies to "slow"."""

    seconds = 3.0

    async def send(self, query: str) -> EndpointReply:
        if query == "slow":
            await asyncio.Event().wait()
        return msgspec.structs.replace(await super().send(query), seconds=self.seconds)


@virtual_time
async def test_having_hardly_any_time_says_nothing_against_an_endpoint() -> None:
    """Who gives up after less time than the replies take has no reason to leave the endpoint alone."""
    transport = Unhurried(lambda _: GOOD)
    transport.seconds = 0.02
    gentle = polite(transport, patience=0.03)
    for _ in range(4):
        await gentle.select("q")
        for _ in range(3):
            with pytest.raises(EndpointTimeoutError):
                await gentle.select("slow")


@virtual_time
async def test_a_reply_that_cannot_come_in_time_is_not_asked_for() -> None:
    """Where even the fastest reply took longer than there is time, the others have that time."""
    transport = Unhurried(lambda _: GOOD)
    gentle = polite(transport)
    await gentle.select("q")
    with (
        deadline.within(6),
        pytest.raises(EndpointTimeoutError, match=r"e is not asked: its replies take 3 s, and 2 s"),
    ):
        await gentle.select("q")
    with deadline.within(12):
        await gentle.select("q")
    assert len(transport.queries) == 2


@virtual_time
async def test_a_stall_between_answers_is_the_querys_own() -> None:
    """What comes back in between says that the host is well, even where it says no."""
    hours, crowd = Hours(), Crowd()
    gentle = polite(crowd, hours=hours, patience=0.02)
    for _ in range(3):
        with pytest.raises(EndpointTimeoutError):
            await gentle.select("q")
        crowd.open.set()
        await gentle.select("q")
        crowd.open.clear()


@virtual_time
async def test_after_a_stall_the_other_replica_goes_first() -> None:
    """The replica that kept silent is asked after the others."""
    crowd, second = Crowd(), script(GOOD)
    gentle = polite(crowd, second, patience=0.02)
    with pytest.raises(EndpointTimeoutError):
        await gentle.select("q")
    await gentle.select("q")
    assert len(second.queries) == 1
