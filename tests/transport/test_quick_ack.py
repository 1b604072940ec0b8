import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from fedkg.transport import http, quick_ack
from fedkg.transport.http import HttpTransport
from fedkg.transport.quick_ack import acknowledge
from tests.support.raw_server import raw_server, reply

needs_option = pytest.mark.skipif(quick_ack.QUICK_ACK is None, reason="only Linux has TCP_QUICKACK")
BODY = b'{"head": {"vars": []}, "results": {"bindings": []}}'


def holds_back(transport: asyncio.BaseTransport | None) -> bool:
    """Whether the system would hold back the next acknowledgement of this connection."""
    assert transport is not None
    connection: socket.socket = transport.get_extra_info("socket")
    return not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK)


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[asyncio.WriteTransport]:
    """A connection to a server on loopback, whose acknowledgements are held back.

    The server sends nothing, not even an end: the system leaves off holding back 40 ms after what it acknowledges so.
    """
    accepted: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1", 0)
    _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    connection = writer.get_extra_info("socket")
    if quick_ack.QUICK_ACK is not None:
        connection.setsockopt(socket.IPPROTO_TCP, quick_ack.QUICK_ACK, 0)
    try:
        yield writer.transport
    finally:
        for end in [writer, *accepted]:
            end.close()
        server.close()


@needs_option
async def test_what_comes_is_acknowledged_at_once() -> None:
    """A connection whose acknowledgements the system would hold back sends them at once."""
    async with connected() as transport:
        assert holds_back(transport)
        acknowledge(transport)
        assert not holds_back(transport)


async def test_where_there_is_nothing_to_acknowledge(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection, one that is closed, and a system without the option are passed over."""
    acknowledge(None)
    async with connected() as transport:
        monkeypatch.setattr(quick_ack, "QUICK_ACK", None)
        acknowledge(transport)
        if hasattr(socket, "TCP_QUICKACK"):
            assert holds_back(transport)
        monkeypatch.undo()
        transport.get_extra_info("socket")._sock.close()
        acknowledge(transport)


@needs_option
async def test_each_piece_of_a_reply_is_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the head of a reply, and after each piece of its body, the server need not wait for us."""
    eager: list[bool] = []
    head_was_read, all_was_read = threading.Event(), threading.Event()

    def spied(transport: asyncio.BaseTransport | None) -> None:
        acknowledge(transport)
        eager.append(transport is None or not holds_back(transport))
        head_was_read.set()

    def answer(_: bytes) -> Iterator[bytes]:
        whole = reply(BODY, content_type="application/sparql-results+json")
        yield whole[: -len(BODY)]
        head_was_read.wait(10)
        yield BODY
        all_was_read.wait(10)  # the end of the connection would have acknowledgements held back again

    monkeypatch.setattr(http, "acknowledge", spied)
    with raw_server(answer) as server:
        transport = HttpTransport(server.url)
        got = await transport.send("ASK {}")
        all_was_read.set()
        await transport.close()
    assert got.body == BODY
    assert len(eager) >= 2
    assert all(eager)
