"""What becomes of connections that hold the server up."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import aiohttp
import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.serve import protocol
from tests.serve.conftest import MakeDesk, running

HEAD = b"POST /ask HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@contextlib.asynccontextmanager
async def connection(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection to the server."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()


async def end(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection ends, however it does."""
    with contextlib.suppress(ConnectionResetError):
        async with asyncio.timeout(20):
            return await reader.read()
    return b""


async def healthy(url: str) -> bool:
    """Whether the server answers."""
    async with aiohttp.ClientSession() as client, client.get(f"{url}/health") as reply:
        return reply.status == 200


async def test_one_connection_too_many_is_closed(desk: MakeDesk) -> None:
    """It is told so, those that are open are not harmed, and one that ends makes room."""
    async with running(desk(), connections=2) as (url, _):
        async with connection(url), connection(url) as (reader, writer), connection(url) as (third, _):
            assert (await end(third)).startswith(b"HTTP/1.1 503")
            writer.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            assert (await end(reader)).startswith(b"HTTP/1.1 200")
        assert await healthy(url)


@pytest.mark.parametrize(
    "part",
    [b"", HEAD, HEAD + b"content-length: 50\r\n\r\n{", HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n"],
    ids=["nothing", "half a head", "half a body", "half of the chunks"],
)
async def test_a_request_that_does_not_arrive_loses_its_connection(
    desk: MakeDesk, monkeypatch: pytest.MonkeyPatch, part: bytes
) -> None:
    """However far it came; its bytes one by one gain it no time."""
    monkeypatch.setattr(protocol, "ARRIVAL", 0.1)
    async with running(desk()) as (url, _):
        async with connection(url) as (reader, writer):
            writer.write(part)
            assert await end(reader) == b""
        async with connection(url) as (reader, writer):
            sending = asyncio.create_task(_drip(writer))
            assert await end(reader) == b""
            sending.cancel()
        monkeypatch.undo()
        assert await healthy(url)


async def _drip(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        for byte in HEAD * 100:
            writer.write(bytes((byte,)))
            await writer.drain()
            await asyncio.sleep(0.01)


async def test_a_request_in_time_has_all_the_time_for_its_answer(desk: MakeDesk) -> None:
    """The time to arrive ends with the request, and begins with the first byte of the next one."""
    async with running(desk()) as (url, server), connection(url) as (reader, writer):
        for _ in range(2):
            writer.write(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200")
            (served,) = server.server_state.connections
            assert isinstance(served, protocol.BoundedProtocol)
            assert served._arriving.cancelled()


async def test_huge_heads_are_refused(desk: MakeDesk) -> None:
    """A head without end, in one line or in many, is cut off early, and others are served."""
    async with running(desk()) as (url, _):
        for line in (b"x" * 1_000_000, b"x-a: b\r\n" * 100_000):
            async with connection(url) as (reader, writer):
                writer.write(HEAD + line)
                assert (await end(reader))[:12] in {b"HTTP/1.1 400", b""}
        assert await healthy(url)


async def test_a_client_that_does_not_read_loses_its_connection(
    desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its replies do not pile up."""
    monkeypatch.setattr(protocol, "UNREAD", 0.1)
    async with running(desk()) as (url, server), connection(url) as (reader, writer):
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # what a client does that hangs
        request = b"GET /schema/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(20):
                while server.server_state.connections or not server.server_state.total_requests:
                    writer.write(request)
                    await writer.drain()
                    await asyncio.sleep(0)
        assert not server.server_state.connections
