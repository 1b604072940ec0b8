"""The replies of an endpoint have room for one of the greatest size, however many are under way."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from fedkg.errors import NotSparqlError, TruncatedError
from fedkg.sparql.results import accept
from fedkg.transport import reply_room
from fedkg.transport.client import EndpointClient
from fedkg.transport.http import HttpTransport
from fedkg.transport.reply_room import ReplyRoom, RoomShare

Serve = Callable[..., Awaitable[Any]]
SIZE = 200_000


def test_a_share_is_given_back_with_what_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one reply takes another cannot take, until the first is gone."""
    monkeypatch.setattr(reply_room, "LEAST", 0)
    room = ReplyRoom(10)
    first, second = RoomShare(room), RoomShare(room)
    assert first.take(6)
    assert second.take(4)
    assert not second.take(1)
    del first
    assert second.take(6)
    assert not second.take(1)


async def test_a_reply_that_is_refused_gives_its_room_back(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error is kept, as a gap or until the next attempt; the body that it is about is not."""
    monkeypatch.setattr(reply_room, "LEAST", 0)

    async def junk(_request: web.Request) -> web.Response:
        return web.Response(body=b'{"head": {}}'.ljust(SIZE), content_type="application/json")

    server = await serve(junk)
    transport = HttpTransport(server.url, max_bytes=3 * SIZE - 1)
    client = EndpointClient([transport], lambda reply: accept(reply, endpoint="e"), endpoint="e")
    errors = []
    for _ in range(3):
        with pytest.raises(NotSparqlError) as caught:
            await client.select("SELECT * {}")
        errors.append(caught.value)
    held = [await transport.send("SELECT * {}") for _ in range(2)]
    with pytest.raises(TruncatedError, match="at the same time"):
        await transport.send("SELECT * {}")
    assert [len(reply.body) for reply in held] == [SIZE, SIZE]
    await client.close()
