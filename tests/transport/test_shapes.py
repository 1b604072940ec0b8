"""Every way in which endpoints are known to misbehave, played by a real server: shape, class, action, what is seen."""

import datetime as dt
import email.utils
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from aiohttp import web

from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Limits, Profile
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Iri, Literal
from fedkg.errors import (
    Action,
    EndpointError,
    EndpointTimeoutError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
    UntrustedError,
)
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.transport.client import EndpointClient
from fedkg.transport.http import HttpTransport

JSON, PLAIN, HTML = "application/sparql-results+json", "text/plain", "text/html"
XML = "application/sparql-results+xml"
SECRET = "SELECT ?secret WHERE { <http://ex.org/secret> ?p ?o }"
ROW = {"x": {"type": "literal", "value": "1"}}
GOOD = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": [ROW, ROW]}}).encode()
JAVA = b"java.util.concurrent.ExecutionException: java.util.concurrent.TimeoutException\n\tat com.bigdata.rdf.sail\n"
BLAZEGRAPH = b"SPARQL-QUERY: queryStr=" + SECRET.encode() + b"\n" + JAVA
MALFORMED = b"java.util.concurrent.ExecutionException: org.openrdf.query.MalformedQueryException: Encountered '}'\n"


class Shape(msgspec.Struct):
    """A reply, and the error it has to become: `says` stands in its message, `wait` is about what it asks for.

    `{DATE}` in a header and `{INSTANT}` in the body are an hour later than the moment at which the reply is given.
    """

    name: str
    status: int
    kind: str
    body: bytes
    error: type[EndpointError]
    says: str
    headers: dict[str, str] = {}
    wait: float = 0.0

    def reply(self) -> web.Response:
        """The reply as it is given now."""
        end = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
        headers = {
            name: value.replace("{DATE}", email.utils.format_datetime(end)) for name, value in self.headers.items()
        }
        body = self.body.replace(b"{INSTANT}", end.isoformat().encode())
        return web.Response(status=self.status, body=body, headers={"Content-Type": self.kind, **headers})


def qlever(exception: str) -> bytes:
    """An error as QLever writes it."""
    return json.dumps({"query": SECRET, "status": "ERROR", "resultsize": 0, "exception": exception}).encode()


def page(title: str) -> bytes:
    """A web page with that title."""
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>".encode()


CUT = GOOD[:-20]
FULL = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": [ROW] * 3}}).encode()
OOM = "Tried to allocate 6.9 GB, but only 6.7 GB were available"
EXPORT = b"\n !!!!>># An error has occurred while exporting the query result. "
ANYTIME = b"Virtuoso S1TAT Error Query did not complete due to ANYTIME timeout.\n\nSPARQL query:\n" + SECRET.encode()
# eight failures end a batch; a few more requests are on their way by then, one asks for the engine, one in plainer form
MOST_REQUESTS = 17
RETRY, RESHAPE, STOP = (Action.RETRY, Action.RESHAPE, Action.STOP)
CLASS_OF = {
    EndpointTimeoutError: RESHAPE,
    TruncatedError: RESHAPE,
    UnreachableError: RETRY,
    RefusedError: RETRY,
    NotSparqlError: STOP,
    QueryRejectedError: STOP,
    UntrustedError: STOP,
}

SHAPES = [
    # Blazegraph
    Shape("blazegraph syntax", 400, PLAIN, b"SPARQL-QUERY: queryStr=SELECT\n" + MALFORMED, QueryRejectedError,
          "Encountered"),
    Shape("blazegraph timeout", 500, PLAIN, BLAZEGRAPH, EndpointTimeoutError, "TimeoutException"),
    Shape("blazegraph timeout after rows", 200, JSON, CUT + BLAZEGRAPH, EndpointTimeoutError, "TimeoutException"),
    Shape(
        "blazegraph timeout in a literal",
        200,
        JSON,
        GOOD.replace(b'"1"', b'"' + BLAZEGRAPH[:-1].replace(b"\n", b" ").replace(b"\t", b" ") + b'"'),
        EndpointTimeoutError,
        "TimeoutException",
    ),
    Shape("blazegraph breaks off", 200, JSON, CUT + BLAZEGRAPH[:40], TruncatedError, "in the middle"),
    Shape("stack trace only", 200, JSON, CUT + JAVA, EndpointTimeoutError, "TimeoutException"),
    Shape("wikidata throttle", 429, HTML, page("Too Many Requests"), RefusedError, "Too Many", {"Retry-After": "7"}, 7),
    Shape("throttle, no time given", 429, HTML, page("Slow down"), RefusedError, "Slow down"),
    Shape("throttle, nonsense time", 429, HTML, b"", RefusedError, "429", {"Retry-After": "soon"}),
    Shape(
        "throttle until a date",
        429,
        PLAIN,
        b"later",
        RefusedError,
        "later",
        {"Retry-After": "{DATE}"},
        3600,
    ),
    Shape(
        "wikidata ban",
        403,
        PLAIN,
        b"You have been banned until {INSTANT}, please respect throttling",
        RefusedError,
        "banned until",
        {},
        3600,
    ),
    Shape("ban without an end", 403, PLAIN, b"You are banned.", RefusedError, "banned", {}, 86_400),
    Shape("overload", 503, PLAIN, b"Service is overloaded, please try again later.", RefusedError, "overloaded"),
    Shape("user agent", 403, HTML, page("Please comply with the User-Agent policy"), RefusedError, "policy", {}, 3600),
    # QLever
    Shape("qlever syntax", 400, "application/json", qlever("Invalid SPARQL query: x"), QueryRejectedError, "Invalid"),
    Shape("qlever timeout", 429, "application/json", qlever("Operation timed out. Last: Sort"), EndpointTimeoutError,
          "Sort"),
    Shape("qlever memory", 500, "application/json", qlever(OOM), EndpointTimeoutError, "6.9 GB"),
    Shape("qlever memory, old", 400, "application/json", qlever(OOM), EndpointTimeoutError, "6.9 GB"),
    Shape("qlever, unknown trouble", 500, "application/json", qlever("assertion"), EndpointTimeoutError, "assertion"),
    Shape("qlever, same query id twice", 409, "application/json", qlever("Query ID already in use"), QueryRejectedError,
          "ID"),
    Shape("qlever timeout parameter", 403, PLAIN, b"User submitted timeout was higher", QueryRejectedError, "higher"),
    Shape("qlever export timeout", 200, JSON, CUT + EXPORT + b"Operation timed out.", EndpointTimeoutError,
          "timed out"),
    Shape("qlever export error", 200, JSON, CUT + EXPORT + b"Assertion failed", TruncatedError, "Assertion failed"),
    Shape("qlever error as 200", 200, "application/json", qlever("Operation timed out."), EndpointTimeoutError,
          "timed out"),
    # Virtuoso
    Shape(
        "virtuoso syntax",
        400,
        PLAIN,
        b"Virtuoso 37000 Error SP030: SPARQL compiler, line 1: syntax error at 'x'\n\n"
        b"SPARQL query:\n" + SECRET.encode(),
        QueryRejectedError,
        "SP030",
    ),
    Shape("virtuoso arguments", 400, PLAIN, b"37000 Error SP030: Too many arguments for", EndpointTimeoutError,
          "Too many"),
    Shape("virtuoso cost", 500, PLAIN, b"42000 The estimated execution time 900 (sec) exceeds", EndpointTimeoutError,
          "900"),
    Shape("virtuoso lines", 500, PLAIN, b"SP031: length of generated SQL text has exceeded 10000", EndpointTimeoutError,
          "SP031"),
    Shape("virtuoso sort", 500, PLAIN, b"22023 Error SR353: Sorted TOP clause", EndpointTimeoutError, "SR353"),
    Shape("virtuoso timeout", 500, PLAIN, b"Virtuoso S1T00 Error SR171: Transaction timed out", EndpointTimeoutError,
          "SR171"),
    Shape("virtuoso killed", 500, PLAIN, b"HY008 Error SR203: Async statement killed", EndpointTimeoutError, "SR203"),
    Shape("virtuoso anytime, strict", 500, PLAIN, ANYTIME, EndpointTimeoutError, "S1TAT"),
    Shape("virtuoso anytime 206", 206, JSON, GOOD, TruncatedError, "206"),
    Shape("virtuoso anytime 200", 200, JSON, GOOD, TruncatedError, "S1TAT", {"X-SQL-State": "S1TAT"}),
    Shape("virtuoso anytime, header", 200, JSON, GOOD, TruncatedError, "anytime", {"X-SPARQL-Anytime": "timeout=1"}),
    Shape("virtuoso row cap", 200, JSON, GOOD, TruncatedError, "maxrows: 2", {"X-SPARQL-MaxRows": "2"}),
    Shape("virtuoso row cap, xml", 200, XML, b"<sparql><head/><results/></sparql>", TruncatedError, "maxrows",
          {"X-SPARQL-MaxRows": "2"}),
    Shape("virtuoso row cap, silent", 200, JSON, FULL, TruncatedError, "3 rows"),
    Shape("virtuoso sponging", 500, PLAIN, b"Virtuoso 42000 Error SQ070:SECURITY: Must have select privileges",
          QueryRejectedError, "SQ070"),
    Shape("virtuoso after a cut GET", 400, PLAIN,
          b"Virtuoso 37000 Error SP030: SPARQL compiler, line 1: syntax error at '<http'", QueryRejectedError, "SP030"),
    Shape("virtuoso no xml", 406, PLAIN, b"Not Acceptable", NotSparqlError, "Not Acceptable"),
    Shape("virtuoso rights", 500, PLAIN, b"42000 Error SR186:SECURITY: No permission", QueryRejectedError, "SR186"),
    Shape("virtuoso full text", 500, PLAIN, b"37000 Error XM029: Free-text expression", QueryRejectedError, "XM029"),
    # the others
    Shape("oxigraph timeout", 200, JSON,
          b'{"head":{"vars":["x"]},"results":{"bindings":[The SPARQL operation has been cancelled',
          EndpointTimeoutError, "cancelled"),
    Shape("oxigraph syntax", 400, PLAIN, b"error at 1:25: expected one of", QueryRejectedError, "1:25"),
    Shape("fuseki timeout", 503, PLAIN, b"Query timed out", EndpointTimeoutError, "timed out"),
    Shape("rdf4j timeout", 500, PLAIN, b"org.eclipse.rdf4j.query.QueryInterruptedException: too long",
          EndpointTimeoutError, "too long"),
    Shape("corese error as 200", 200, PLAIN, b"Error: something went wrong", NotSparqlError, "went wrong"),
    Shape("oxigraph headers", 400, PLAIN, b"The headers size must fit in 8kb", QueryRejectedError, "8kb"),
    Shape("graphdb partial", 500, PLAIN, b"Query evaluation timed out", EndpointTimeoutError, "timed out"),
    Shape("mesh timeout", 502, HTML, page("502 Proxy Error"), UnreachableError, "Proxy Error"),
    Shape("cut body", 200, JSON, CUT, TruncatedError, "breaks off"),
    Shape("cut in an escape", 200, JSON, GOOD[:-12] + b"\\U0001", TruncatedError, "breaks off"),
    Shape("NaN", 200, JSON, GOOD.replace(b'"1"', b"NaN"), TruncatedError, "breaks off"),
    Shape("two results", 200, JSON, GOOD + GOOD, TruncatedError, "breaks off"),
    Shape("uniprot empty 400", 400, PLAIN, b"", QueryRejectedError, "400"),
    # gateways and pages
    Shape("bad gateway", 502, HTML, page("502 Proxy Error"), UnreachableError, "Proxy Error"),
    Shape("checkpoint", 503, HTML, page("503 Service Unavailable"), UnreachableError, "Unavailable"),
    Shape("maintenance", 503, HTML, page("Back soon"), RefusedError, "Back soon", {"Retry-After": "30"}, 30),
    Shape("gateway timeout", 504, HTML, page("504 Gateway Time-out"), UnreachableError, "Time-out"),
    Shape("unknown 500", 500, PLAIN, b"oops", UnreachableError, "oops"),
    Shape("a server in trouble", 500, PLAIN, b"could not connect to the store, try again", UnreachableError, "connect"),
    # an engine that tells what it could not evaluate
    Shape("languages compared", 500, PLAIN, b"Error: attempt to compare literals with differing languages",
          QueryRejectedError, "differing languages"),
    Shape("languages compared, json", 500, "application/json",
          b'{"message": "attempt to compare literals with differing languages"}', QueryRejectedError, "differing"),
    Shape("login page", 200, HTML, page("Please sign in"), NotSparqlError, "Please sign in"),
    Shape("page called JSON", 200, JSON, b"<!DOCTYPE html><p>Query form</p>", NotSparqlError, "Query form"),
    Shape("xml without results", 200, XML, b"<sparql/>", NotSparqlError, "XML that is no result"),
    Shape("xml that breaks off", 200, XML, b"<?xml version='1.0'?><sparql><head/><results><result>", TruncatedError,
          "breaks off"),
    Shape("xml with entities", 200, XML, b"<!DOCTYPE sparql [<!ENTITY a 'a'>]><sparql>&a;</sparql>", NotSparqlError,
          "XML that is no"),
    Shape("xml of something else", 200, "text/xml", b"<rss><channel/></rss>", NotSparqlError, "the root is <rss>"),
    Shape("csv results", 200, "text/csv", b"x\n1\n", NotSparqlError, "text/csv instead"),
    Shape("empty", 200, JSON, b"", NotSparqlError, "an empty body"),
    Shape("other JSON", 200, "application/json", b'{"head": {}, "rows": 1}', NotSparqlError, "JSON without results"),
    Shape("wrong URL", 404, HTML, page("404 Not Found"), NotSparqlError, "Not Found"),
    Shape("no JSON here", 406, PLAIN, b"not acceptable", NotSparqlError, "not acceptable"),
    Shape("no key", 401, PLAIN, b"who are you", QueryRejectedError, "who are you"),
    Shape("moved away", 302, HTML, b"", UntrustedError, "redirects to https://ex.org/new",
          {"Location": "https://u:pw@ex.org/new?key=pw"}),
    Shape("long query", 414, HTML, page("URI Too Long"), EndpointTimeoutError, "Too Long"),
    Shape("control characters", 400, PLAIN, b"bad\x1b[31m\x00 \xe2\x80\xae query\r\n", QueryRejectedError,
          "bad [31m query"),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name.replace(" ", "-"))
async def test_each_known_misbehaviour_becomes_its_class(serve: Callable[..., Awaitable[Any]], shape: Shape) -> None:
    """A misbehaving endpoint becomes an error that says what happened, what helps, and nothing of the query."""

    async def misbehave(_: web.Request) -> web.Response:
        return shape.reply()

    server = await serve(misbehave)
    transport = HttpTransport(server.url)
    polite = EndpointClient(
        [transport], partial(accept, endpoint="bad", known_cap=3), endpoint="bad", limits=Limits(retries=0, timeout=20)
    )
    with pytest.raises(EndpointError) as caught:
        await polite.select(SECRET, "edges")
    await polite.close()
    error = caught.value
    assert type(error) is shape.error, error
    assert error.action is CLASS_OF[shape.error]
    assert error.status == shape.status
    assert error.wait == pytest.approx(shape.wait, abs=300 if shape.wait > 300 else 0)
    assert (error.endpoint, error.asked) == ("bad", "edges")
    assert shape.says in error.message
    assert str(shape.status) in error.message
    assert error.message.isprintable()
    assert len(error.message) < 340
    assert "secret" not in error.message
    assert "pw" not in error.message
    assert error.hint


ODD = [
    ("as it should be", JSON, GOOD, "1"),
    ("plain json with a charset", "application/json; charset=utf-8", GOOD, "1"),
    ("virtuoso, a raw control character", JSON, GOOD.replace(b'"1"', b'"a\x01\tb"'), "a\x01\tb"),
    ("virtuoso, an eight-digit escape", JSON, GOOD.replace(b'"1"', b'"\\U0001B000"'), "\U0001b000"),
    ("virtuoso, half a character", JSON, GOOD.replace(b'"1"', b'"a\\uD83D"'), "a\ufffd"),
    ("virtuoso, its old name of a type", JSON, GOOD.replace(b'"literal"', b'"typed-literal"'), "1"),
    ("a byte order mark", JSON, b"\xef\xbb\xbf" + GOOD, "1"),
    ("not quite UTF-8", JSON, GOOD.replace(b'"1"', b'"a\xff"'), "a\ufffd"),
    ("qlever, with its meta data", JSON, GOOD[:-1] + b', "meta": {"query-time-ms": 3}}', "1"),
    ("a topic of its own", JSON, GOOD.replace(b'"1"', b'"java.util.concurrent. at length"'),
     "java.util.concurrent. at length"),
    ("xml instead of json", XML,
     b"<sparql><head/><results>" + b"<result><binding name='x'><literal>1</literal></binding></result>" * 2
     + b"</results></sparql>", "1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "body", "value"), [odd[1:] for odd in ODD], ids=[odd[0].replace(" ", "-") for odd in ODD]
)
async def test_what_is_odd_but_whole_is_accepted(
    serve: Callable[..., Awaitable[Any]], kind: str, body: bytes, value: str
) -> None:
    """A reply with all its rows is read, whatever its writer thinks of the standard."""

    async def behave(_: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Type": kind})

    server = await serve(behave)
    transport = HttpTransport(server.url)
    rows = accept(await transport.send("SELECT"), endpoint="odd", known_cap=3).rows
    await transport.close()
    assert [row["x"] for row in rows] == [Literal(value)] * 2


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name.replace(" ", "-"))
async def test_asking_for_less_ends_in_a_marked_gap(serve: Callable[..., Awaitable[Any]], shape: Shape) -> None:
    """However an endpoint misbehaves, a batch ends after few requests, names the cause, and leaves nothing behind."""
    well, store = False, MemoryStore()

    async def misbehave(_: web.Request) -> web.Response:
        if well:
            return web.Response(body=b'{"head": {}, "results": {"bindings": []}}', headers={"Content-Type": JSON})
        return shape.reply()

    server = await serve(misbehave)
    batch, limits = [Iri(f"http://x/{number}") for number in range(16)], Limits(retries=0, timeout=20, known_cap=3)

    async def neighbours() -> list[Neighbourhood]:
        transport = HttpTransport(server.url)
        polite = EndpointClient(
            [transport], partial(accept, endpoint="bad", known_cap=3), endpoint="bad", limits=limits
        )
        neighbourhoods = await SparqlGraph(
            EndpointSource("bad", "bad", Profile("bad", limits=limits), polite, store)
        ).neighbours(batch, "out")
        await polite.close()
        return neighbourhoods

    for near in await neighbours():
        assert (near.complete, near.edges) == (False, ())
        assert near.failed.startswith(("bad", server.url))
    assert len(server.asked) <= MOST_REQUESTS
    well = True
    assert [(near.complete, near.failed) for near in await neighbours()] == [(True, "")] * len(batch)


@pytest.mark.parametrize("years", [-20, 0, 20])
@pytest.mark.parametrize("banned", [False, True])
def test_an_instant_is_one_of_the_endpoints_clock(years: int, banned: bool) -> None:
    """A Retry-After date, or the end of a ban, is as far off as the reply's own Date says, whatever our clock shows."""
    now = dt.datetime.now(dt.UTC).replace(microsecond=0) + dt.timedelta(days=365 * years)
    end = now + dt.timedelta(minutes=10)
    headers = {"date": email.utils.format_datetime(now), "content-type": PLAIN}
    body = f"You have been banned until {end.isoformat()}" if banned else "later"
    headers |= {} if banned else {"retry-after": email.utils.format_datetime(end)}
    with pytest.raises(RefusedError) as caught:
        accept(EndpointReply(403 if banned else 429, headers, body.encode()), endpoint="e")
    assert caught.value.wait == pytest.approx(600)
