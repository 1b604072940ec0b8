"""An endpoint that misbehaves: a server on loopback that passes requests on and spoils some of the replies.

Every way of failing is one that an engine, a gateway or an operator is known for. A partial reply really lacks rows, so
that whoever takes it for whole can be found out by what it says afterwards. Some ways are no failures: odd, but
readable.
"""

import asyncio
import contextlib
import json
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
from aiohttp import web

from eval.support.loopback import connected, loopback

__all__ = ["HARMLESS", "WAYS", "Misbehaving"]

JSON, PLAIN, HTML = "application/sparql-results+json", "text/plain", "text/html"
TRACE = b"java.util.concurrent.ExecutionException: java.util.concurrent.TimeoutException\n\tat com.bigdata.rdf.sail\n"
BLAZEGRAPH = b"SPARQL-QUERY: queryStr=SELECT ?s WHERE { ?s ?p ?o }\n" + TRACE
PAGE = b"<html><head><title>Sorry</title></head><body>We are having a technical problem.</body></html>"
QLEVER = {
    "query": "SELECT",
    "status": "ERROR",
    "resultsize": 0,
    "exception": "Operation timed out. Last operation: Sort",
}
MEMORY = QLEVER | {"exception": "Tried to allocate 6.9 GB, but only 6.7 GB were available"}
EXPORT = b"\n !!!!>># An error has occurred while exporting the query result. Operation timed out."
CANCELLED = b"The SPARQL operation has been cancelled"
IRI = re.compile(r"<([^<>\s]+)>")
RETRY_AFTER = "0.2"
"""Seconds that the server asks to wait; those of real ones would make the run a long one."""

Way = Callable[["Misbehaving", web.Request, bytes], Awaitable[web.StreamResponse]]


class Misbehaving:
    """The server: spoils the share `rate` of the replies, one way as often as the next, drawn by `seed`.

    `cap` is the number of rows at which it cuts without a word, `size` the number of bytes that is too many for its
    client. `played` counts the ways, `asked` holds every IRI that a query has named.
    """

    def __init__(self, engine: str, *, rate: float, seed: int, cap: int, size: int) -> None:
        self.rate = rate
        self.cap = cap
        self.size = size
        self.requests = 0
        self.played: Counter[str] = Counter()
        self.asked: set[str] = set()
        self._engine = engine
        self._random = random.Random(seed)
        self._session: aiohttp.ClientSession | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """The URL of the server as long as it runs."""
        async with connected() as self._session, loopback(self._answer) as url:
            yield url

    async def real(self, request: web.Request, accept: str = JSON) -> bytes:
        """The body of the real reply."""
        assert self._session is not None, "the server runs"
        headers = {"Content-Type": request.headers["Content-Type"], "Accept": accept}
        async with self._session.post(self._engine, data=await request.read(), headers=headers) as reply:
            if reply.status != 200:
                raise web.HTTPBadRequest(text=await reply.text())
            return await reply.read()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        self.asked |= set(IRI.findall(str((await request.post()).get("query", ""))))
        body = self._capped(await self.real(request))
        if self._random.random() >= self.rate:
            return web.Response(body=body, content_type=JSON)
        name = self._random.choice(list(WAYS))
        self.played[name] += 1
        return await WAYS[name](self, request, body)

    def _capped(self, body: bytes) -> bytes:
        """The reply without the rows beyond the cap, and without a word about it."""
        reply = json.loads(body)
        rows = reply.get("results", {}).get("bindings", [])
        if len(rows) <= self.cap:
            return body
        self.played["rows cut silently"] += 1
        return _with_rows(reply, rows[: self.cap])


# ---- replies that are no reply ----


def _says(status: int, kind: str, body: bytes, **headers: str) -> Way:
    """A way that says the same whatever was asked."""

    async def say(_server: Misbehaving, _request: web.Request, _body: bytes) -> web.StreamResponse:
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=body, headers={"Content-Type": kind, **more})

    return say


async def _reset(_server: Misbehaving, request: web.Request, _body: bytes) -> web.StreamResponse:
    """Hangs up without a word."""
    _hang_up(request)
    return web.Response()


async def _breaks_off(_server: Misbehaving, request: web.Request, body: bytes) -> web.StreamResponse:
    """Hangs up in the middle of a chunked body."""
    response = web.StreamResponse(headers={"Content-Type": JSON})
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _hang_up(request)
    return response


async def _shorter_than_said(_server: Misbehaving, request: web.Request, body: bytes) -> web.StreamResponse:
    """Hangs up before the bytes that it has promised."""
    response = web.StreamResponse(headers={"Content-Type": JSON, "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _hang_up(request)
    return response


async def _endless(_server: Misbehaving, request: web.Request, _body: bytes) -> web.StreamResponse:
    """Sends a space every now and then, until the client has enough."""
    response = web.StreamResponse(headers={"Content-Type": JSON})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.05)
    return response


async def _too_large(server: Misbehaving, _request: web.Request, body: bytes) -> web.StreamResponse:
    """The reply with more white space than anybody wants to read."""
    return web.Response(body=body + b" " * server.size, content_type=JSON)


def _hang_up(request: web.Request) -> None:
    if request.transport:
        request.transport.abort()


# ---- replies that lack something ----


def _then(text: bytes) -> Way:
    """A way that breaks off in the middle of the JSON and says why, with the status 200."""

    async def say(_server: Misbehaving, _request: web.Request, body: bytes) -> web.StreamResponse:
        return web.Response(body=body[: len(body) // 2] + text, content_type=JSON)

    return say


def _half(status: int, **headers: str) -> Way:
    """A way that gives half of the rows, and says so in its status or headers only."""

    async def say(_server: Misbehaving, _request: web.Request, body: bytes) -> web.StreamResponse:
        reply = json.loads(body)
        rows = reply.get("results", {}).get("bindings", [])
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        kept = _with_rows(reply, rows[: len(rows) // 2])
        return web.Response(status=status, body=kept, headers={"Content-Type": JSON, **more})

    return say


async def _trace_in_literal(_server: Misbehaving, _request: web.Request, body: bytes) -> web.StreamResponse:
    """Half of the rows, and the stack trace inside a literal: a whole JSON value."""
    reply = json.loads(body)
    rows = reply.get("results", {}).get("bindings", [])[: (len(reply.get("results", {}).get("bindings", [])) + 1) // 2]
    last = {name: {"type": "literal", "value": BLAZEGRAPH.decode()} for name in reply["head"].get("vars", [])[:3]}
    return web.Response(body=_with_rows(reply, [*rows, last]), content_type=JSON)


# ---- replies that are odd, and right ----


async def _control_characters(_server: Misbehaving, _request: web.Request, body: bytes) -> web.StreamResponse:
    """A raw line feed inside a string, as Virtuoso writes them."""
    return web.Response(body=body.replace(b'"head":{', b'"head":{"link":["\n\x01"],', 1), content_type=JSON)


async def _long_escapes(_server: Misbehaving, _request: web.Request, body: bytes) -> web.StreamResponse:
    """Letters as eight-digit escapes, which are no JSON."""
    escaped = re.sub(rb'("value":")([A-Za-z])', lambda m: m[1] + b"\\U%08X" % ord(m[2]), body)
    return web.Response(body=escaped, content_type=JSON)


async def _xml(server: Misbehaving, request: web.Request, body: bytes) -> web.StreamResponse:
    """XML instead of the JSON that was asked for; of a reply that is cut, JSON as ever."""
    kind = "application/sparql-results+xml"
    if len(json.loads(body).get("results", {}).get("bindings", [])) >= server.cap:
        return web.Response(body=body, content_type=JSON)
    return web.Response(body=await server.real(request, kind), content_type=kind)


def _with_rows(reply: dict[str, Any], rows: list[Any]) -> bytes:
    return json.dumps(reply | {"results": {"bindings": rows}}, separators=(",", ":"), ensure_ascii=False).encode()


WAYS: dict[str, Way] = {
    "connection reset": _reset,
    "chunked body broken off": _breaks_off,
    "body shorter than said": _shorter_than_said,
    "slow endless body": _endless,
    "body too large": _too_large,
    "empty body": _says(200, JSON, b""),
    "web page with 200": _says(200, HTML, PAGE),
    "error text with 200": _says(200, PLAIN, b"Error: something went wrong"),
    "500": _says(500, PLAIN, b"oops"),
    "502 page": _says(502, HTML, PAGE),
    "503 page": _says(503, HTML, PAGE),
    "503 overloaded": _says(503, PLAIN, b"Service is overloaded, please try again later."),
    "504 page": _says(504, HTML, PAGE),
    "429 with Retry-After": _says(429, HTML, PAGE, Retry_After=RETRY_AFTER),
    "429 without Retry-After": _says(429, HTML, PAGE),
    "blazegraph timeout": _says(500, PLAIN, BLAZEGRAPH),
    "blazegraph trace after rows": _then(BLAZEGRAPH),
    "blazegraph trace in a literal": _trace_in_literal,
    "qlever timeout 429": _says(429, "application/json", json.dumps(QLEVER).encode()),
    "qlever out of memory": _says(500, "application/json", json.dumps(MEMORY).encode()),
    "qlever export error": _then(EXPORT),
    "virtuoso S1TAT 200": _half(200, X_SQL_State="S1TAT", X_SQL_Message="Returning incomplete results"),
    "virtuoso S1TAT 206": _half(206, X_SQL_State="S1TAT"),
    "virtuoso MaxRows": _half(200, X_SPARQL_MaxRows="100"),
    "virtuoso SP031": _says(500, PLAIN, b"SP031: length of generated SQL text has exceeded 10000 lines of code"),
    "virtuoso SR353": _says(500, PLAIN, b"Virtuoso 22023 Error SR353: Sorted TOP clause specifies more then 9 rows"),
    "virtuoso S1T00": _says(500, PLAIN, b"Virtuoso S1T00 Error SR171: Transaction timed out"),
    "virtuoso syntax error": _says(400, PLAIN, b"Virtuoso 37000 Error SP030: SPARQL compiler, line 1: syntax error"),
    "oxigraph cancelled": _then(CANCELLED),
    "control characters": _control_characters,
    "eight-digit escapes": _long_escapes,
    "XML": _xml,
}
HARMLESS = frozenset({"control characters", "eight-digit escapes", "XML", "rows cut silently"})
"""Ways that have to be read, and the cut, which is no failure of a request but what this endpoint does."""
