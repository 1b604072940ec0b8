"""A distance between client and engine: a relay on loopback, in a process of its own, that holds requests back.

The whole delay lies on the way there; what comes back is passed on at once. Being a process of its own the relay does
not wait while the client computes, and passing on bytes as they are it takes little from the cores that all share.
"""

import asyncio
import contextlib
import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from typing import cast

import yarl

from fedkg.transport.quick_ack import acknowledge

__all__ = ["Distance", "distant"]

SPAWN = multiprocessing.get_context("spawn")


class Distance:
    """A running relay: its `url`, and how many requests it has passed on; or, without a counter, an engine itself."""

    def __init__(self, url: str, counter: "Synchronized[int] | None" = None) -> None:
        self.url = url
        self._counter = counter

    @property
    def requests(self) -> int:
        """Requests so far; 0 where nobody counts them."""
        return self._counter.value if self._counter else 0


@contextlib.contextmanager
def distant(url: str, seconds: float) -> Iterator[Distance]:
    """A relay to the endpoint at `url` that is `seconds` away."""
    counter: Synchronized[int] = SPAWN.Value("q", 0)
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_run, args=(url, seconds, counter, sender), daemon=True)
    process.start()
    try:
        if not receiver.poll(60):
            raise RuntimeError("the relay did not start")
        yield Distance(str(yarl.URL(url).with_port(receiver.recv())), counter)
    finally:
        process.terminate()
        process.join()


class _Side(asyncio.Protocol):
    """One of the two connections that a relayed one consists of; what comes in goes to `other`."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        acknowledge(self.transport)  # the relay must add nothing to the distance
        self.pass_on(data)

    def pass_on(self, data: bytes) -> None:
        """Writes to the other side, at once."""
        if self.other and self.other.transport:
            self.other.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other and self.other.transport:
            self.other.transport.close()


class _EngineSide(_Side):
    """The engine's; `answered` tells whether it has said anything since the last request."""

    answered = True

    def pass_on(self, data: bytes) -> None:
        self.answered = True
        super().pass_on(data)


class _ClientSide(_Side):
    """The client's: its requests are counted, and written to the engine after `seconds`."""

    def __init__(self, url: yarl.URL, seconds: float, counter: "Synchronized[int]") -> None:
        super().__init__()
        self._url, self._seconds, self._counter = url, seconds, counter
        self._loop = asyncio.get_running_loop()
        self._engine = _EngineSide()
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        client = cast("asyncio.Transport", transport)
        client.pause_reading()
        self._opening = self._loop.create_task(self._open(client))

    def data_received(self, data: bytes) -> None:
        if self._engine.answered:  # clients do not send a request before they have read the reply to the one before it
            self._engine.answered = False
            self._counter.value += 1
        super().data_received(data)

    def pass_on(self, data: bytes) -> None:
        self._loop.call_later(self._seconds, super().pass_on, data)

    async def _open(self, client: asyncio.Transport) -> None:
        try:
            await self._loop.create_connection(lambda: self._engine, self._url.host or "", self._url.port or 80)
        except OSError:
            client.close()
            return
        self.other, self._engine.other = self._engine, self
        client.resume_reading()


def _run(url: str, seconds: float, counter: "Synchronized[int]", sender: Connection) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(yarl.URL(url), seconds, counter, sender))


async def _serve(url: yarl.URL, seconds: float, counter: "Synchronized[int]", sender: Connection) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _ClientSide(url, seconds, counter), "127.0.0.1", 0)
    sender.send(server.sockets[0].getsockname()[1])
    await asyncio.Event().wait()
