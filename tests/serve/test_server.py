"""The server over real connections."""

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.errors import SettingsError
from fedkg.serve.clients import Client
from fedkg.serve.server import ServerSettings, _listening
from tests.serve.conftest import MakeDesk, Stalled, running
from tests.support.pets import session_of

QUESTION = {"question": "Which pet has Ann?", "topics": ["Ann"]}


async def test_a_walk_over_a_connection(desk: MakeDesk, pets: Path) -> None:
    """Over a real connection, from the plan to the answer."""
    async with (
        running(desk(pets)) as (url, _),
        aiohttp.ClientSession(url) as client,
        client.post("/ask", json=QUESTION, headers={"accept": "text/event-stream"}) as reply,
    ):
        lines = [line.decode().strip() async for line in reply.content]
    kinds = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert (kinds[0], kinds[-1]) == ("Planned", "Answered")
    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert data[-1]["answer"]["answers"][0]["value"] == "Rex"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_client_that_goes_away_ends_its_question(desk: MakeDesk, pets: Path, accept: str) -> None:
    """What was asked of the endpoint is given up, and the turn is free."""
    stalled = Stalled(pets)
    made = desk(transport=stalled, at_once=1, waiting=0)
    async with running(made, stalled) as (url, _), aiohttp.ClientSession() as client:
        asking = asyncio.create_task(client.post(f"{url}/ask", json=QUESTION, headers={"accept": accept}))
        await stalled.asked.wait()
        asking.cancel()
        async with asyncio.timeout(20):
            await stalled.given_up.wait()
        stalled.go.set()
        await asyncio.sleep(0)  # the turn ends with the request
        async with client.post(f"{url}/ask", json=QUESTION) as reply:
            assert reply.status == 200


async def test_many_streams_that_are_dropped_at_once_hold_no_turn(desk: MakeDesk) -> None:
    """Whenever their clients go, from before the first event on: all turns are free, and a question is answered."""
    made = desk(at_once=15)
    async with running(made) as (url, _), aiohttp.ClientSession() as client:
        await asyncio.wait([asyncio.create_task(_dropped(url, number / 100)) for number in range(15)])
        async with asyncio.timeout(20):  # less than a stalled stream would hold its turn
            while not made.gate.empty:  # noqa: ASYNC110  # the gate has no event for it
                await asyncio.sleep(0.01)
            async with client.post(f"{url}/ask", json=QUESTION) as reply:
                assert reply.status == 200


async def _dropped(url: str, seconds: float) -> None:
    """Asks for a stream, and closes the connection so many seconds later."""
    _, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
    body = json.dumps(QUESTION).encode()
    head = "POST /ask HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\ncontent-type: application/json\r\n"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    await asyncio.sleep(seconds)
    writer.transport.abort()


async def test_what_is_under_way_is_answered_before_the_end(desk: MakeDesk, pets: Path) -> None:
    """A server that is told to end refuses further questions with 503, and answers those that it has."""
    stalled = Stalled(pets)
    made = desk(transport=stalled)
    async with running(made, stalled) as (url, server), aiohttp.ClientSession() as client:
        asking = asyncio.create_task(client.post(f"{url}/ask", json=QUESTION))
        await stalled.asked.wait()
        server.should_exit = True
        await server.on_tick(0)
        async with client.get(f"{url}/health") as health:
            assert (await health.json())["status"] == "draining"
        async with client.post(f"{url}/ask", json=QUESTION) as refused:
            assert (refused.status, refused.headers["retry-after"]) == (503, "2")
            assert (await refused.json())["error"] == "DrainingError"
        stalled.go.set()
        reply = await asking
        assert reply.status == 200
        assert (await reply.json())["status"] == "answered"


async def test_many_clients_at_once(desk: MakeDesk) -> None:
    """Of forty, those for whom there is room are answered, and all others are told to come back."""
    async with running(desk(at_once=2, waiting=6)) as (url, _), aiohttp.ClientSession() as client:

        async def one() -> int:
            async with client.post(f"{url}/ask", json=QUESTION) as reply:
                await reply.read()
                return reply.status

        statuses = [task.result() for task in (await asyncio.wait([asyncio.create_task(one()) for _ in range(40)]))[0]]
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 8


def test_another_address_needs_a_token() -> None:
    """Loopback is open, whatever its name; anything else asks for a client."""
    session = session_of("sample")
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert ServerSettings(host).desk(session).clients.open
    for host in ("0.0.0.0", "::", "192.0.2.1", "fedkg.example"):
        with pytest.raises(SettingsError, match="no tokens"):
            ServerSettings(host).desk(session)
        assert not ServerSettings(host, clients={"a": Client("0" * 64)}).desk(session).clients.open
    session.close()


def test_an_address_that_is_taken_is_bad_input() -> None:
    """The error names it, and what helps."""
    with _listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"127.0.0.1:{port}") as caught:
            _listening("127.0.0.1", port)
    assert "--port" in caught.value.hint
