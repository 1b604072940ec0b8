"""The server as a process, whatever application it serves: where it listens, and how it ends.

uvicorn serves: it is small, and drains on SIGTERM.
"""

import asyncio
import gc
import math
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from fedkg.errors import SettingsError
from fedkg.serve.clients import Client, ClientBook, is_loopback
from fedkg.serve.desk import Desk
from fedkg.serve.gate import Gate
from fedkg.serve.protocol import BoundedProtocol
from fedkg.serve.shelf import AnswerShelf
from fedkg.session import Session

__all__ = ["ServerSettings", "serve"]

DRAINING = 30
"""Seconds that questions which are under way have to end in."""
ALLOCATIONS = 2_000
"""Objects made between two looks for garbage."""
WRITING = 10
"""Seconds that the last replies have to go out in, then."""
IDLE = 30
"""Seconds after which a connection over which nothing is asked is closed."""

Application = Callable[..., Awaitable[Any]]
"""An ASGI application."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a session is served: address and port (0: any free one), further methods that may be named, and the limits.

    `at_once` questions are answered at a time, `waiting` wait; there are `connections` at most. `clients` have tokens;
    without any, only this machine may ask. `keep` is the folder of kept answers; None: they are not kept.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    offered: Sequence[str] = ()
    at_once: int = 16
    waiting: int = 64
    clients: Mapping[str, Client] = field(default_factory=dict)
    keep: Path | None = None
    connections: int = 512

    def desk(self, session: Session) -> Desk:
        """The desk of that session. Raises SettingsError where others than this machine could ask without a token."""
        if not self.clients and not is_loopback(self.host):
            hint = "give clients tokens with --clients FILE or FEDKG_SERVE_TOKEN, or listen at 127.0.0.1"
            raise SettingsError(f"at {self.host} anyone in reach could ask, and there are no tokens", hint=hint)
        shelf = AnswerShelf(self.keep) if self.keep else None
        return Desk(session, self.offered, Gate(self.at_once, self.waiting), ClientBook(self.clients), shelf)


def serve(
    session: Session,
    settings: ServerSettings,
    application: Callable[[Desk], Application],
    ready: Callable[[str], None],
) -> None:
    """Serves the session until SIGINT or SIGTERM, drains then, and closes it. `ready` is called with the URL.

    `application` makes what is served around the session's desk; its lifespan opens the session and closes it.

    Raises SettingsError where the address cannot be had.
    """
    desk = settings.desk(session)

    def begun(url: str) -> None:
        _collect_often()
        ready(url)

    with _listening(settings.host, settings.port) as listener:
        address, number = listener.getsockname()[:2]
        url = f"http://{f'[{address}]' if ':' in address else address}:{number}"
        server = DrainingServer(desk, application(desk), url, begun, settings.connections)
        asyncio.run(server.serve(sockets=[listener]))


class DrainingServer(uvicorn.Server):
    """uvicorn's server; once it is told to end, the desk refuses questions, and it ends when the last is answered."""

    def __init__(
        self, desk: Desk, application: Application, url: str, ready: Callable[[str], None], connections: int = 512
    ) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                lifespan="on",
                http=BoundedProtocol,  # h11 bounds the headers of a request, which httptools does not
                ws="none",
                limit_concurrency=connections,
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=IDLE,
                timeout_graceful_shutdown=WRITING,
            )
        )
        self._desk = desk
        self._url = url
        self._ready = ready
        self._ends = math.inf

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Opens the session, whose error is the command's own, listens, and says so."""
        await self._desk.open()
        await super().startup(sockets)
        if self.started:
            self._ready(self._url)

    async def on_tick(self, counter: int) -> bool:
        """Whether it is time to end: until then new questions are refused, with a reply that says so."""
        if not await super().on_tick(counter):
            return False
        now = time.monotonic()
        if self._ends == math.inf:
            self._desk.gate.closed, self._ends = True, now + DRAINING
        return self.force_exit or self._desk.gate.empty or now >= self._ends


def _collect_often() -> None:
    """Looks for garbage as often as a process that stays needs to, and not in what is there by now."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        hint = "choose another --port, or --port 0 for any free one"
        raise SettingsError(f"nothing can listen at {host}:{port}: {error.strerror or error}", hint=hint) from error
    # connections inherit it; asyncio sets it only where the socket was made with the protocol's number
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
