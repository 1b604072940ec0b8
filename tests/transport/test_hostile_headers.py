"""Every header of a reply is hostile: whatever one endpoint sends ends as its own error, and the others go on."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fedkg
from fedkg.config.profiles import Limits
from fedkg.errors import EndpointError
from fedkg.sparql.reply import Rows
from fedkg.sparql.results import accept
from fedkg.transport.base import Transport
from fedkg.transport.client import EndpointClient
from fedkg.transport.http import HttpTransport
from fedkg.transport.sparqlwrapper import WrapperTransport
from tests.support.raw_server import RawServer, raw_server, reply

EMPTY = b'{"head": {"vars": []}, "results": {"bindings": []}}'
JSON = b"content-type: application/sparql-results+json"
ATTACKS: dict[str, bytes] = {
    "a host that cannot be decoded": b"302\r\nlocation: http://xn--a/",
    "a host with a forbidden sign": "302\r\nlocation: http://℀.example/".encode(),
    "a host that is no address": b"307\r\nlocation: http://[::1",
    "a port that is none": b"301\r\nlocation: http://127.0.0.1:99999/",
    "a location of zeros": b"308\r\nlocation: \0\0\0",
    "a location of 7 kB": b"308\r\nlocation: /" + b"a" * 7000,
    "two locations": b"302\r\nlocation: /a\r\nlocation: http://xn--a/",
    "a wait without end": b"429\r\nretry-after: 1e999",
    "a wait of very many digits": b"429\r\nretry-after: " + b"9" * 5000,
    "a date that is none": b"503\r\nretry-after: Thu, 99 Zzz 99999 99:99:99 +9999",
    "a date before all dates": b"503\r\nretry-after: Mon, 01 Jan 0001 00:00:00 +2359",
    "a length that is none": b"200\r\ncontent-length: -5",
    "a length beyond all memory": b"200\r\ncontent-length: 99999999999999999999999",
    "two lengths": b"200\r\ncontent-length: 51\r\ncontent-length: 7",
    "an encoding of encodings": b"200\r\ncontent-encoding: gzip, gzip",
    "an encoding that was not asked for": b"200\r\ncontent-encoding: br",
    "two encodings in two headers": b"200\r\ncontent-encoding: gzip\r\ncontent-encoding: gzip",
    "a charset that is none": b"400\r\ncontent-type: text/html; charset=\xff\xfe; charset=utf-99",
    "a type of 7 kB": b"200\r\ncontent-type: " + b"a/" * 3500,
    "a cookie that is none": b"200\r\nset-cookie: =;=;=;\xff; expires=Thu, 99",
    "a transfer that is none": b"200\r\ntransfer-encoding: gzip, chunked, identity",
    "chunks that are none": b"200\r\ntransfer-encoding: chunked",
    "one header without an end": b"200\r\nx-long: " + b"a" * 100_000,
    "headers without an end": b"200\r\n" + b"\r\n".join(b"x-%d: y" % number for number in range(20_000)),
    "a header without a name": b"200\r\n: x",
    "no status": b"abc",
    "a status beyond all": b"99999",
    "another protocol": b"101\r\nupgrade: websocket\r\nconnection: upgrade",
    "a challenge that is none": b'401\r\nwww-authenticate: Digest realm="\xff, nonce=',
}


def over_http(url: str) -> Transport:
    """Our own transport."""
    return HttpTransport(url, timeout=5, max_bytes=100_000)


def over_wrapper(url: str) -> Transport:
    """A user's SPARQLWrapper object, with credentials."""
    wrapper = pytest.importorskip("SPARQLWrapper").SPARQLWrapper(url)
    wrapper.setHTTPAuth("DIGEST")
    wrapper.setCredentials("ada", "hunter2")
    return WrapperTransport(wrapper, timeout=5, max_bytes=100_000)


def outcome(make: Callable[[str], Transport], url: str) -> Rows | EndpointError:
    """What one question to the endpoint ends with; any other exception is the test's."""

    async def ask() -> Rows:
        transport = make(url)
        limits = Limits(retries=0)
        client = EndpointClient([transport], lambda got: accept(got, endpoint="e"), endpoint="e", limits=limits)
        try:
            return await client.select("ASK {}")
        finally:
            await client.close()

    try:
        return asyncio.run(ask())
    except EndpointError as error:
        return error


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    """A server that replies with whatever bytes it is given."""
    with raw_server() as running:
        yield running


@pytest.mark.parametrize("make", [over_http, over_wrapper])
@pytest.mark.parametrize("attack", list(ATTACKS))
def test_an_attack_is_that_endpoints_error(server: RawServer, make: Callable[[str], Transport], attack: str) -> None:
    """Each of these ends as rows, where the header means nothing, or as a typed error in one line."""
    server.answer = lambda _: b"HTTP/1.1 " + ATTACKS[attack] + b"\r\n" + JSON + b"\r\n\r\n" + EMPTY
    ended = outcome(make, server.url)
    if isinstance(ended, EndpointError):
        assert ended.message.isprintable()
        assert len(ended.message) < 1000
        assert 0 <= ended.wait <= 7 * 86_400


NAMES = (
    "Location",
    "Retry-After",
    "Content-Type",
    "Content-Length",
    "Content-Encoding",
    "Set-Cookie",
    "Transfer-Encoding",
    "Connection",
    "Date",
    "WWW-Authenticate",
    "X-SPARQL-MaxRows",
)
ODD = st.one_of(
    st.binary(max_size=40).map(lambda value: value.replace(b"\n", b"")),
    st.text(max_size=20).map(lambda value: value.encode().replace(b"\n", b"")),
    st.sampled_from(
        [b"gzip", b"chunked", b"http://xn--a/", b"//", b"-1", b"1e9", b"close", b"\t", b"application/json"]
    ),
    st.integers(-(10**30), 10**30).map(lambda value: b"%d" % value),
    st.builds(
        lambda scheme, host: b"%s://%s/" % (scheme, host), st.sampled_from([b"http", b""]), st.binary(max_size=9)
    ),
)
HEADERS = st.lists(st.tuples(st.sampled_from(NAMES), ODD), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    status=st.sampled_from([200, 206, 301, 302, 307, 401, 407, 429, 500, 503]),
    headers=HEADERS,
    body=st.sampled_from([b"", EMPTY, b"0\r\n\r\n", b"\x1f\x8b\x08" + b"\0" * 20]),
    make=st.sampled_from([over_http, over_wrapper]),
)
def test_made_up_headers(
    server: RawServer,
    status: int,
    headers: list[tuple[str, bytes]],
    body: bytes,
    make: Callable[[str], Transport],
) -> None:
    """Whatever stands in the headers, no other exception gets out."""
    lines = [f"{name}: ".encode() + value for name, value in headers]
    server.answer = lambda _: b"\r\n".join([b"HTTP/1.1 %d X" % status, *lines, JSON, b"", body])
    ended = outcome(make, server.url)
    assert isinstance(ended, Rows) or ended.message


@pytest.mark.parametrize("attack", ["a host that cannot be decoded", "an encoding of encodings", "two lengths"])
def test_in_a_federation_the_others_go_on(server: RawServer, attack: str, tmp_path: Path) -> None:
    """The endpoint that attacks is a gap that names it; the answer of the other one comes."""
    server.answer = lambda _: b"HTTP/1.1 " + ATTACKS[attack] + b"\r\n" + JSON + b"\r\n\r\n" + EMPTY
    question = "Who is the spouse of the director of King Kong?"
    with fedkg.Session("sample", server.url, cache_dir=str(tmp_path), embedder="bm25") as session:
        answer = session.run(session.ask(question))
    assert answer.answers
    assert {gap.endpoint for gap in answer.gaps} == {server.url}


def test_cookies_are_not_kept(server: RawServer) -> None:
    """What an endpoint sets in a reply is not sent to it again."""
    server.asked.clear()
    server.answer = lambda _: reply(EMPTY, set_cookie="a=b; Path=/", content_type="application/sparql-results+json")

    async def twice() -> None:
        transport = over_http(server.url)
        for _ in range(2):
            await transport.send("ASK {}")
        await transport.close()

    asyncio.run(twice())
    assert not any(b"cookie" in request.lower() for request in server.asked)
