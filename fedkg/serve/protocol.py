"""HTTP/1.1 on one connection, of which there are so many at most, and on which nobody dawdles."""

import asyncio
import math
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["BoundedProtocol"]

ARRIVAL = 30.0
"""Seconds that a request may take to arrive, from the connection, or its own first byte, to the end of its body."""
UNREAD = 30.0
"""Seconds that a reply waits for a client which does not read it."""
FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with bounds that it lacks; `limit_concurrency` is the most connections, also without requests.

    One connection too many is told so and closed. A request that arrives byte by byte, and a client that does not read
    its reply, lose their connection.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._most = self.limit_concurrency or math.inf
        self.limit_concurrency = None  # uvicorn's own use of it refuses requests, and lets idle connections pile up
        self._arriving = self._unread = self.loop.call_later(ARRIVAL, _nothing)
        self._arriving.cancel()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Waits for a request, if there is room for the connection."""
        super().connection_made(transport)
        if len(self.connections) > self._most:
            transport.write(FULL)
            transport.close()
        else:
            self._arriving = self.loop.call_later(ARRIVAL, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Takes a part of a request, whose time goes on, or begins, or is over with its last part."""
        super().data_received(data)
        if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
            self._arriving.cancel()
        elif self._arriving.cancelled():
            self._arriving = self.loop.call_later(ARRIVAL, self.transport.abort)

    def pause_writing(self) -> None:
        """The client does not read: for so long and no longer."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        self._unread.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._arriving.cancel()
        self._unread.cancel()
        super().connection_lost(exc)


def _nothing() -> None:
    """Stands for a timer that is not set."""
