"""A distance between client and engine: a proxy on loopback, in a process of its own, that holds every request back.

The whole delay lies before the request is passed on. Being a process of its own it does not wait while the client
computes.
"""

import asyncio
import contextlib
import multiprocessing
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized

import aiohttp
import yarl
from aiohttp import web

__all__ = ["Distance", "connected", "distant", "forwarded", "loopback"]

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LARGEST = 1 << 26
PASSED_ON = ("Content-Type", "Accept")
NOT_PASSED_BACK = {"content-length", "transfer-encoding", "connection", "keep-alive", "date"}
SPAWN = multiprocessing.get_context("spawn")


class Distance:
    """A running proxy: its `url`, and how many requests it has passed on."""

    def __init__(self, url: str, counter: "Synchronized[int]") -> None:
        self.url = url
        self._counter = counter

    @property
    def requests(self) -> int:
        """Requests so far."""
        return self._counter.value


@contextlib.contextmanager
def distant(url: str, seconds: float) -> Iterator[Distance]:
    """A proxy to the endpoint at `url` that is `seconds` away."""
    counter: Synchronized[int] = SPAWN.Value("q", 0)
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=_run, args=(url, seconds, counter, sender), daemon=True)
    process.start()
    try:
        if not receiver.poll(60):
            raise RuntimeError("the proxy did not start")
        yield Distance(receiver.recv(), counter)
    finally:
        process.terminate()
        process.join()


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
    # identity: what the engine packs, the proxy would have to unpack
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers={"Accept-Encoding": "identity"})


async def forwarded(session: aiohttp.ClientSession, url: str, request: web.Request) -> web.Response:
    """What the endpoint at `url` answers to the same request."""
    headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
    place = yarl.URL("?".join(filter(None, (url, request.rel_url.raw_query_string))), encoded=True)
    async with session.request(request.method, place, data=await request.read(), headers=headers) as reply:
        kept = {name: value for name, value in reply.headers.items() if name.lower() not in NOT_PASSED_BACK}
        return web.Response(status=reply.status, body=await reply.read(), headers=kept)


def _run(url: str, seconds: float, counter: "Synchronized[int]", sender: Connection) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(url, seconds, counter, sender))


async def _serve(url: str, seconds: float, counter: "Synchronized[int]", sender: Connection) -> None:
    async def answer(request: web.Request) -> web.Response:
        counter.value += 1
        await asyncio.sleep(seconds)
        return await forwarded(session, url, request)

    async with connected() as session, loopback(answer) as server:
        sender.send(server)
        await asyncio.Event().wait()
