"""The protocol over real connections on loopback."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest

from fedkg.serve.clients import Client, digest
from tests.mcp.conftest import Era, MakeDesk, Stalled
from tests.serve.conftest import running
from tests.support.extras import needs

if TYPE_CHECKING:
    from fedkg.serve.desk import Desk
    from fedkg.serve.server import DrainingServer

pytestmark = [needs("mcp", "mcp"), needs("serve", "litestar")]
QUESTION = {"question": "Which pet does Ann have?"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}
both = pytest.mark.parametrize("era", ["legacy", "auto"])


def serving(desk: "Desk", stalled: Stalled | None = None) -> AbstractAsyncContextManager[tuple[str, "DrainingServer"]]:
    """The desk's tools on a free port of loopback."""
    from fedkg.mcp.http import http_application  # noqa: PLC0415  # the extra may be missing
    from fedkg.mcp.tools import Toolbox  # noqa: PLC0415

    return running(desk, stalled, made=lambda desk: http_application(Toolbox(desk), "127.0.0.2"))


@both
async def test_a_client_asks_over_http(desk: MakeDesk, era: Era) -> None:
    """The SDK's client gets the answer, with the progress on the way."""
    from mcp import Client as ProtocolClient  # noqa: PLC0415

    lines: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message)

    async with serving(desk()) as (url, _), ProtocolClient(f"{url}/mcp", mode=era) as client:
        result = await client.call_tool("ask", QUESTION, progress_callback=note)
    assert result.structured_content["answers"][0]["value"] == "Rex"
    assert lines


@both
async def test_a_cancelled_call_ends_its_question(desk: MakeDesk, pets: Path, era: Era) -> None:
    """Over a connection, too."""
    from mcp import Client as ProtocolClient  # noqa: PLC0415

    stalled = Stalled(pets)
    made = desk(transport=stalled, at_once=1)
    async with serving(made, stalled) as (url, _), ProtocolClient(f"{url}/mcp", mode=era) as client:
        await client.list_tools()
        call = asyncio.create_task(client.call_tool("ask", QUESTION))
        await stalled.asked.wait()
        call.cancel()
        async with asyncio.timeout(20):
            await stalled.given_up.wait()
        stalled.go.set()
        assert not (await client.call_tool("search", {"text": "Ann"})).is_error


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:1"}, 200),
        ({"host": "127.0.0.2:1"}, 200),
        ({"host": "127.0.0.3:1"}, 421),
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"content-type": "text/plain"}, 400),
    ],
)
async def test_no_web_page_may_ask(desk: MakeDesk, headers: dict[str, str], status: int) -> None:
    """Without tokens neither a page's request nor one for a name that is not this machine's is served."""
    sent = {"content-type": "application/json", **ACCEPT, **headers}
    async with (
        serving(desk()) as (url, _),
        aiohttp.ClientSession() as client,
        client.post(f"{url}/mcp", json=HELLO, headers=sent) as reply,
    ):
        assert reply.status == status


async def test_a_session_left_behind_makes_room(desk: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where as many are open as may be, a silent one ends, and the next client is served."""
    from fedkg.mcp import http  # noqa: PLC0415  # the extra may be missing

    monkeypatch.setattr(http, "MOST_SESSIONS", 1)
    monkeypatch.setattr(http, "SILENCE", 0.2)
    statuses = list[int]()
    async with serving(desk()) as (url, _), aiohttp.ClientSession() as client, asyncio.timeout(20):
        while statuses.count(200) < 2:
            async with client.post(f"{url}/mcp", json=HELLO, headers=ACCEPT) as reply:
                statuses.append(reply.status)
            await asyncio.sleep(0.05)
    assert set(statuses) <= {200, 503}


async def test_a_server_with_tokens_serves_those_who_have_one(desk: MakeDesk) -> None:
    """By any name, as behind a proxy; each client has its own answers and its own bounds."""
    clients = {name: Client(digest(f"the token of {name}")) for name in ("ann", "ben")}
    clients["ben"] = Client(digest("the token of ben"), seconds=1e-9)
    async with serving(desk(clients=clients)) as (url, _), aiohttp.ClientSession() as client:
        for token, status in (("", 401), ("the token of eve", 401), ("the token of ann", 200)):
            headers = {**ACCEPT, "host": "mcp.example", "authorization": f"Bearer {token}"}
            async with client.post(f"{url}/mcp", json=HELLO, headers=headers) as reply:
                assert reply.status == status
        assert (await _called(url, "ann", "ask", QUESTION))[0] is False
        assert (await _called(url, "ann", "answer", {"answer_id": "a1"}))[0] is False
        assert "DocumentError" in (await _called(url, "ben", "answer", {"answer_id": "a1"}))[1]
        await _called(url, "ben", "search", {"text": "Ann"})
        assert "OverLimitError" in (await _called(url, "ben", "ask", QUESTION))[1]


async def _called(url: str, name: str, tool: str, arguments: dict[str, str]) -> tuple[bool, str]:
    """Whether the call of that client is an error, and its text."""
    import httpx2  # noqa: PLC0415  # the extra may be missing
    from mcp import Client as ProtocolClient  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    headers = {"authorization": f"Bearer the token of {name}"}
    async with (
        httpx2.AsyncClient(headers=headers) as connection,
        ProtocolClient(streamable_http_client(f"{url}/mcp", http_client=connection)) as client,
    ):
        result = await client.call_tool(tool, arguments)
        return result.is_error, str(result.content)
