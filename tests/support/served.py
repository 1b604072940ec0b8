"""A real engine over a small graph, served over HTTP on loopback, whose replies a test may change on their way out."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pyoxigraph
from aiohttp import web

__all__ = ["JSON", "XML", "Handler", "ServedGraph", "loopback"]

JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
FORMATS = {JSON: pyoxigraph.QueryResultsFormat.JSON, XML: pyoxigraph.QueryResultsFormat.XML}

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class ServedGraph:
    """Serves N-Triples; `asked` are the queries that it got. A subclass changes `reply`, or `refuses` a query."""

    def __init__(self, triples: str, media: str = JSON) -> None:
        self.asked: list[str] = []
        self.media = media
        self._store = pyoxigraph.Store()
        self._store.load(triples.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """The reply to one request."""
        query = str((await request.post())["query"])
        self.asked.append(query)
        return await self.reply(query)

    async def reply(self, query: str) -> web.StreamResponse:
        """What goes over the wire: the engine's result."""
        return web.Response(body=self.result(query), content_type=self.media)

    def result(self, query: str) -> bytes:
        """What the engine returns. Raises HTTPBadRequest for what is no query."""
        try:
            by_name = self._store.query(query)
        except SyntaxError as error:
            raise web.HTTPBadRequest(text=str(error)) from error
        assert isinstance(by_name, pyoxigraph.QuerySolutions)
        return by_name.serialize(format=FORMATS[self.media]) or b""


@contextlib.asynccontextmanager
async def loopback(handler: Handler) -> AsyncIterator[str]:
    """The URL of a server on 127.0.0.1 that gives every request to the handler."""
    server = web.ServerRunner(web.Server(handler), shutdown_timeout=0.1)
    await server.setup()
    try:
        await web.TCPSite(server, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{server.addresses[0][1]}/sparql"
    finally:
        await server.cleanup()
