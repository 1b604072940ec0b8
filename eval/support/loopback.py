"""Servers on loopback for measurements, and the connections by which they pass on what they are asked."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
from aiohttp import web

__all__ = ["connected", "loopback"]

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LARGEST = 1 << 26


@contextlib.asynccontextmanager
async def loopback(answer: Handler) -> AsyncIterator[str]:
    """The URL of a server on loopback that gives every request to `answer`."""
    app = web.Application(client_max_size=LARGEST)
    app.router.add_route("*", "/sparql", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/sparql"
    finally:
        await runner.cleanup()


def connected() -> aiohttp.ClientSession:
    """The connections to an engine, as many as are wanted."""
    # identity: what the engine packs would have to be unpacked here
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers={"Accept-Encoding": "identity"})
