import select
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yarl

from fedkg.errors import EndpointError, NotSparqlError, SettingsError, UnreachableError
from fedkg.transport.http import HttpTransport
from fedkg.transport.proxies import proxy_for
from fedkg.transport.sparqlwrapper import WrapperTransport
from tests.support.raw_server import RawServer, raw_server, reply

EMPTY = b'{"head": {"vars": []}, "results": {"bindings": []}}'
GOOD = reply(EMPTY, content_type="application/sparql-results+json")
PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "http://e.example/", None),
        ({"http_proxy": PROXY}, "http://e.example/", PROXY),
        ({"HTTP_PROXY": PROXY}, "http://e.example/", PROXY),
        ({"http_proxy": "proxy.example:3128"}, "http://e.example/", PROXY),
        ({"http_proxy": PROXY}, "https://e.example/", None),
        ({"https_proxy": PROXY}, "https://e.example/", PROXY),
        ({"ALL_PROXY": PROXY}, "https://e.example/", PROXY),
        ({"ALL_PROXY": "socks5://p.example", "http_proxy": PROXY}, "http://e.example/", PROXY),
        ({"ALL_PROXY": PROXY, "no_proxy": "*"}, "http://e.example/", None),
        ({"ALL_PROXY": PROXY, "no_proxy": "x, .example"}, "http://e.example/", None),
        ({"ALL_PROXY": PROXY, "NO_PROXY": "e.example:8080"}, "http://e.example:8080/", None),
        ({"ALL_PROXY": PROXY, "no_proxy": "e.example:8080"}, "http://e.example/", PROXY),
        ({"ALL_PROXY": PROXY, "no_proxy": "::1"}, "http://[::1]:8080/", None),
        ({"ALL_PROXY": PROXY, "no_proxy": "[::1]"}, "http://[::1]:8080/", None),
        ({"ALL_PROXY": PROXY, "no_proxy": "[::1]:8080"}, "http://[::1]:8080/", None),
        ({"ALL_PROXY": PROXY, "no_proxy": "127.0.0.1"}, "http://localhost/", PROXY),
    ],
)
def test_the_proxy_is_the_one_that_other_programs_take(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], url: str, proxy: str | None
) -> None:
    """Variables of either case, the scheme's own before the one for all, and exceptions by host, domain, port."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(yarl.URL(url)) == (yarl.URL(proxy) if proxy else None)


@pytest.mark.parametrize("value", ["socks5://ada:hunter2@127.0.0.1:9", "http://ada:hunter2@[::1", "http://", "x\n://y"])
def test_a_proxy_that_cannot_be_used_is_not_gone_around(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A SOCKS proxy, or what is no URL, is bad input that names the variables and no password."""
    monkeypatch.setenv("all_proxy", value)
    with pytest.raises(SettingsError, match="cannot use") as caught:
        HttpTransport("http://e.example/sparql")
    assert "ALL_PROXY" in caught.value.hint
    assert "hunter2" not in str(caught.value)


# ---- a real one ----


def forward(request: bytes) -> bytes:
    """The reply of the server that a request to a proxy names."""
    url = request.split(b" ", 2)[1]
    target = yarl.URL(url.decode())
    with socket.create_connection((target.raw_host, target.port), timeout=10) as onward:
        onward.sendall(request.replace(url, target.raw_path_qs.encode(), 1))
        received = b""
        while select.select([onward], [], [], 10)[0] and (part := onward.recv(1 << 16)):
            received += part
    return received


def over_http(url: str) -> Any:
    """Our own transport."""
    return HttpTransport(url)


def over_wrapper(url: str) -> Any:
    """A user's SPARQLWrapper object."""
    return WrapperTransport(pytest.importorskip("SPARQLWrapper").SPARQLWrapper(url))


MAKERS = pytest.mark.parametrize("make", [over_http, over_wrapper])


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[RawServer]:
    """A proxy that forwards, named with user and password in the environment."""
    with raw_server(forward) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://ada:hunter2@127.0.0.1:{server.port}")
        yield server


@MAKERS
async def test_requests_go_through_the_proxy(
    proxy: RawServer, make: Callable[[str], Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The proxy gets its credentials and forwards; the endpoint does not get them, and no log shows them."""
    caplog.set_level("DEBUG")
    with raw_server(GOOD) as endpoint:
        transport = make(endpoint.url)
        assert (await transport.send("ASK {}")).body == EMPTY
        await transport.close()
        assert endpoint.url.encode() in proxy.asked[0]
    assert b"proxy-authorization: basic ywrhomh1bnrlcji=" in proxy.asked[0].lower()
    assert "hunter2" not in caplog.text + repr(transport)


@MAKERS
async def test_exceptions_are_asked_directly(
    proxy: RawServer, make: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host in NO_PROXY is reached without the proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with raw_server(GOOD) as endpoint:
        transport = make(endpoint.url)
        assert (await transport.send("ASK {}")).body == EMPTY
        await transport.close()
    assert not proxy.attempts


@MAKERS
async def test_a_proxy_that_refuses_is_named_as_such(proxy: RawServer, make: Callable[[str], Any]) -> None:
    """A 407 is the proxy's, not the endpoint's: the hint names the variables, without the password."""
    proxy.answer = lambda _: reply(b"who are you?", "407 No", proxy_authenticate="Basic")
    transport = make("http://e.example/sparql")
    with pytest.raises(NotSparqlError, match="the proxy answered 407") as caught:
        await transport.send("ASK {}")
    await transport.close()
    assert "HTTP_PROXY" in caught.value.hint
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("answer", [b"", reply(status="407 No"), reply(status="502 Bad")])
async def test_a_proxy_that_lets_nothing_through(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    """A proxy that opens no tunnel, or hangs up, is an error of the endpoint's connection, with no password in it."""
    with raw_server(answer) as server:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:hunter2@127.0.0.1:{server.port}")
        transport = HttpTransport("https://e.example/sparql")
        with pytest.raises(EndpointError) as caught:
            await transport.send("ASK {}")
        await transport.close()
    assert server.asked[0].startswith(b"CONNECT e.example:443")
    assert "hunter2" not in str(caught.value) + caught.value.hint


async def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed port in the place of the proxy is told apart from an endpoint that is down."""
    monkeypatch.setenv("http_proxy", "http://ada:hunter2@127.0.0.1:1")
    transport = HttpTransport("http://e.example/sparql")
    with pytest.raises(UnreachableError, match="no connection to the proxy") as caught:
        await transport.send("ASK {}")
    await transport.close()
    assert "HTTP_PROXY" in caught.value.hint
