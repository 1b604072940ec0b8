from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fedkg.config.endpoint_spec import SparqlWrapper
from fedkg.errors import Action, UntrustedError
from fedkg.transport import redirects
from fedkg.transport.base import Transport
from fedkg.transport.http import HttpTransport
from fedkg.transport.sparqlwrapper import WrapperTransport
from tests.support.raw_server import RawServer, raw_server, reply

EMPTY = b'{"head": {"vars": []}, "results": {"bindings": []}}'
GOOD = reply(EMPTY, content_type="application/sparql-results+json")
QUERY = "ASK { ?a ?b ?c }"
HERE = "http://h.example:80/a/b?x=1"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/c", "http://h.example:80/c"),
        ("c?y=2#z", "http://h.example:80/a/c?y=2"),
        ("//H.example", "http://h.example:80/"),
        ("http://h.example/c", "http://h.example:80/c"),
        ("http://u:p@h.example//g.example/c", "http://h.example:80//g.example/c"),
        ("?", "http://h.example:80/a/b?x=1"),
    ],
)
def test_within_the_origin_the_way_goes_on(location: str, target: str) -> None:
    """Another path of the same scheme, host and port, however it is written; authority and password stay ours."""
    for status in (301, 302, 307, 308):
        assert redirects.onward(status, HERE, location, name="e", left=1) == target


@pytest.mark.parametrize(
    "location",
    [
        "https://h.example/",
        "http://h.example:8080/",
        "http://g.example/",
        "http://h.example.:80/",
        "http://h.example@g.example/",
        "http://h.example\\@g.example/",
        "ftp://h.example/",
        "javascript:alert(1)",
        "http://xn--a/",
        "http://\u2100.example/",
        "http://[",
        "http://h.example:x/",
        "http://h.example:99999/",
        "http://" + "a" * 100_000 + "/",
    ],
)
def test_everywhere_else_it_ends(location: str) -> None:
    """Another scheme, host or port, or a host that is none: the error names it in a bounded line and is not retried."""
    with pytest.raises(UntrustedError, match="e answered 302: it redirects to ") as caught:
        redirects.onward(302, HERE, location, name="e", left=1)
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300
    assert caught.value.action is Action.STOP
    assert not caught.value.retryable


def test_the_address_is_named_without_its_secrets() -> None:
    """The hint has the new address for a person to put into the profile, without password and query."""
    with pytest.raises(UntrustedError) as caught:
        redirects.onward(301, HERE, "https://u:hunter2@h.example/new?key=hunter2", name="e", left=1)
    assert caught.value.hint.endswith("https://h.example/new")
    assert "hunter2" not in caught.value.message + caught.value.hint


def test_a_303_and_a_circle_lead_nowhere() -> None:
    """A 303 is another resource, and after five redirects no more are followed."""
    for status, left in ((303, 1), (307, 0)):
        with pytest.raises(UntrustedError, match=r"http://h\.example:80/c"):
            redirects.onward(status, HERE, "/c", name="e", left=left)


@pytest.mark.parametrize(("status", "location"), [(200, "/c"), (300, "/c"), (304, "/c"), (302, "")])
def test_other_replies_are_no_redirects(status: int, location: str) -> None:
    """Without a Location, or with another status, the reply is judged as any other."""
    assert redirects.onward(status, HERE, location, name="e", left=1) is None


# ---- over the wire ----


def over_http(url: str) -> Transport:
    """Our own transport, with everything that it can carry."""
    return HttpTransport(url.replace("//", "//ada:hunter2@"), contact="me@ex.org", headers={"X-Key": "hunter2"})


def over_wrapper(url: str, http_auth: str = "BASIC") -> Transport:
    """A user's object, with credentials and a header of its own."""
    package = pytest.importorskip("SPARQLWrapper")
    wrapper = package.SPARQLWrapper(url)
    wrapper.setHTTPAuth(http_auth)
    wrapper.setCredentials("ada", "hunter2")
    wrapper.addCustomHttpHeader("X-Key", "hunter2")
    made: SparqlWrapper = wrapper
    return WrapperTransport(made)


@pytest.fixture
def servers() -> Iterator[tuple[RawServer, RawServer]]:
    """Two servers on one host, which differ in their ports."""
    with ExitStack() as stack:
        yield stack.enter_context(raw_server()), stack.enter_context(raw_server(GOOD))


@pytest.mark.parametrize("make", [over_http, over_wrapper])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_nothing_goes_to_another_port(
    servers: tuple[RawServer, RawServer], make: Callable[[str], Any], status: int
) -> None:
    """A redirect to another origin sends neither query nor contact nor credentials there, not even a connection."""
    first, second = servers
    first.answer = lambda _: reply(status=f"{status} Moved", location=second.url)
    transport = make(first.url)
    with pytest.raises(UntrustedError, match="redirects to") as caught:
        await transport.send(QUERY)
    await transport.close()
    assert (len(first.asked), second.attempts) == (1, 0)
    assert second.url in caught.value.hint


@pytest.mark.parametrize("make", [over_http, over_wrapper])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_on_the_origin_everything_goes_along(
    servers: tuple[RawServer, RawServer], make: Callable[[str], Any], status: int
) -> None:
    """A path that has moved on its own server is asked with the same query, credentials and headers."""
    server, _ = servers
    moved = reply(status=f"{status} Moved", location="/new")
    server.answer = lambda request: GOOD if b"POST /new" in request else moved
    transport = make(server.url)
    assert (await transport.send(QUERY)).body == EMPTY
    await transport.close()
    for request in server.asked:
        assert b"query=ASK" in request
        assert b"basic ywrhomh1bnrlcji=" in request.lower()
        assert b"x-key: hunter2" in request.lower()


@pytest.mark.parametrize("make", [over_http, over_wrapper])
async def test_a_circle_has_an_end(servers: tuple[RawServer, RawServer], make: Callable[[str], Any]) -> None:
    """A server that redirects for ever is asked six times."""
    server, _ = servers
    server.answer = lambda _: reply(status="307 Moved", location="/sparql")
    transport = make(server.url)
    with pytest.raises(UntrustedError):
        await transport.send(QUERY)
    await transport.close()
    assert len(server.asked) == 6


async def test_digest_credentials_stay_too(servers: tuple[RawServer, RawServer]) -> None:
    """An object set to digest authentication replies to its own server's challenge, and changes no other request."""
    import urllib.request  # noqa: PLC0415  # what must not be changed

    server, other = servers
    opener = urllib.request._opener  # type: ignore[attr-defined]  # that of the whole process
    challenge = reply(status="401 No", www_authenticate='Digest realm="SPARQL", nonce="n", qop="auth"')
    server.answer = lambda request: GOOD if b'Digest username="ada"' in request else challenge
    transport = over_wrapper(server.url, "DIGEST")
    assert (await transport.send(QUERY)).body == EMPTY
    assert urllib.request._opener is opener  # type: ignore[attr-defined]
    server.answer = lambda request: (
        reply(status="302 Moved", location=other.url) if b"Digest username" in request else challenge
    )
    with pytest.raises(UntrustedError):
        await transport.send(QUERY)
    await transport.close()
    assert other.attempts == 0
