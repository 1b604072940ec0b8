"""Which engine stands behind an endpoint, told by how it answers: its headers, its errors, the shape of its results.

Only what an engine itself writes counts. What stands in the data of a good reply is data, so most marks are looked for
in errors alone.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from fedkg.config.dialects import Engine
from fedkg.sparql.reply import EndpointReply

__all__ = ["PROBE", "detect"]

PROBE = "SELECT ?s WHERE { ?s ?p }"
"""A query that is wrong in every engine: nothing is evaluated, and each complains in words of its own."""

READ = 8192
ERROR_BYTES = 1 << 20
SERVERS: Mapping[str, Engine] = {"virtuoso": "virtuoso", "oxigraph": "oxigraph"}
MEDIA: Mapping[str, Engine] = {"application/qlever-results+json": "qlever"}
HEADERS: Mapping[str, Engine] = {
    "x-sql-state": "virtuoso",
    "x-sql-message": "virtuoso",
    "x-exec-milliseconds": "virtuoso",
    "x-exec-db-activity": "virtuoso",
    "x-sparql-": "virtuoso",
    "x-bigdata": "blazegraph",
}
# where data is no excuse: at the end of a result that broke off, in the frame of a good one, or in an error's own text
BROKEN: Mapping[bytes, Engine] = {
    b"SPARQL-QUERY: queryStr=": "blazegraph",
    b"!!!!>>#": "qlever",
    b"The SPARQL operation has been cancelled": "oxigraph",
}
FRAMES: tuple[tuple[re.Pattern[bytes], Engine], ...] = (
    (re.compile(rb'"link"\s*:\s*\[\s*\].{0,4000}?"distinct"\s*:\s*(?:true|false)', re.DOTALL), "virtuoso"),
    (re.compile(rb'<results distinct="(?:true|false)" ordered="(?:true|false)"'), "virtuoso"),
    (re.compile(rb'"meta"\s*:\s*\{[^{}]*"query-time-ms"'), "qlever"),
    (re.compile(rb'"metadata"\s*:\s*\{\s*"httpRequests"\s*:'), "comunica"),
)
ERRORS: tuple[tuple[re.Pattern[bytes], Engine], ...] = (
    (re.compile(rb"\bVirtuoso [0-9A-Z]{5} Error\b"), "virtuoso"),
    (re.compile(rb"\bcom\.bigdata\.[a-z]"), "blazegraph"),
    (re.compile(rb"\berror at \d+:\d+: expected\b"), "oxigraph"),
    (re.compile(rb"\bSPARQL query on the RDFLib Graph:"), "rdflib"),
    # its parsers draw an arrow under the query: SPARQL.js up to Comunica 4, Traqula (without the colon) from 5 on
    (re.compile(rb"\bParse error on line \d+:?\n[^\n]*\n-*\^\nExpecting\b"), "comunica"),
    (re.compile(rb"\burn:comunica:[a-z]"), "comunica"),
)


def detect(reply: EndpointReply) -> Engine | None:
    """The engine that the reply shows; None where it shows none."""
    return _by_headers(reply) or _by_body(reply)


def _by_headers(reply: EndpointReply) -> Engine | None:
    server = re.match(r"\w*", reply.headers.get("server", "").lower())
    engines = (engine for name in reply.headers for start, engine in HEADERS.items() if name.startswith(start))
    return SERVERS.get(server[0] if server else "") or MEDIA.get(reply.content_type) or next(engines, None)


def _by_body(reply: EndpointReply) -> Engine | None:
    start, end = reply.body[:READ], reply.body[-READ:]
    engine = next((engine for mark, engine in BROKEN.items() if mark in end), None)
    engine = engine or next((engine for frame, engine in FRAMES if frame.search(start) or frame.search(end)), None)
    return engine or _by_error(reply)


def _by_error(reply: EndpointReply) -> Engine | None:
    body = reply.body[:ERROR_BYTES]
    if b'"exception"' in body and _is_qlever_error(body):
        return "qlever"
    if reply.status < HTTPStatus.MULTIPLE_CHOICES and reply.content_type != "text/plain":
        return None
    return next((engine for text, engine in ERRORS if text.search(body)), None)


def _is_qlever_error(body: bytes) -> bool:
    """Whether this is the JSON in which QLever tells of an error, whatever its HTTP status."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"query", "exception"} <= value.keys() and value.get("status") == "ERROR"
