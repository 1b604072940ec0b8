"""What becomes of a question whose client goes away or stops reading: it ends, so that it costs nothing more."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

import msgspec
from litestar.response import ServerSentEvent
from litestar.response.base import ASGIResponse
from litestar.response.sse import ServerSentEventMessage
from litestar.types import Receive, Scope, Send

from fedkg.core.encoding import encode
from fedkg.serve.records import Ping, told

__all__ = ["ClientGoneError", "EventResponse", "EventStream", "until_gone"]

PING = 15.0
"""Seconds of silence after which a `Ping` goes out."""
STALLED = 30.0
"""Seconds that an event waits for a client which does not read; then its question ends."""

T = TypeVar("T")


class ClientGoneError(Exception):
    """Raised in the place of a result that has no reader any more."""


async def until_gone(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """What the work returns; it is cancelled where the client closes the connection. Raises ClientGoneError then."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGoneError
        return task.result()
    finally:
        await _ended(task)
        await _ended(gone)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _ended(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    await asyncio.wait((task,))


class EventStream:
    """Records as server-sent events; what makes them goes on in a task of its own, until `aclose`.

    Each event is called by its record's class and holds it as JSON; an error in their midst is a `Problem`, the last.
    """

    def __init__(self, records: AsyncGenerator[msgspec.Struct, None]) -> None:
        self._records = records
        self._queue: asyncio.Queue[msgspec.Struct | Exception | None] = asyncio.Queue(1)
        self._task = asyncio.create_task(self._fill())

    async def begun(self) -> AsyncIterator[ServerSentEventMessage]:
        """The messages, once the first is there; raises the error that comes in its place."""
        try:
            first = await self._queue.get()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if isinstance(first, Exception):
            raise first
        return self._messages(first)

    async def _messages(self, first: msgspec.Struct | None) -> AsyncIterator[ServerSentEventMessage]:
        record: msgspec.Struct | Exception | None = first
        while record is not None:
            yield _message(record)
            record = await self._next()

    async def aclose(self) -> None:
        """Ends what makes the records, wherever it is."""
        await _ended(self._task)

    async def _next(self) -> msgspec.Struct | Exception | None:
        """The next record; `Ping` where none comes for a while, None where none will come."""
        if self._task.done() and self._queue.empty():
            return None
        try:
            async with asyncio.timeout(PING):
                return await self._queue.get()
        except TimeoutError:
            return Ping()

    async def _fill(self) -> None:
        """Puts all records into the queue; a client that does not take them ends what makes them."""
        with contextlib.suppress(_StalledError):
            try:
                async with contextlib.aclosing(self._records):
                    async for record in self._records:
                        await self._put(record)
            except _StalledError:
                raise
            except Exception as error:  # noqa: BLE001  # whatever it is, it is the last event
                await self._put(error)
            await self._put(None)

    async def _put(self, record: msgspec.Struct | Exception | None) -> None:
        try:
            async with asyncio.timeout(STALLED):
                await self._queue.put(record)
        except TimeoutError as error:
            raise _StalledError from error


class EventResponse(ServerSentEvent):
    """A reply with the messages of a stream, which ends with it: also where no message has been taken."""

    def __init__(self, stream: EventStream, messages: AsyncIterator[ServerSentEventMessage]) -> None:
        super().__init__(messages)
        self._stream = stream

    def to_asgi_response(self, *arguments: Any, **options: Any) -> ASGIResponse:
        """The reply as an application."""
        return _closing(super().to_asgi_response(*arguments, **options), self._stream)  # type: ignore[return-value]  # it is only called


def _closing(reply: ASGIResponse, stream: EventStream) -> Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]:
    async def send_all(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await reply(scope, receive, send)
        finally:
            await stream.aclose()

    return send_all


class _StalledError(Exception):
    """Raised where the client does not read what it asked for."""


def _message(record: msgspec.Struct | Exception) -> ServerSentEventMessage:
    shown = told(record) if isinstance(record, Exception) else record
    return ServerSentEventMessage(encode(shown), event=type(shown).__name__)
