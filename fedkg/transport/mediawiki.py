"""Wikidata's search of entities over its web API (`wbsearchentities`): a request's text and its accepted rows.

The request goes out and comes back like a query, over HTTP and behind the same client. The API answers 200 whatever
happens and says in the body what went wrong.
"""

import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus

import msgspec

from fedkg.config.profiles import Limits
from fedkg.core.terms import Iri, Literal, Term
from fedkg.errors import EndpointError, InputError, NotSparqlError, QueryRejectedError, RefusedError
from fedkg.sparql import results
from fedkg.sparql.reply import EndpointReply, Rows

__all__ = ["HEADERS", "LIMITS", "accept", "entity_search", "form"]

LIMITS = Limits(concurrency=2, interval=0.2, timeout=15.0, retries=1, max_bytes=1_000_000, patience=30.0)
"""Wikimedia asks for no more than three requests at once; a search that takes long is not worth waiting for."""
HEADERS = {"Accept": "application/json"}
LONGEST = 250
"""Characters of a text: for a longer one the API gives an empty list and no error."""
MOST = 50
"""Most entities that it gives at once."""
LATER = ("ratelimited", "maxlag", "readonly", "internal_api_error")
"""What the codes of errors begin with that may pass."""
SHOWN = 200
WAIT = re.compile(r"[0-9]{1,5}")


class _Text(msgspec.Struct, frozen=True):
    text: str = ""


class _Entity(msgspec.Struct):
    id: str
    concepturi: str
    label: str = ""
    description: str = ""
    match: _Text = _Text()


class _Error(msgspec.Struct):
    code: str = ""
    info: str = ""


class _SearchDocument(msgspec.Struct):
    search: list[_Entity] | None = None
    error: _Error | None = None


def entity_search(text: str, language: str, limit: int) -> str:
    """The request for items that are called like the text. Raises InputError for a text that is too long."""
    if len(text) > LONGEST:
        raise InputError(f"the search takes no more than {LONGEST} characters")
    fields = {
        "action": "wbsearchentities",
        "format": "json",
        "formatversion": "2",
        "type": "item",
        "language": language,
        "uselang": language,
        "limit": str(min(limit, MOST)),
        "search": text,
    }
    return urllib.parse.urlencode(fields, errors="replace")


def form(query: str) -> dict[str, str]:
    """The fields that a request's text stands for."""
    return dict(urllib.parse.parse_qsl(query, keep_blank_values=True))


def accept(reply: EndpointReply, *, endpoint: str, authorities: Sequence[str]) -> Rows:
    """The entities in the API's order: rows (e, l, m, d), m the name that matched; `endpoint` is the name in errors.

    Entities under none of the `authorities`, which are prefixes of IRIs, are left out: what is no entity of the graph
    leads nowhere in it. Raises RefusedError for what may pass, QueryRejectedError for another error of the API, and the
    EndpointError that a SPARQL endpoint's reply would raise with that status.
    """
    if reply.status != HTTPStatus.OK:
        return results.accept(reply, endpoint=endpoint)
    document = _document(reply, endpoint)
    if document.error is not None:
        raise _failure(document.error, reply, endpoint)
    rows = tuple(_rows(document.search or (), tuple(authorities)))
    return Rows(rows=rows, bytes=len(reply.body), format=reply.content_type)


def _document(reply: EndpointReply, endpoint: str) -> _SearchDocument:
    try:
        document = msgspec.json.decode(reply.body, type=_SearchDocument)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        document = _SearchDocument()
    if document.search is None and document.error is None:
        raise NotSparqlError(
            f"{endpoint} sent no result of its search",
            endpoint=endpoint,
            status=reply.status,
            hint="is the profile's lookup.url the address of an api.php?",
        )
    return document


def _failure(error: _Error, reply: EndpointReply, endpoint: str) -> EndpointError:
    passes = error.code.startswith(LATER)
    message = "".join(char if char.isprintable() else " " for char in f"{error.code}: {error.info}")[:SHOWN]
    wait = reply.headers.get("retry-after", "")
    return (RefusedError if passes else QueryRejectedError)(
        f"{endpoint}: {message}",
        endpoint=endpoint,
        status=reply.status,
        wait=float(wait) if passes and WAIT.fullmatch(wait) else 0.0,
    )


def _rows(entities: Sequence[_Entity], authorities: tuple[str, ...]) -> Iterator[Mapping[str, Term]]:
    for result in entities:
        entity, name = Iri(result.concepturi), result.match.text or result.label
        if entity.queryable and result.concepturi.startswith(authorities) and name:
            row: dict[str, Term] = {"e": entity, "l": Literal(result.label or name), "m": Literal(name)}
            yield row | ({"d": Literal(result.description)} if result.description else {})
