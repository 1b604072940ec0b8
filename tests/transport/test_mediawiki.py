"""Wikidata's search over its web API, played by a server on loopback: what is asked, accepted and refused."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from aiohttp import web

from fedkg.core.terms import Iri, Literal
from fedkg.errors import (
    EndpointError,
    InputError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.transport import mediawiki
from fedkg.transport.client import EndpointClient
from fedkg.transport.http import HttpTransport

Serve = Callable[..., Awaitable[Any]]
ENTITY = "http://www.wikidata.org/entity/"
CURIE = {
    "id": "Q7186",
    "title": "Q7186",
    "pageid": 8403,
    "concepturi": ENTITY + "Q7186",
    "label": "Marie Curie",
    "description": "Polish-French physicist and chemist (1867–1934)",
    "match": {"type": "alias", "language": "en", "text": "Maria Skłodowska"},
    "aliases": ["Maria Skłodowska"],
}
BARE = {"id": "Q1", "concepturi": ENTITY + "Q1", "match": {"type": "label", "language": "pl", "text": "Maria"}}


def accept(reply: EndpointReply) -> Rows:
    """The rows of a reply, for Wikidata's entities."""
    return mediawiki.accept(reply, endpoint="search", authorities=(ENTITY,))


def found(*entities: dict[str, Any]) -> bytes:
    """The API's reply with these entities."""
    return json.dumps({"searchinfo": {"search": "x"}, "search": entities, "search-continue": 7, "success": 1}).encode()


def reply(body: bytes, status: int = 200, wait: str = "") -> EndpointReply:
    """A reply in JSON that asks to wait so long."""
    return EndpointReply(status, {"content-type": "application/json", "retry-after": wait}, body)


def error(code: str, info: str = "Said so.") -> bytes:
    """The API's reply where something went wrong: with the status 200."""
    return json.dumps({"error": {"code": code, "info": info, "*": "See api.php"}, "servedby": "mw1"}).encode()


async def test_a_search_goes_out_as_a_form_and_comes_back_as_rows(serve: Serve) -> None:
    """Over real HTTP and behind the usual client: the fields as the API names them, the entities in its order."""
    server = await serve(lambda _: _json(found(CURIE, BARE)))
    transport = HttpTransport(server.url, headers=mediawiki.HEADERS, form=mediawiki.form, contact="me@ex.org")
    select = EndpointClient([transport], accept, endpoint="search", limits=mediawiki.LIMITS, detects=False)
    rows = await select.select(mediawiki.entity_search("Skłodowska & söns=\n", "pl", 99), "look-up")
    await select.close()
    (asked,) = server.asked
    assert (asked.method, asked.form) == (
        "POST",
        {
            "action": "wbsearchentities",
            "format": "json",
            "formatversion": "2",
            "type": "item",
            "language": "pl",
            "uselang": "pl",
            "limit": "50",
            "search": "Skłodowska & söns=\n",
        },
    )
    assert (asked.headers["accept"], "me@ex.org" in asked.headers["user-agent"]) == ("application/json", True)
    assert rows.rows == (
        {
            "e": Iri(ENTITY + "Q7186"),
            "l": Literal("Marie Curie"),
            "m": Literal("Maria Skłodowska"),
            "d": Literal("Polish-French physicist and chemist (1867–1934)"),
        },
        {"e": Iri(ENTITY + "Q1"), "l": Literal("Maria"), "m": Literal("Maria")},
    )
    assert select.meter.usage().by_kind == {"look-up": 1}


async def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


async def test_what_may_pass_is_asked_again(serve: Serve) -> None:
    """A lag of the databases is a refusal inside of a 200; the next try gets the rows."""
    bodies = [error("maxlag", "Waiting for db1: 6 seconds lagged."), found(CURIE)]
    server = await serve(lambda _: _json(bodies.pop(0)))
    transport = HttpTransport(server.url, form=mediawiki.form)
    select = EndpointClient([transport], accept, endpoint="search", limits=mediawiki.LIMITS, detects=False)
    assert len((await select.select(mediawiki.entity_search("x", "en", 5))).rows) == 1
    assert len(server.asked) == 2
    await select.close()


@pytest.mark.parametrize(
    ("answer", "kind", "wait"),
    [
        (reply(error("ratelimited"), wait="5"), RefusedError, 5.0),
        (reply(error("maxlag"), wait="soon"), RefusedError, 0.0),
        (reply(error("readonly")), RefusedError, 0.0),
        (reply(error("internal_api_error_DBQueryError")), RefusedError, 0.0),
        (reply(error("badvalue"), wait="5"), QueryRejectedError, 0.0),
        (reply(error("\x1b[31mno-such\nentity")), QueryRejectedError, 0.0),
        (reply(b"{}"), NotSparqlError, 0.0),
        (reply(b""), NotSparqlError, 0.0),
        (reply(b"\xff\xfe"), NotSparqlError, 0.0),
        (reply(b"[" * 100_000), NotSparqlError, 0.0),
        (reply(b'{"search": [{"id": 7}]}'), NotSparqlError, 0.0),
        (reply(b"<!DOCTYPE html><title>MediaWiki API help</title>"), NotSparqlError, 0.0),
        (reply(b"<title>Too Many Requests</title>", 429, wait="7"), RefusedError, 7.0),
        (reply(b"Please comply with the User-Agent policy", 403), RefusedError, 3600.0),
        (reply(b"", 502), UnreachableError, 0.0),
        (reply(found(CURIE), 206), TruncatedError, 0.0),
    ],
)
def test_what_is_no_result(answer: EndpointReply, kind: type[EndpointError], wait: float) -> None:
    """The API's own errors inside of a 200, what is no reply of the API, and what the hosts before it say."""
    with pytest.raises(EndpointError) as caught:
        accept(answer)
    assert (type(caught.value), caught.value.wait, caught.value.status) == (kind, wait, answer.status)
    assert caught.value.message.isprintable()
    assert "search" in caught.value.message


@pytest.mark.parametrize(
    "address",
    [
        "http://evil.example/entity/Q1",
        ENTITY + 'Q1"> } #',
        "",
        "javascript:alert(1)",
        "http://www.wikidata.org/entitY/Q1",
    ],
)
def test_only_the_graph_s_own_entities_are_taken(address: str) -> None:
    """An IRI that is none, or lies elsewhere, is left out; the others stay."""
    rows = accept(reply(found({**CURIE, "concepturi": address}, CURIE))).rows
    assert [row["e"] for row in rows] == [Iri(ENTITY + "Q7186")]


def test_an_entity_without_a_name_is_left_out() -> None:
    """There is nothing to compare with, or to show."""
    assert accept(reply(found({"id": "Q1", "concepturi": ENTITY + "Q1"}))).rows == ()
    assert accept(reply(found())).rows == ()


def test_a_text_that_is_too_long_is_not_asked() -> None:
    """The API would answer with an empty list, which would be taken for "nobody is called so"."""
    make = partial(mediawiki.entity_search, language="en", limit=5)
    assert mediawiki.form(make("x" * 250))["search"] == "x" * 250
    assert mediawiki.form(make("\ud800&limit=0"))["search"] == "?&limit=0"
    with pytest.raises(InputError, match="250"):
        make("x" * 251)
