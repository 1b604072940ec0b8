"""The acceptance test: a raw reply becomes rows, or an error that says what helps.

An HTTP status says little here. Engines answer 200 and then break off, write their stack trace into the body, cut the
rows at a cap, or send a web page; QLever says 429 where it means a timeout. So a reply counts only when everything
about it is right, and everything else is told apart by what the engine writes.
"""

import datetime as dt
import html
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus

import msgspec

from fedkg.core.terms import Term
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql import json_results, virtuoso_xml
from fedkg.sparql.detect import detect
from fedkg.sparql.pieces import TimeIsUpError
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.sparql.solutions import BadTermError, BrokenOffError, NoResultError, Solutions, TooMuchError

__all__ = ["accept"]

JSON_TYPES = {"application/sparql-results+json", "application/json"}
XML_TYPES = {"application/sparql-results+xml", "application/xml", "text/xml"}
PARTIAL_HEADERS = ("x-sql-state", "x-sparql-maxrows", "x-sparql-anytime")
ENGINE_TEXTS = (b"SPARQL-QUERY: queryStr=", b"!!!!>>#")
# the package alone may be data (it is a topic of its own), an exception of it is not
JAVA_PACKAGE = b"java.util.concurrent."
JAVA_ERROR = re.compile(rb"java\.util\.concurrent\.\w*(?:Exception|Error)")
CANCELLED = b"The SPARQL operation has been cancelled"

TOO_MUCH = re.compile(
    r"tried to allocate|out ?of ?memory|memory limit|GC overhead|StackOverflow|SR353|SP031|too many arguments"
    r"|estimated execution time|generated SQL text has exceeded",
    re.IGNORECASE,
)
TIMED_OUT = re.compile(
    r"timed[ -]out|TimeoutException|QueryInterrupted|S1T00|S1TAT|SR171|SR203|operation has been cancelled"
    r"|\b(?:anytime|query|request|execution|gateway) time-?out",
    re.IGNORECASE,
)
REJECTED = re.compile(
    r"syntax error|parse error|lexical error|MalformedQuery|invalid SPARQL|SP030|XM02[89]|FT370|SECURITY|no permission",
    re.IGNORECASE,
)
BANNED_UNTIL = re.compile(r"banned until (\d[^\s,;]*)", re.IGNORECASE)
BANNED = re.compile(r"\bbanned\b", re.IGNORECASE)
AGENT_POLICY = re.compile(r"user-agent policy", re.IGNORECASE)
OVERLOADED = re.compile(r"overload", re.IGNORECASE)

# an engine's own sentence about the query; what a server writes that is in trouble itself may pass
SENTENCE = re.compile(r"[A-Za-z]{2}\W++[A-Za-z]{2,}+\W++[A-Za-z]{2}")
TROUBLE = re.compile(
    r"internal (?:server )?error|unavailable|temporar|again|connect|socket|network|upstream|proxy|busy|too many"
    r"|start(?:ing|ed|up)|shut(?:ting)? ?down|closed|lock|checkpoint|transaction|disk|no space|i/o|unexpected"
    r"|unknown error|something went wrong|in progress|not ready|initiali[sz]",
    re.IGNORECASE,
)

REFUSING = {403, 429, 503}
"""Statuses of servers that turn clients away: elsewhere a word such as "banned" may be data."""
GATEWAY = {502, 504, 520, 521, 522, 523, 524}
TOO_LARGE = {408, 413, 414, 431}
NO_ENDPOINT = {404, 405, 406, 410, 415}
# a gateway that gave up after this many seconds waited for the query; one that answers sooner has lost its server
SLOW_GATEWAY = 20.0
HOUR, DAY, WEEK = 3600.0, 86_400.0, 604_800.0

SHOWN = 200
READ = 8192
LONG = 1 << 20
"""Characters in which an engine's message is looked for: it may come after a query of some hundred kilobytes."""
# from the start of a dotted name only: else a text of a million dots would be searched a million times
JAVA_LINE = re.compile(r"(?<![\w.])(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b[^\n]{0,8192}")
JAVA_PREFIX = re.compile(r"^(?:.*\s)?(?:[a-z]\w*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)")
QUERY_ECHO = re.compile(r"SPARQL[ -]QUERY:|\b(?:SELECT|ASK|PREFIX|CONSTRUCT|DESCRIBE|VALUES|INSERT|DELETE)\s|\bdefine ")
TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
INVISIBLE_HTML = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
USER_INFO = re.compile(r"//[^/\s@]*@")
URL_QUERY = re.compile(r"(?<=[\w/])\?[\w.~%-]+=[^\s<>\"']*")


class _Message(msgspec.Struct):
    """Where engines write what is wrong; nothing is made of the rest."""

    exception: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()
    detail: msgspec.Raw = msgspec.Raw()


def accept(reply: EndpointReply, *, endpoint: str, known_cap: int = 0, limit: int = 0) -> Rows:
    """The rows of a reply that is beyond doubt; `endpoint` is the name that errors show.

    `known_cap` is the row count at which the endpoint cuts silently, `limit` the LIMIT that its queries carry; a reply
    that reaches one of them may lack rows (0: none). Raises the EndpointError whose `action` says what helps.
    """
    if reply.status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        raise _failure(reply, endpoint)
    _refuse_engine_text(reply, endpoint)
    _refuse_partial(reply, endpoint)
    rows = tuple(_rows(reply, endpoint))
    cap = min((bound for bound in (known_cap, limit) if bound > 0), default=0)
    if 0 < cap <= len(rows):
        raise _error(TruncatedError, reply, endpoint, f"{len(rows)} rows, as many as it gives at most ({cap})")
    return Rows(rows, len(reply.body), reply.content_type, reply.seconds)


# ---- a reply that says 200 ----


def _refuse_engine_text(reply: EndpointReply, endpoint: str) -> None:
    """An engine that fails while it is sending writes its error into the body, even inside of a literal."""
    body = reply.body
    places = [place for mark in ENGINE_TEXTS if (place := body.find(mark)) >= 0]
    if JAVA_PACKAGE in body and (match := JAVA_ERROR.search(body)):
        places.append(match.start())
    if not places:
        return
    text = _without_query(_decode(body[min(places) :][:LONG]))
    kind = _by_text(text) or TruncatedError
    raise _error(kind, reply, endpoint, f"broke off in the middle: {text[:SHOWN]}")


def _refuse_partial(reply: EndpointReply, endpoint: str) -> None:
    marks = [f"{name}: {_clean(reply.headers[name])[:80]}" for name in PARTIAL_HEADERS if name in reply.headers]
    if reply.status == HTTPStatus.PARTIAL_CONTENT or marks:
        raise _error(TruncatedError, reply, endpoint, f"incomplete results ({'; '.join(marks) or 'status 206'})")


def _reader(content_type: str) -> Callable[[bytes, Solutions], bool]:
    """What reads such a body."""
    if content_type in JSON_TYPES:
        return json_results.read
    return _read_xml


def _read_xml(body: bytes, solutions: Solutions) -> bool:
    if virtuoso_xml.read(body, solutions):
        return True
    from fedkg.sparql import xml  # noqa: PLC0415  # few endpoints send any other

    return xml.read(body, solutions)


def _rows(reply: EndpointReply, endpoint: str) -> list[Mapping[str, Term]]:
    if reply.content_type not in JSON_TYPES | XML_TYPES:
        kind = _clean(reply.content_type)[:80] or "no content type"
        raise _unusable(reply, endpoint, f"{kind} instead of SPARQL JSON")
    solutions, read = Solutions(reply.most), _reader(reply.content_type)
    try:
        has_results = read(reply.body, solutions)
    except BrokenOffError as error:
        raise _unreadable(reply, endpoint) from error
    except NoResultError as error:
        raise _unusable(reply, endpoint, f"{_format(reply)} that is no result ({_clean(str(error))[:120]})") from error
    except BadTermError as error:
        message = f"{endpoint} sent {_clean(str(error))[:200]}"
        raise NotSparqlError(message, endpoint=endpoint, status=reply.status) from None
    except TooMuchError as error:
        raise _error(TruncatedError, reply, endpoint, str(error)) from None
    except TimeIsUpError:
        message = f"{endpoint}: the time was up while its reply was read ({len(reply.body):,} bytes)"
        raise EndpointTimeoutError(message, endpoint=endpoint) from None
    if not has_results:
        raise _unusable(reply, endpoint, f"{_format(reply)} without results")
    return solutions.rows


def _unreadable(reply: EndpointReply, endpoint: str) -> EndpointError:
    """The error of a body that is not whole, or not well formed."""
    start, end = reply.body[:READ].lstrip(), reply.body[-READ:]
    if CANCELLED in end:
        return _error(EndpointTimeoutError, reply, endpoint, CANCELLED.decode())
    if (start.startswith(b"{") and (b'"head"' in start or b'"results"' in start)) or b"<sparql" in start:
        return _error(TruncatedError, reply, endpoint, f"a result that breaks off ({len(reply.body)} bytes)")
    return _unusable(reply, endpoint, f"no {_format(reply)}" if start else "an empty body")


def _unusable(reply: EndpointReply, endpoint: str, reason: str) -> EndpointError:
    """The error of a body that holds no result; where it is an engine's own text, that text may say why."""
    text = _engine_message(reply)
    kind = NotSparqlError if _is_page(reply) else _by_text(text) or NotSparqlError
    return _error(kind, reply, endpoint, f"{reason}{': ' if text else ''}{text[:SHOWN]}")


def _format(reply: EndpointReply) -> str:
    return "XML" if reply.content_type in XML_TYPES else "JSON"


# ---- a reply that says otherwise ----


def _failure(reply: EndpointReply, endpoint: str) -> EndpointError:
    text = _engine_message(reply)
    kind = _kind(reply, text)
    wait = _wait(reply, text) if kind is RefusedError else 0.0
    hint = "does the endpoint need a user name and a password?" if reply.status in (401, 403, 407) else ""
    return _error(kind, reply, endpoint, text[:SHOWN] or _location(reply), wait=wait, hint=hint)


def _kind(reply: EndpointReply, text: str) -> type[EndpointError]:
    if reply.status in GATEWAY:
        return EndpointTimeoutError if reply.seconds >= SLOW_GATEWAY else UnreachableError
    # QLever's 429 is a timeout, and it names no time to wait
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS and "retry-after" in reply.headers:
        return RefusedError
    by_text = None if _is_page(reply) else _by_text(text)
    if by_text:
        return by_text
    return RefusedError if _refuses(reply, text) else _by_status(reply, text)


def _by_status(reply: EndpointReply, text: str) -> type[EndpointError]:
    status = reply.status
    if status in TOO_LARGE:
        return EndpointTimeoutError
    if status < HTTPStatus.BAD_REQUEST or status in NO_ENDPOINT:
        return NotSparqlError
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return QueryRejectedError
    if status == HTTPStatus.INTERNAL_SERVER_ERROR and _blames_query(reply, text):
        return QueryRejectedError
    # QLever answers 500 in JSON when the query itself was too much for it
    return EndpointTimeoutError if reply.content_type == "application/json" else UnreachableError


def _blames_query(reply: EndpointReply, text: str) -> bool:
    """Whether an engine tells what it could not evaluate: the same query would fail again."""
    if _is_page(reply) or detect(reply) == "qlever":
        return False
    return bool(SENTENCE.search(text)) and not TROUBLE.search(text)


def _by_text(text: str) -> type[EndpointError] | None:
    """The class that an engine's own words ask for; None where they say nothing known."""
    if TOO_MUCH.search(text):
        return EndpointTimeoutError
    if REJECTED.search(text):
        return QueryRejectedError
    return EndpointTimeoutError if TIMED_OUT.search(text) else None


def _refuses(reply: EndpointReply, text: str) -> bool:
    if reply.status not in REFUSING:
        return False
    if reply.status == HTTPStatus.TOO_MANY_REQUESTS or BANNED.search(text) or AGENT_POLICY.search(text):
        return True
    busy = "retry-after" in reply.headers or OVERLOADED.search(text)
    return reply.status == HTTPStatus.SERVICE_UNAVAILABLE and bool(busy)


def _wait(reply: EndpointReply, text: str) -> float:
    """The seconds that the endpoint asked to wait, at most a week."""
    # instants of an endpoint are those of its own clock: this machine's may be wrong, or jump
    now = _date(reply.headers.get("date", "")) or dt.datetime.now(dt.UTC)
    asked = _seconds(reply.headers.get("retry-after", ""), now)
    if until := BANNED_UNTIL.search(text):
        asked = max(asked, _until(until[1].rstrip("."), now))
    if not asked and (BANNED.search(text) or AGENT_POLICY.search(text)):
        asked = DAY if BANNED.search(text) else HOUR
    return min(max(asked, 0.0), WEEK)


def _seconds(text: str, now: dt.datetime) -> float:
    """Retry-After (RFC 9110, 10.2.3): a number of seconds or an HTTP date; 0.0 where it is neither."""
    text = text.strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    instant = _date(text)
    return _between(now, instant) if instant else 0.0


def _date(text: str) -> dt.datetime | None:
    """The instant that an HTTP date stands for; None where it is none."""
    import email.utils  # noqa: PLC0415  # few endpoints send one

    try:
        return _in_utc(email.utils.parsedate_to_datetime(text))
    except (ValueError, TypeError, OverflowError):
        return None


def _until(instant: str, now: dt.datetime) -> float:
    try:
        return _between(now, _in_utc(dt.datetime.fromisoformat(instant)))
    except (ValueError, OverflowError):
        return DAY


def _in_utc(instant: dt.datetime) -> dt.datetime:
    return instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)


def _between(now: dt.datetime, instant: dt.datetime) -> float:
    return (instant - now).total_seconds()


# ---- which engine it is ----


def _error(
    kind: type[EndpointError], reply: EndpointReply, endpoint: str, reason: str, *, wait: float = 0.0, hint: str = ""
) -> EndpointError:
    message = f"{endpoint} answered {reply.status}{': ' if reason else ''}{reason}"
    return kind(message, endpoint=endpoint, status=reply.status, wait=wait, hint=hint)


def _engine_message(reply: EndpointReply) -> str:
    """The engine's message on one line, without markup, control characters and the echo of the query."""
    if _is_page(reply):
        text = _decode(reply.body[:READ])
        title = TITLE.search(text)
        return _clean(html.unescape(title[1] if title and title[1].strip() else INVISIBLE_HTML.sub(" ", text)))
    return _without_query(_json_message(reply.body)[:LONG] or _decode(reply.body[:LONG]))


def _is_page(reply: EndpointReply) -> bool:
    return "html" in reply.content_type or reply.body[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _json_message(body: bytes) -> str:
    if not body[:200].lstrip().startswith(b"{"):
        return ""
    try:
        found = msgspec.json.decode(body, type=_Message)
        parts = map(bytes, msgspec.structs.astuple(found))
        texts = [msgspec.json.decode(part) for part in parts if part.startswith(b'"')]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return ""
    return next(filter(None, texts), "")


def _without_query(text: str) -> str:
    """The text without the query that engines like to repeat; of a Java stack trace its innermost exception."""
    if java := JAVA_LINE.search(text):
        text = JAVA_PREFIX.sub("", java.group())
    text = text.removeprefix("!!!!>>#")
    if echo := QUERY_ECHO.search(text):
        text = text[: echo.start()]
    return _clean(text[:READ])


def _clean(text: str) -> str:
    """The text on one line, printable, without what URLs carry: user names, passwords, keys."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return URL_QUERY.sub("?…", USER_INFO.sub("//", " ".join(printable.split())))


def _location(reply: EndpointReply) -> str:
    target = reply.headers.get("location", "")
    if target and HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        return f"moved to {_clean(target.split('?')[0])[:SHOWN]}; use that URL if you trust it"
    return ""


def _decode(body: bytes) -> str:
    return body.decode("utf-8", "replace")
