"""Real servers on loopback: one that misbehaves as it is told to, and Oxigraph's own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest
import stamina
from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

TRIPLES = """\
<http://ex.org/ada> <http://ex.org/knows> <http://ex.org/grace> .
<http://ex.org/ada> <http://www.w3.org/2000/01/rdf-schema#label> "Ada"@EN .
<http://ex.org/grace> <http://ex.org/born> "1906"^^<http://www.w3.org/2001/XMLSchema#gYear> .
"""


class Asked(msgspec.Struct):
    """One request as the server saw it."""

    method: str
    path: str
    headers: dict[str, str]
    form: dict[str, str]


class Loopback:
    """A server on 127.0.0.1 that answers as a function says and keeps what it was asked."""

    def __init__(self, handler: Handler) -> None:
        self.asked: list[Asked] = []
        self._handler = handler
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/sparql"

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        form = {name: str(value) for name, value in (await request.post()).items()}
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, str(request.url), headers, form))
        return await self._handler(request)


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the machine comes between a test and its server."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(autouse=True)
def no_backoff() -> Iterator[None]:
    """Retries happen as often as they would, without the waiting in between."""
    with stamina.set_testing(True, attempts=99, cap=True):
        yield


@pytest.fixture
async def serve() -> AsyncIterator[Callable[[Handler], Awaitable[Loopback]]]:
    """Starts a server for a handler; it stops with the test."""
    running: list[Loopback] = []

    async def start(handler: Handler) -> Loopback:
        server = Loopback(handler)
        await server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        await server.stop()


@pytest.fixture(scope="session")
def triples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small N-Triples file."""
    path = tmp_path_factory.mktemp("graph") / "people.nt"
    path.write_text(TRIPLES)
    return path


@pytest.fixture(scope="session")
def oxigraph_url(triples: Path, oxigraph: Callable[..., AbstractContextManager[str]]) -> Iterator[str]:
    """The URL of a real Oxigraph server over `triples` that gives a query one second."""
    with oxigraph([triples], seconds=1) as url:
        yield url
