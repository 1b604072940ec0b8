"""The clients that the SDKs send through: what cannot be reached from here, and replies that are attacks."""

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stamina
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("openai", reason="needs fedkg[openai]")
pytest.importorskip("anthropic", reason="needs fedkg[anthropic]")

from fedkg.embed.openai import OpenAIEmbedder
from fedkg.errors import ModelError, ModelNameError, ModelReplyError, ModelUnreachableError, ModelUntrustedError
from fedkg.llm.anthropic import AnthropicModel
from fedkg.llm.base import Message, Request
from fedkg.llm.openai import OpenAIModel
from fedkg.llm.sdk import WireModel
from fedkg.transport.sdk_http import ERROR_BYTES, LONGEST, _certificates
from tests.support.raw_server import RawServer, raw_server, reply

ASK = Request("plan", (Message("user", "Which?"),), {})
KEY = "sk-very-secret-key"
OPENAI = {"choices": [{"finish_reason": "stop", "message": {"content": "{}"}}], "usage": {}}
ANTHROPIC = {
    "content": [{"type": "text", "text": "{}"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
VECTORS = {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}


def chat(made: WireModel) -> str:
    """What the model replies."""

    async def complete() -> str:
        try:
            return (await made.complete(ASK)).text
        finally:
            await made.close()

    return asyncio.run(complete())


def vectors(url: str) -> list[float]:
    """What the embedder makes of one text."""
    made = OpenAIEmbedder("small", KEY, url)
    try:
        return [float(number) for number in made.embed(["a"])[0]]
    finally:
        made.close()


WIRES: dict[str, tuple[Callable[[str], object], object, object]] = {
    "openai": (lambda url: chat(OpenAIModel("m", KEY, f"{url}/v1")), OPENAI, "{}"),
    "anthropic": (lambda url: chat(AnthropicModel("m", KEY, url)), ANTHROPIC, "{}"),
    "embeddings": (lambda url: vectors(f"{url}/v1"), VECTORS, [1.0, 0.0]),
}
ON_EACH_WIRE = pytest.mark.parametrize("wire", WIRES)


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    """A server that replies with whatever bytes it is given."""
    with raw_server() as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(server: RawServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No request is counted, and the retries do not wait."""
    server.asked.clear()
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


def bodied(wire: str, **headers: str) -> bytes:
    """The wire's good reply, packed as its headers say."""
    body = json.dumps(WIRES[wire][1]).encode()
    packed = gzip.compress(body) if headers.get("content_encoding") else body
    return reply(packed, content_type="application/json", **headers)


# ---- what cannot be reached from here ----


@pytest.mark.parametrize("make", [OpenAIModel, AnthropicModel, OpenAIEmbedder])
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1", "SOCKS"),
        ("HTTPS_PROXY", "ftp://ada:pa55@127.0.0.1:1", "proxy"),
        ("SSL_CERT_FILE", "/nowhere/at/all.pem", "No such file"),
    ],
)
def test_proxies_and_certificates_that_allow_no_client_are_named(
    make: Any, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    """What a machine's variables make impossible is bad input with a hint, and without a proxy's password."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ModelNameError, match=message) as caught:
        make("m", "k")
    assert variable in caught.value.hint
    assert "pa55" not in str(caught.value)


def test_certificates_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them takes longer than all else that a client needs; other variables mean others."""
    usual = _certificates()
    assert _certificates() is usual
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert _certificates() is not usual


@pytest.mark.parametrize("make", [OpenAIModel, AnthropicModel, OpenAIEmbedder])
def test_a_host_that_is_none_is_bad_input(make: Any) -> None:
    """Digits that look like an address and are none are refused before anything is sent."""
    with pytest.raises(ModelNameError, match="Invalid IPv4 address"):
        make("m", "k", "http://256.1.1.1/v1")


@ON_EACH_WIRE
def test_an_address_of_version_6_is_one_as_any_other(wire: str) -> None:
    """A server at an IPv6 literal is asked, and the variables' proxies with it."""
    with raw_server(bodied(wire), address="::1") as server:
        assert WIRES[wire][0](server.origin) == WIRES[wire][2]


@ON_EACH_WIRE
def test_the_proxy_of_the_machine_is_used(server: RawServer, wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go through the proxy that the variables name, which gets its password; the service does not."""
    server.answer = lambda _: bodied(wire)
    monkeypatch.setenv("HTTP_PROXY", f"http://ada:hunter2@127.0.0.1:{server.port}")
    assert WIRES[wire][0]("http://model.invalid") == WIRES[wire][2]
    assert server.asked[0].startswith(b"POST http://model.invalid/")
    assert b"proxy-authorization: basic ywrhomh1bnrlcji=" in server.asked[0].lower()


@ON_EACH_WIRE
def test_a_proxy_that_is_not_there(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed port in the place of the proxy is ModelUnreachableError, without the proxy's password."""
    monkeypatch.setenv("HTTP_PROXY", "http://ada:hunter2@127.0.0.1:1")
    with pytest.raises(ModelUnreachableError) as caught:
        WIRES[wire][0]("http://model.invalid")
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


# ---- redirects and cookies ----


@ON_EACH_WIRE
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(server: RawServer, wire: str, status: int) -> None:
    """Key and prompt go to no other address: it is named, for a person to decide, and nothing is tried again."""
    with raw_server() as other:
        server.answer = lambda _: reply(status=f"{status} Moved", location=f"{other.origin}/v1?key=hunter2")
        with pytest.raises(ModelUntrustedError, match=f"redirects to {other.origin}/v1") as caught:
            WIRES[wire][0](server.origin)
    assert (len(server.asked), other.attempts) == (1, 0)
    assert other.origin in caught.value.hint
    assert "hunter2" not in str(caught.value) + caught.value.hint


@ON_EACH_WIRE
def test_cookies_are_not_kept(server: RawServer, wire: str) -> None:
    """What a service sets in a reply is not sent to it again."""
    server.answer = lambda _: reply(status="503 Busy", set_cookie="a=b; Path=/")
    with pytest.raises(ModelError):
        WIRES[wire][0](server.origin)
    assert len(server.asked) > 1
    assert not any(b"cookie" in request.lower() for request in server.asked)


# ---- replies that are packed, or have no end ----


@ON_EACH_WIRE
@pytest.mark.parametrize("encoding", ["", "gzip", "x-gzip"])
def test_gzip_is_asked_for_and_read(server: RawServer, wire: str, encoding: str) -> None:
    """A reply comes as it is, or packed with gzip."""
    server.answer = lambda _: bodied(wire, content_encoding=encoding)
    assert WIRES[wire][0](server.origin) == WIRES[wire][2]
    assert b"accept-encoding: gzip\r\n" in server.asked[0].lower()


@ON_EACH_WIRE
@pytest.mark.parametrize("status", ["200 OK", "500 Oops"])
@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "deflate", "gzip\r\ncontent-encoding: gzip"])
def test_other_encodings_are_refused(server: RawServer, wire: str, encoding: str, status: str) -> None:
    """Stacked encodings, and those that were not asked for, are refused unread and not asked for again."""
    packed = gzip.compress(gzip.compress(json.dumps(WIRES[wire][1]).encode()))
    server.answer = lambda _: reply(packed, status, content_encoding=encoding)
    with pytest.raises(ModelReplyError, match="gzip was asked for"):
        WIRES[wire][0](server.origin)
    assert len(server.asked) == 1


@ON_EACH_WIRE
@pytest.mark.parametrize(("status", "most"), [("200 OK", LONGEST), ("500 Oops", ERROR_BYTES)])
def test_a_reply_without_an_end_is_given_up(server: RawServer, wire: str, status: str, most: int) -> None:
    """Beyond what any reply has it is not read on: memory is not the server's to fill."""
    most *= 2 if wire == "embeddings" and status == "200 OK" else 1
    server.answer = lambda _: reply(gzip.compress(b" " * (most + 1), 1), status, content_encoding="gzip")
    with pytest.raises(ModelReplyError, match=f"longer than {most:,} bytes"):
        WIRES[wire][0](server.origin)
    assert len(server.asked) == 1


@ON_EACH_WIRE
@pytest.mark.parametrize("body", [b"not packed", gzip.compress(b"{}")[:-4]], ids=["plain", "cut"])
def test_a_reply_that_is_packed_wrongly_broke_off(server: RawServer, wire: str, body: bytes) -> None:
    """What does not unpack may have been damaged on its way: it is asked for again."""
    server.answer = lambda _: reply(body, content_encoding="gzip")
    with pytest.raises(ModelUnreachableError):
        WIRES[wire][0](server.origin)
    assert len(server.asked) > 1


BOMBED = """
import asyncio, resource, sys
from fedkg.embed.openai import OpenAIEmbedder
from fedkg.errors import ModelError
from fedkg.llm.base import Message, Request
from fedkg.llm.openai import OpenAIModel

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

model = OpenAIModel("m", "k", sys.argv[1])
embedder = OpenAIEmbedder("m", "k", sys.argv[1])
request = Request("plan", (Message("user", "?"),), {})
before, outcomes = peak(), []
for ask in (lambda: asyncio.run(model.complete(request)), lambda: embedder.embed("a")):
    try:
        ask()
    except ModelError as error:
        outcomes.append(type(error).__name__)
print((peak() - before) // 1024, *outcomes)
"""


@pytest.mark.exhaustive
def test_a_bomb_takes_little_memory(server: RawServer) -> None:
    """Half a gigabyte in half a megabyte ends before a process has grown by 150 MB."""
    bomb = gzip.compress(b" " * 1_000_000, 9) * 500
    server.answer = lambda _: reply(bomb, content_encoding="gzip")
    done = subprocess.run([sys.executable, "-c", BOMBED, server.origin], capture_output=True, text=True, check=True)
    grown, *outcomes = done.stdout.split()
    assert outcomes == ["ModelReplyError", "ModelReplyError"]
    assert int(grown) < 150


# ---- headers ----

NAMES = ("Location", "Retry-After", "Content-Type", "Content-Length", "Content-Encoding", "Set-Cookie", "X-Request-Id")
ODD = st.one_of(
    st.binary(max_size=40).map(lambda value: value.replace(b"\n", b"")),
    st.sampled_from([b"gzip", b"http://xn--a/", b"//", b"-1", b"1e999", b"nan", b"9" * 5000, b"text/html; charset=x"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    wire=st.sampled_from(list(WIRES)),
    status=st.sampled_from([200, 204, 302, 307, 400, 401, 429, 500]),
    headers=st.lists(st.tuples(st.sampled_from(NAMES), ODD), max_size=5),
    body=st.sampled_from([b"", b"{}", b"[" * 100_000, b'{"error": {"message": 3, "type": [], "code": {}}}', b"\xff"]),
)
def test_made_up_headers(
    server: RawServer, wire: str, status: int, headers: list[tuple[str, bytes]], body: bytes
) -> None:
    """Whatever stands in the headers of a reply, it ends as a typed error."""
    lines = [name.encode() + b": " + value for name, value in headers]
    server.answer = lambda _: b"\r\n".join([b"HTTP/1.1 %d X" % status, *lines, b"connection: close", b"", body])
    with pytest.raises((ModelError, ModelNameError)) as caught:
        WIRES[wire][0](server.origin)
    assert str(caught.value).isprintable()
    assert KEY not in str(caught.value)
