import asyncio
import base64
import gc
import gzip
import socket
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.client_reqrep import ConnectionKey

from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    ProfileError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.transport import http
from fedkg.transport.http import HttpTransport
from tests.support.raw_server import raw_server, reply

Serve = Callable[..., Awaitable[Any]]
JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
EMPTY = b'{"head": {"vars": []}, "results": {"bindings": []}}'


async def empty(_: web.Request) -> web.Response:
    """A result without rows."""
    return web.Response(body=EMPTY, content_type=JSON)


async def once(url: str, query: str = "SELECT * {}", **options: Any) -> EndpointReply:
    """The reply to one query over a transport of its own."""
    transport = HttpTransport(url, **options)
    try:
        return await transport.send(query)
    finally:
        await transport.close()


async def test_a_query_is_a_posted_form(serve: Serve) -> None:
    """The query arrives letter by letter in a POST form, with Accept and a User-Agent that names a contact."""
    server = await serve(empty)
    query = 'SELECT ?é { ?s ?p "a+b&c=d;\n%20😀" }'
    reply = await once(server.url + "?default-graph-uri=http://g", query, contact="me@ex.org", headers={"X-Key": "k"})
    (asked,) = server.asked
    assert (asked.method, asked.form) == ("POST", {"query": query})
    assert asked.path.endswith("/sparql?default-graph-uri=http://g")
    assert asked.headers["accept"] == f"{JSON}, {XML};q=0.5"
    assert asked.headers["user-agent"].startswith("fedkg/")
    assert asked.headers["user-agent"].endswith("(+me@ex.org)")
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert asked.headers["x-key"] == "k"
    assert (reply.status, reply.body, reply.content_type) == (200, EMPTY, JSON)
    assert 0 < reply.seconds < 20


async def test_each_query_may_want_its_format(serve: Serve) -> None:
    """XML is asked for before JSON where it is wanted, unless the transport was given an Accept of its own."""
    server = await serve(empty)
    for headers, expected in ((None, f"{XML}, {JSON};q=0.5"), ({"accept": "text/csv"}, "text/csv")):
        transport = HttpTransport(server.url, headers=headers)
        await transport.send_for("SELECT * {}", "xml")
        await transport.close()
        assert server.asked[-1].headers["accept"] == expected


async def test_credentials_are_sent_and_never_shown(serve: Serve) -> None:
    """User and password of the URL go out as basic authentication; names, reprs and errors lack them."""
    server = await serve(empty)
    url = server.url.replace("//", "//us%40er:p%C3%A4ss@") + "?apikey=hidden"
    transport = HttpTransport(url, max_bytes=5)
    with pytest.raises(TruncatedError) as caught:
        await transport.send("ASK {}")
    await transport.close()
    expected = "Basic " + base64.b64encode("us@er:päss".encode()).decode()
    assert server.asked[0].headers["authorization"] == expected
    for text in (transport.name, repr(transport), str(caught.value), caught.value.endpoint):
        assert server.url in text
        assert not any(secret in text for secret in ("us@er", "us%40er", "ss@", "hidden"))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x",
        "ftp://host/",
        "http://",
        "https:///x",
        "http://host:99999/",
        "http://u:hunter2@[::1",
        "file:///etc/passwd",
    ],
)
def test_no_url_of_an_endpoint(url: str) -> None:
    """What is no http URL with a host is the caller's mistake, and a password in it is not repeated."""
    with pytest.raises(ProfileError) as caught:
        HttpTransport(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"contact": "a\r\nX-Evil: 1"}, {"headers": {"X\n": "1"}}, {"headers": {"X": "\0"}}]
)
def test_headers_are_one_line(options: dict[str, Any]) -> None:
    """A control character in a header is the caller's mistake, found before anything is sent."""
    with pytest.raises(ProfileError, match="control character"):
        HttpTransport("http://127.0.0.1/", **options)


# ---- replies that break ----


async def half_chunked(request: web.Request) -> web.StreamResponse:
    """Chunks without the last one."""
    reply = web.StreamResponse(headers={"Content-Type": JSON})
    reply.enable_chunked_encoding()
    await reply.prepare(request)
    await reply.write(EMPTY[:20])
    return hang_up(request, reply)


async def half_length(request: web.Request) -> web.StreamResponse:
    """Fewer bytes than announced."""
    reply = web.StreamResponse(headers={"Content-Type": JSON, "Content-Length": "1000"})
    await reply.prepare(request)
    await reply.write(EMPTY)
    return hang_up(request, reply)


async def bad_gzip(_: web.Request) -> web.Response:
    """A body that is not packed as it says."""
    return web.Response(body=b"not gzip at all", headers={"Content-Encoding": "gzip", "Content-Type": JSON})


async def half_gzip(_: web.Request) -> web.Response:
    """A packed body without its end."""
    packed = gzip.compress(EMPTY * 1000)[:-30]
    return web.Response(body=packed, headers={"Content-Encoding": "gzip", "Content-Type": JSON})


async def no_reply(request: web.Request) -> web.StreamResponse:
    """A connection that closes at once."""
    return hang_up(request, web.Response())


async def never(request: web.Request) -> web.StreamResponse:
    """No reply, ever."""
    await asyncio.Event().wait()
    return web.Response()


async def drip(request: web.Request) -> web.StreamResponse:
    """A beginning, and then nothing."""
    reply = web.StreamResponse(headers={"Content-Type": JSON})
    await reply.prepare(request)
    await reply.write(EMPTY[:20])
    await asyncio.Event().wait()
    return reply


async def trickle(request: web.Request) -> web.StreamResponse:
    """A body that never ends, a little at a time."""
    reply = web.StreamResponse(headers={"Content-Type": JSON})
    await reply.prepare(request)
    while True:
        await reply.write(b" ")
        await asyncio.sleep(0.01)


async def flood(request: web.Request) -> web.StreamResponse:
    """A body without an end."""
    reply = web.StreamResponse(headers={"Content-Type": JSON})
    await reply.prepare(request)
    while True:
        await reply.write(b" " * 65_536)


async def bomb(_: web.Request) -> web.Response:
    """200 MB in 200 kB."""
    packer = zlib.compressobj(wbits=31)
    packed = b"".join(packer.compress(bytes(1_000_000)) for _ in range(200)) + packer.flush()
    return web.Response(body=packed, headers={"Content-Encoding": "gzip", "Content-Type": JSON})


def hang_up(request: web.Request, reply: web.StreamResponse) -> web.StreamResponse:
    """Closes the connection under a reply."""
    assert request.transport is not None
    request.transport.close()
    return reply


BREAKS = [
    (half_chunked, UnreachableError, "broke off"),
    (half_length, UnreachableError, "broke off"),
    (bad_gzip, UnreachableError, "broke off"),
    (no_reply, UnreachableError, "hung up"),
    (never, EndpointTimeoutError, "within 0.3 s"),
    (drip, EndpointTimeoutError, "within 0.3 s"),
    (trickle, EndpointTimeoutError, "within 0.3 s"),
    (flood, TruncatedError, "more than 100000 bytes"),
    (bomb, TruncatedError, "more than 100000 bytes"),
]


@pytest.mark.parametrize(("handler", "error", "says"), BREAKS, ids=[row[0].__name__ for row in BREAKS])
async def test_a_reply_that_breaks(serve: Serve, handler: Any, error: type[EndpointError], says: str) -> None:
    """A reply that breaks off, hangs or never ends is an error within its time and size, with the URL in it."""
    server = await serve(handler)
    with pytest.raises(error, match=says) as caught:
        await once(server.url, timeout=0.3 if error is EndpointTimeoutError else 20, max_bytes=100_000)
    assert caught.value.endpoint == server.url
    assert server.url in caught.value.message


async def test_a_cut_gzip_body_never_passes(serve: Serve) -> None:
    """A compressed body without its end is either noticed on the way or refused as a cut result."""
    server = await serve(half_gzip)
    with pytest.raises((UnreachableError, TruncatedError)):
        accept(await once(server.url), endpoint="e")


async def test_a_huge_error_page_is_read_in_part(serve: Serve) -> None:
    """A status that is an error keeps its meaning however long its page is."""

    async def huge(_: web.Request) -> web.Response:
        return web.Response(status=400, body=b"x" * 3_000_000)

    server = await serve(huge)
    reply = await once(server.url)
    assert (reply.status, len(reply.body)) == (400, 1 << 20)


async def test_nobody_listens() -> None:
    """A closed port, and a secure connection to a server that has none, are unreachable."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        with pytest.raises(UnreachableError, match="no connection"):
            await once(f"http://127.0.0.1:{port}/")


async def test_no_tls(serve: Serve) -> None:
    """A secure connection to a server that has none is unreachable."""
    server = await serve(empty)
    with pytest.raises(UnreachableError, match="no secure connection"):
        await once(server.url.replace("http:", "https:"))


async def test_no_http() -> None:
    """A server of another protocol is unreachable too."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.ex.org ESMTP\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(UnreachableError, match="connection failed"):
            await once(f"http://127.0.0.1:{port}/")


def every_kind(of: type[Exception]) -> Iterator[type[Exception]]:
    """All classes under one."""
    for kind in of.__subclasses__():
        yield kind
        yield from every_kind(kind)


@pytest.mark.parametrize("kind", sorted(set(every_kind(aiohttp.ClientError)), key=repr))
def test_every_error_of_aiohttp_is_mapped(kind: type[Exception]) -> None:
    """No exception of aiohttp gets through, and the text of none: it may quote what a URL carries."""
    error = kind.__new__(kind)
    error.args = ("http://u:hunter2@host/",)
    if isinstance(error, aiohttp.ClientConnectorError):
        key = ConnectionKey("h", 1, False, True, None, None, None)
        aiohttp.ClientConnectorError.__init__(error, key, OSError(1, "refused"))
    with pytest.raises((UnreachableError, EndpointTimeoutError, ProfileError)) as caught, http._mapped("e", 1):
        raise error
    assert "hunter2" not in str(caught.value)


# ---- moving ----


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_on_the_same_host_is_followed_with_the_query(serve: Serve, status: int) -> None:
    """An endpoint that moved on its host is asked again with the same form and the same credentials."""

    async def moved(request: web.Request) -> web.Response:
        return (
            await empty(request)
            if request.path == "/new"
            else web.Response(status=status, headers={"Location": "/new"})
        )

    server = await serve(moved)
    reply = await once(server.url.replace("//", "//u:p@"), "ASK {}")
    assert reply.body == EMPTY
    assert [asked.form for asked in server.asked] == [{"query": "ASK {}"}] * 2
    assert all("authorization" in asked.headers for asked in server.asked)


async def test_an_address_of_version_6_is_one_as_any_other(serve: Serve) -> None:
    """An IPv6 literal as the endpoint's host is asked, named in brackets, and moves within its origin."""
    with raw_server(address="::1") as server:
        good, moved = reply(EMPTY, content_type=JSON), reply(status="308 Moved", location=f"{server.origin}/new")
        server.answer = lambda request: good if b"POST /new" in request else moved
        assert (await once(server.url)).body == EMPTY
        assert HttpTransport(server.url).name == f"http://[::1]:{server.port}/sparql"
    assert len(server.asked) == 2


# ---- several event loops ----


class KeepAlive(BaseHTTPRequestHandler):
    """Answers every POST and keeps the connection."""

    protocol_version = "HTTP/1.1"
    connections: set[Any]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(self.client_address)  # type: ignore[attr-defined]  # the list of the test
        self.send_response(200)
        self.send_header("Content-Type", JSON)
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def threaded() -> Iterator[ThreadingHTTPServer]:
    """A server in another thread, for tests that start their own event loops."""
    with ThreadingHTTPServer(("127.0.0.1", 0), KeepAlive) as server:
        server.daemon_threads = True
        server.block_on_close = False
        server.seen = []  # type: ignore[attr-defined]  # what KeepAlive fills
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_one_transport_serves_several_event_loops(threaded: ThreadingHTTPServer) -> None:
    """Each asyncio.run gets its own connections, uses them again, and leaves none behind, closed or not."""
    transport = HttpTransport(f"http://127.0.0.1:{threaded.server_port}/")

    async def twice() -> list[EndpointReply]:
        return [await transport.send("ASK {}"), await transport.send("ASK {}")]

    for _ in range(3):
        assert [reply.body for reply in asyncio.run(twice())] == [EMPTY, EMPTY]
    gc.collect()  # an unclosed connection would warn now, and warnings are errors
    seen = threaded.seen  # type: ignore[attr-defined]  # the list of the test
    assert len(seen) == 6
    assert len(set(seen)) == 3
    assert len(transport._sessions) == 1


def test_one_transport_serves_several_threads(threaded: ThreadingHTTPServer) -> None:
    """Event loops side by side do not disturb each other."""
    transport = HttpTransport(f"http://127.0.0.1:{threaded.server_port}/")
    bodies: list[bytes] = []

    async def several() -> None:
        bodies.extend([(await transport.send("ASK {}")).body for _ in range(10)])
        await transport.close()

    threads = [threading.Thread(target=lambda: asyncio.run(several())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bodies == [EMPTY] * 40
    assert len(transport._sessions) == 0


async def test_closing_twice_and_asking_again_is_fine(serve: Serve) -> None:
    """A closed transport opens again when it is asked."""
    server = await serve(empty)
    transport = HttpTransport(server.url)
    await transport.close()
    for _ in range(2):
        assert (await transport.send("ASK {}")).status == 200
        await transport.close()
        await transport.close()


async def test_the_real_oxigraph_answers(oxigraph_url: str) -> None:
    """Rows, a rejected query and a timeout of a real engine come out as they should."""
    rows = accept(await once(oxigraph_url, "SELECT ?o { <http://ex.org/ada> ?p ?o } ORDER BY ?o"), endpoint="o")
    assert {repr(row["o"]) for row in rows.rows} == {"<http://ex.org/grace>", '"Ada"@en'}
    wrong = await once(oxigraph_url, "SELECT nonsense")
    with pytest.raises(EndpointError, match="answered 400: error at"):
        accept(wrong, endpoint="o")
    nested = " ".join(f"FILTER EXISTS {{ ?s{n} ?p{n} ?o{n}" for n in range(30)) + " FILTER(?s = 5)" + " }" * 30
    slow = await once(oxigraph_url, f"SELECT * {{ ?s ?p ?o {nested} }}")
    assert slow.status == 200
    with pytest.raises(EndpointTimeoutError, match="cancelled"):
        accept(slow, endpoint="o")
