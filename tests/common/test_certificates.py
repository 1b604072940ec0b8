"""Certificates that do not fit, met by every client that fedkg has."""

import asyncio
import datetime as dt
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import stamina

from fedkg.common import certificates
from fedkg.config.profiles import Limits
from fedkg.errors import FedkgError, ModelUntrustedError, SettingsError, UntrustedError
from fedkg.sparql.results import accept
from fedkg.transport.base import Transport
from fedkg.transport.client import EndpointClient
from fedkg.transport.http import HttpTransport
from fedkg.transport.sparqlwrapper import WrapperTransport
from tests.support.raw_server import RawServer, raw_server, reply

trustme = pytest.importorskip("trustme", reason="needs fedkg[dev]")

EMPTY = b'{"head": {"vars": []}, "results": {"bindings": []}}'
VECTORS = json.dumps({"data": [{"index": 0, "embedding": [1.0, 0.0]}]}).encode()
MESSAGE = {"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}
CHAT = {"choices": [{"finish_reason": "stop", "message": {"content": "{}"}}]}
COUNTS = {"input_tokens": 1, "output_tokens": 1}


def asked(transport: Transport) -> None:
    """One question to the endpoint, with the retries that there are."""

    async def ask() -> None:
        client = EndpointClient(
            [transport], lambda got: accept(got, endpoint="e"), endpoint="e", limits=Limits(retries=2)
        )
        try:
            await client.select("ASK {}")
        finally:
            await client.close()

    asyncio.run(ask())


def over_http(server: RawServer) -> None:
    """Our own transport."""
    server.answer = lambda _: reply(EMPTY, content_type="application/sparql-results+json")
    asked(HttpTransport(server.url))


def over_wrapper(server: RawServer) -> None:
    """A user's SPARQLWrapper object."""
    package = pytest.importorskip("SPARQLWrapper")
    server.answer = lambda _: reply(EMPTY, content_type="application/sparql-results+json")
    asked(WrapperTransport(package.SPARQLWrapper(server.url)))


def over_openai(server: RawServer) -> None:
    """A model on OpenAI's wire."""
    pytest.importorskip("openai")
    from fedkg.llm.openai import OpenAIModel  # noqa: PLC0415  # needs the SDK

    server.answer = lambda _: reply(json.dumps(CHAT).encode(), content_type="application/json")
    complete(OpenAIModel("m", "k", f"{server.origin}/v1"))


def over_anthropic(server: RawServer) -> None:
    """A model on Anthropic's wire."""
    pytest.importorskip("anthropic")
    from fedkg.llm.anthropic import AnthropicModel  # noqa: PLC0415  # needs the SDK

    body = json.dumps({**MESSAGE, "usage": COUNTS}).encode()
    server.answer = lambda _: reply(body, content_type="application/json")
    complete(AnthropicModel("m", "k", server.origin))


def over_embeddings(server: RawServer) -> None:
    """An embedder of OpenAI's wire."""
    pytest.importorskip("openai")
    from fedkg.embed.openai import OpenAIEmbedder  # noqa: PLC0415  # needs the SDK

    server.answer = lambda _: reply(VECTORS, content_type="application/json")
    made = OpenAIEmbedder("m", "k", f"{server.origin}/v1")
    try:
        made.embed(["a"])
    finally:
        made.close()


def complete(model: object) -> None:
    """One call of a model."""
    from fedkg.llm.base import Message, Request  # noqa: PLC0415  # beside the SDKs
    from fedkg.llm.sdk import WireModel  # noqa: PLC0415

    async def ask() -> None:
        assert isinstance(model, WireModel)
        try:
            await model.complete(Request("plan", (Message("user", "?"),), {}))
        finally:
            await model.close()

    asyncio.run(ask())


@pytest.fixture(autouse=True)
def no_waits() -> Iterator[None]:
    """Retries happen, their waits do not."""
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


AUTHORITY = trustme.CA()


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """The file of an authority's own certificate."""
    path = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return path


@contextmanager
def served(name: str, days: float = 1) -> Iterator[RawServer]:
    """A server on 127.0.0.1 whose certificate is for that name, and ends in so many days."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    end = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    AUTHORITY.issue_cert(name, not_before=end - dt.timedelta(days=9), not_after=end).configure_cert(context)
    with raw_server(tls=context) as server:
        yield server


CLIENTS = pytest.mark.parametrize(
    "client", [over_http, over_wrapper, over_openai, over_anthropic, over_embeddings], ids=lambda made: made.__name__
)


BAD = {
    "unable to get local issuer certificate": ("127.0.0.1", 1),
    "certificate has expired": ("127.0.0.1", -1),
    "IP address mismatch": ("other.example", 1),
}


@CLIENTS
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_certificate_is_no_reason_to_try_again(
    authority: Path, monkeypatch: pytest.MonkeyPatch, client: Callable[[RawServer], None], fault: str
) -> None:
    """Of an unknown authority, expired, for another host: what is wrong and what helps, after one attempt."""
    if "issuer" not in fault:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    says = f"certificate is not trusted: .*{fault}"
    with served(*BAD[fault]) as server, pytest.raises((UntrustedError, ModelUntrustedError), match=says) as caught:
        client(server)
    assert isinstance(caught.value, FedkgError)
    assert "SSL_CERT_FILE" in caught.value.hint
    assert (server.attempts, server.asked) == (1, [])


@CLIENTS
def test_an_authority_of_ones_own_is_named_by_a_variable(
    authority: Path, monkeypatch: pytest.MonkeyPatch, client: Callable[[RawServer], None]
) -> None:
    """With SSL_CERT_FILE the same server is asked."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with served("127.0.0.1") as server:
        client(server)
    assert server.asked


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_without_certificates_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    """A file that is missing, or of another kind, is bad input."""
    path = tmp_path / "none.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(SettingsError, match="certificates cannot be read") as caught:
        certificates.trusted()
    assert "SSL_CERT_FILE" in caught.value.hint


def test_certificates_are_read_once(monkeypatch: pytest.MonkeyPatch, authority: Path) -> None:
    """Reading them takes longer than a request; other variables mean others."""
    usual = certificates.trusted()
    assert certificates.trusted() is usual
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    assert certificates.trusted() is not usual
