import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from fedkg.core import deadline
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    ProfileError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql.results import accept
from fedkg.transport.sparqlwrapper import WrapperTransport

sparqlwrapper = pytest.importorskip("SPARQLWrapper")

Serve = Callable[..., Awaitable[Any]]
JSON = "application/sparql-results+json"
EMPTY = b'{"head": {"vars": []}, "results": {"bindings": []}}'


async def empty(_: web.Request) -> web.Response:
    """A result without rows."""
    return web.Response(body=EMPTY, content_type=JSON)


async def test_the_real_oxigraph_answers_a_wrapper(oxigraph_url: str) -> None:
    """Rows and a rejected query come through a SPARQLWrapper object as through our own client."""
    transport = WrapperTransport(sparqlwrapper.SPARQLWrapper(oxigraph_url))
    rows = accept(await transport.send("SELECT ?s { ?s <http://ex.org/knows> ?o }"), endpoint="o").rows
    assert [repr(row["s"]) for row in rows] == ["<http://ex.org/ada>"]
    wrong = await transport.send("SELECT nonsense")
    assert wrong.status == 400
    with pytest.raises(QueryRejectedError, match="error at"):
        accept(wrong, endpoint="o")
    await transport.close()


async def test_what_the_user_has_set_is_kept(serve: Serve) -> None:
    """Endpoint, credentials, headers, agent and parameters are the object's; method, format and query are ours."""
    server = await serve(empty)
    wrapper = sparqlwrapper.SPARQLWrapper(server.url, agent="mine/1", defaultGraph="http://g")
    wrapper.setCredentials("me", "hunter2")
    wrapper.addCustomHttpHeader("X-Key", "k")
    wrapper.addParameter("should-sponge", "soft")
    wrapper.setReturnFormat("xml")
    wrapper.setQuery("SELECT * { ?untouched ?p ?o }")
    transport = WrapperTransport(wrapper)
    reply = await transport.send("ASK { ?é ?p ?o }")
    (asked,) = server.asked
    assert asked.method == "POST"
    assert asked.form["query"] == "ASK { ?é ?p ?o }"
    assert (asked.form["default-graph-uri"], asked.form["should-sponge"]) == ("http://g", "soft")
    assert asked.headers["user-agent"] == "mine/1"
    assert asked.headers["x-key"] == "k"
    assert asked.headers["authorization"].startswith("Basic ")
    assert JSON in asked.headers["accept"]
    assert (reply.status, reply.body, reply.content_type) == (200, EMPTY, JSON)
    assert wrapper.queryString == "SELECT * { ?untouched ?p ?o }"
    assert (wrapper.method, wrapper.returnFormat) == ("GET", "xml")
    assert "hunter2" not in repr(transport)


async def test_several_at_once_do_not_mix(serve: Serve) -> None:
    """Queries side by side, each in its thread, arrive as they were asked."""
    server = await serve(empty)
    transport = WrapperTransport(sparqlwrapper.SPARQLWrapper(server.url))
    queries = {f"ASK {{ ?s ?p {n} }}" for n in range(20)}
    await asyncio.gather(*(transport.send(query) for query in queries))
    assert {asked.form["query"] for asked in server.asked} == queries


async def test_a_status_is_a_reply_with_headers(serve: Serve) -> None:
    """An error status comes back with its headers and body, so that the acceptance test can judge it."""

    async def busy(_: web.Request) -> web.Response:
        return web.Response(status=429, headers={"Retry-After": "7"}, text="slow down")

    server = await serve(busy)
    reply = await WrapperTransport(sparqlwrapper.SPARQLWrapper(server.url)).send("ASK {}")
    assert (reply.status, reply.body, reply.headers["retry-after"]) == (429, b"slow down", "7")
    with pytest.raises(RefusedError, match="slow down"):
        accept(reply, endpoint="e")


async def half(request: web.Request) -> web.StreamResponse:
    """Fewer bytes than announced."""
    reply = web.StreamResponse(headers={"Content-Type": JSON, "Content-Length": "1000"})
    return await break_off(request, reply)


async def half_chunked(request: web.Request) -> web.StreamResponse:
    """Chunks without the last one."""
    reply = web.StreamResponse(headers={"Content-Type": JSON})
    reply.enable_chunked_encoding()
    return await break_off(request, reply)


async def half_error(request: web.Request) -> web.StreamResponse:
    """An error page that breaks off."""
    return await break_off(request, web.StreamResponse(status=500, headers={"Content-Length": "1000"}))


async def break_off(request: web.Request, reply: web.StreamResponse) -> web.StreamResponse:
    """Begins a reply and closes the connection."""
    await reply.prepare(request)
    await reply.write(EMPTY)
    assert request.transport is not None
    request.transport.close()
    return reply


async def no_reply(request: web.Request) -> web.StreamResponse:
    """A connection that closes at once."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def never(request: web.Request) -> web.StreamResponse:
    """No reply, ever."""
    await asyncio.Event().wait()
    return web.Response()


async def drip(request: web.Request) -> web.StreamResponse:
    """A body that goes on for ever, a byte at a time."""
    reply = web.StreamResponse(headers={"Content-Type": JSON})
    await reply.prepare(request)
    with contextlib.suppress(ConnectionError):
        while True:
            await reply.write(b" ")
            await asyncio.sleep(0.01)
    return reply


async def long(_: web.Request) -> web.Response:
    """More than it should be."""
    return web.Response(body=b" " * 2000, content_type=JSON)


BREAKS: list[tuple[Any, type[EndpointError], str]] = [
    (half, UnreachableError, "IncompleteRead"),
    (half_chunked, UnreachableError, "IncompleteRead"),
    (half_error, UnreachableError, "IncompleteRead"),
    (no_reply, UnreachableError, "connection failed"),
    (never, EndpointTimeoutError, "within 0.3 s"),
    (drip, EndpointTimeoutError, "within 0.3 s"),
    (long, TruncatedError, "more than 1000 bytes"),
]


@pytest.mark.parametrize(("handler", "error", "says"), BREAKS, ids=[row[0].__name__ for row in BREAKS])
async def test_a_reply_that_breaks(serve: Serve, handler: Any, error: type[EndpointError], says: str) -> None:
    """What breaks off, hangs or grows too long is the same error as with our own client."""
    server = await serve(handler)
    timeout = 0.3 if error is EndpointTimeoutError else 20
    transport = WrapperTransport(sparqlwrapper.SPARQLWrapper(server.url), timeout=timeout, max_bytes=1000)
    with pytest.raises(error, match=says) as caught:
        await transport.send("ASK {}")
    assert server.url in caught.value.message


async def test_the_time_limit_of_the_object_wins(serve: Serve) -> None:
    """A timeout that the user has set on the object holds."""
    server = await serve(never)
    wrapper = sparqlwrapper.SPARQLWrapper(server.url)
    wrapper.setTimeout(1)
    with pytest.raises(EndpointTimeoutError, match="within 1 s"):
        await WrapperTransport(wrapper, timeout=100).send("ASK {}")


async def test_nobody_is_waited_for_longer_than_whoever_asks_has_time(serve: Serve) -> None:
    """The thread ends with the deadline: it cannot be cancelled, and the program would wait for it at its end."""
    server = await serve(never)
    with deadline.within(0.2), pytest.raises(EndpointTimeoutError, match=r"within 0\.(2|1\d*) s"):
        await WrapperTransport(sparqlwrapper.SPARQLWrapper(server.url), timeout=100).send("ASK {}")


async def test_nobody_listens() -> None:
    """A closed port is unreachable."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        with pytest.raises(UnreachableError, match="refused"):
            await WrapperTransport(sparqlwrapper.SPARQLWrapper(url)).send("ASK {}")


async def test_credentials_in_the_url_are_never_shown() -> None:
    """A password in the object's endpoint stays out of names and errors, whatever urllib makes of it."""
    transport = WrapperTransport(sparqlwrapper.SPARQLWrapper("http://me:hunter2@127.0.0.1:9/x?key=hunter2"))
    assert transport.name == "http://127.0.0.1:9/x"
    with pytest.raises(UnreachableError) as caught:
        await transport.send("ASK {}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("endpoint", ["", "file:///etc/passwd", "http://me:hunter2@[::1", "host/sparql"])
def test_only_http_endpoints(endpoint: str) -> None:
    """Files, which urllib would open as well, are refused."""
    with pytest.raises(ProfileError) as caught:
        WrapperTransport(sparqlwrapper.SPARQLWrapper(endpoint))
    assert "hunter2" not in str(caught.value)


def test_something_else_is_no_wrapper() -> None:
    """Any other object is the caller's mistake."""
    with pytest.raises(ProfileError, match="got str"):
        WrapperTransport("http://127.0.0.1/")  # type: ignore[arg-type]  # that is the mistake
