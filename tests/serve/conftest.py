"""A desk over the graph of pets, and the application around it, asked in process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fedkg.serve.clients import Client, ClientBook
from fedkg.serve.gate import Gate
from fedkg.serve.shelf import AnswerShelf
from fedkg.sparql.reply import EndpointReply
from fedkg.transport import embedded
from tests.support.pets import PETS, session_of

HERE = "http://127.0.0.1"

if TYPE_CHECKING:
    from litestar.testing import AsyncTestClient

    from fedkg.serve.desk import Desk
    from fedkg.serve.server import Application, DrainingServer

MakeDesk = Callable[..., "Desk"]


class Stalled:
    """The graph of pets as an endpoint whose replies wait until `go` is set.

    `asked` is set with the first request, `given_up` with the first that is not waited for.
    """

    url = ""
    name = "stalled"

    def __init__(self, pets: Path) -> None:
        self._real = embedded.load(pets)
        self.asked, self.go, self.given_up = (asyncio.Event() for _ in range(3))

    async def send(self, query: str) -> EndpointReply:
        """The graph's reply, in time."""
        self.asked.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.given_up.set()
            raise
        return await self._real.send(query)

    async def close(self) -> None:
        """Nothing to free."""


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """The graph of one fact, as a file."""
    path = tmp_path / "pets.nt"
    path.write_text(PETS)
    return path


@pytest.fixture
def desk(pets: Path, tmp_path: Path) -> MakeDesk:
    """Makes a desk over the pets, or other endpoints, with these limits."""

    def make(
        *endpoints: Any,
        offered: tuple[str, ...] = (),
        at_once: int = 4,
        waiting: int = 4,
        clients: dict[str, Client] | None = None,
        keep: bool = False,
        **options: Any,
    ) -> "Desk":
        from fedkg.serve.desk import Desk  # noqa: PLC0415  # the extra may be missing

        session = session_of(*(endpoints or (() if options else (pets,))), **{"cache": False, **options})
        shelf = AnswerShelf(tmp_path / "answers") if keep else None
        return Desk(session, offered, Gate(at_once, waiting), ClientBook(clients or {}), shelf)

    return make


@asynccontextmanager
async def asked(desk: "Desk") -> AsyncIterator["AsyncTestClient[Any]"]:
    """A client of the application around the desk."""
    from litestar.testing import AsyncTestClient  # noqa: PLC0415  # the extra may be missing

    from fedkg.serve.app import application  # noqa: PLC0415

    async with AsyncTestClient(application(desk), base_url=HERE) as client:
        yield client


@asynccontextmanager
async def running(
    desk: "Desk",
    stalled: Stalled | None = None,
    connections: int = 512,
    made: "Callable[[Desk], Application] | None" = None,
) -> AsyncIterator[tuple[str, "DrainingServer"]]:
    """The desk's server on a free port of loopback, until it is told to end; `stalled` stalls once it is ready.

    `made` makes what is served, where that is not the HTTP interface.
    """
    from fedkg.serve.app import application  # noqa: PLC0415
    from fedkg.serve.server import DrainingServer, _listening  # noqa: PLC0415

    urls: asyncio.Queue[str] = asyncio.Queue()
    listener = _listening("127.0.0.1", 0)
    port, served = listener.getsockname()[1], (made or application)(desk)
    server = DrainingServer(desk, served, f"http://127.0.0.1:{port}", urls.put_nowait, connections)
    if stalled:
        stalled.go.set()
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        url = await urls.get()
        if stalled:
            stalled.go.clear()
            stalled.asked.clear()
        yield url, server
    finally:
        server.should_exit = True
        await task
        listener.close()
