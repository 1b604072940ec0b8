"""Questions whose clients go away or stop reading."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from litestar import Request

from fedkg.core.events import Warned
from fedkg.errors import TopicError
from fedkg.serve import connections
from fedkg.serve.connections import ClientGoneError, EventResponse, EventStream, until_gone


async def never() -> Any:
    """A connection over which nothing comes."""
    await asyncio.Event().wait()


async def test_work_ends_with_its_connection() -> None:
    """A client that goes away ends the work in its midst."""
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    messages = iter(({"type": "http.request"}, {"type": "http.disconnect"}))

    async def receive() -> Any:
        await asyncio.sleep(0)
        return next(messages)

    with pytest.raises(ClientGoneError):
        await until_gone(work(), receive)
    assert ended.is_set()


async def test_work_returns_what_it_made_or_raises() -> None:
    """As if it were awaited itself."""

    async def work(*, fails: bool) -> int:
        if fails:
            raise TopicError("no Ann")
        return 5

    assert await until_gone(work(fails=False), never) == 5
    with pytest.raises(TopicError):
        await until_gone(work(fails=True), never)


async def walk(*messages: str, error: Exception | None = None) -> AsyncGenerator[msgspec.Struct, None]:
    """Some events, and an error."""
    for message in messages:
        yield Warned(message)
    if error:
        raise error


async def texts(stream: EventStream) -> list[str]:
    """All messages of the stream, as they go out."""
    return [message.encode().decode() async for message in await stream.begun()]


async def test_each_record_is_a_message() -> None:
    """Called by its class, its data one line of JSON."""
    first, second = await texts(EventStream(walk("one", "two\nlines")))
    assert first == 'event: Warned\r\ndata: {"type":"Warned","message":"one"}\r\n\r\n'
    assert second.count("data:") == 1


async def test_an_error_before_the_first_record_is_no_stream() -> None:
    """It is raised, so that it becomes a reply with a status."""
    with pytest.raises(TopicError):
        await EventStream(walk(error=TopicError("no Ann"))).begun()


async def test_an_error_in_the_midst_is_the_last_message() -> None:
    """The client learns what went wrong, and what had happened until then."""
    first, second = await texts(EventStream(walk("one", error=TopicError("no Ann"))))
    assert "one" in first
    assert second.startswith("event: Problem")
    assert "no Ann" in second


async def test_silence_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing happens a Ping says that the walk goes on."""
    monkeypatch.setattr(connections, "PING", 0.0)
    go = asyncio.Event()

    async def slow() -> AsyncGenerator[msgspec.Struct, None]:
        yield Warned("one")
        await go.wait()
        yield Warned("two")

    messages = await EventStream(slow()).begun()
    shown = [(await anext(messages)).event, (await anext(messages)).event]
    go.set()
    shown += [message.event async for message in messages]
    assert shown[:2] == ["Warned", "Ping"]
    assert [name for name in shown if name != "Ping"] == ["Warned", "Warned"]


@pytest.mark.parametrize("how", ["goes away", "goes before the first message", "stops reading"])
async def test_a_walk_without_a_reader_ends(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Whether the stream is closed or only never read on."""
    if how == "stops reading":
        monkeypatch.setattr(connections, "STALLED", 0.0)
    ended = asyncio.Event()

    async def endless() -> AsyncGenerator[msgspec.Struct, None]:
        try:
            while True:
                yield Warned("more")
        finally:
            ended.set()

    stream = EventStream(endless())
    messages = await stream.begun()
    if how == "goes away":
        await anext(messages)
    if how != "stops reading":
        await stream.aclose()
        assert ended.is_set()
    async with asyncio.timeout(5):
        await ended.wait()


async def test_a_reply_ends_its_walk_even_where_no_message_was_taken() -> None:
    """A client that is gone before the first message is sent leaves a walk that nothing else would end."""
    ended = asyncio.Event()

    async def endless() -> AsyncGenerator[msgspec.Struct, None]:
        try:
            while True:
                yield Warned("more")
        finally:
            ended.set()

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        """It goes nowhere."""

    stream = EventStream(endless())
    reply = EventResponse(stream, await stream.begun())
    request: Request[Any, Any, Any] = Request({"type": "http"})  # type: ignore[arg-type]  # no more is looked at
    await reply.to_asgi_response(None, request)({"type": "http"}, gone, send)  # type: ignore[arg-type]
    assert ended.is_set()


@pytest.mark.parametrize("messages", [(), ("one",)])
async def test_a_fault_ends_the_stream(messages: tuple[str, ...]) -> None:
    """Before the first record it is raised; after it the last message is a problem that tells nothing of it."""
    stream = EventStream(walk(*messages, error=ZeroDivisionError("/secret")))
    if not messages:
        with pytest.raises(ZeroDivisionError):
            await stream.begun()
        return
    *_, last = await texts(stream)
    assert last.startswith("event: Problem")
    assert "secret" not in last


async def test_a_client_that_reads_on_too_late_finds_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is read, and the stream ends: the walk did."""
    monkeypatch.setattr(connections, "STALLED", 0.0)
    messages = await EventStream(walk("one", "two", "three")).begun()
    await asyncio.sleep(0.05)
    assert len([message async for message in messages]) <= 2
