import datetime as dt
import json
import sys
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fedkg.core.terms import Blank, Iri, Literal, Term
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql.detect import detect
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.sparql.results import accept

JSON = "application/sparql-results+json"
XSD = "http://www.w3.org/2001/XMLSchema#"


def document(*bindings: dict[str, Any]) -> bytes:
    """A SELECT result with these bindings."""
    return json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": bindings}}).encode()


def reply(body: bytes, status: int = 200, kind: str = JSON, seconds: float = 0.0, **headers: str) -> EndpointReply:
    """A reply with that body; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return EndpointReply(status, {"content-type": kind, **named}, body, seconds)


def rows_of(body: bytes, known_cap: int = 0, limit: int = 0) -> Rows:
    """What accept makes of a body."""
    return accept(reply(body), endpoint="e", known_cap=known_cap, limit=limit)


def term_of(**binding: Any) -> Term:
    """The term that one binding becomes."""
    return rows_of(document({"x": binding})).rows[0]["x"]


def raw(text: str) -> bytes:
    """A SELECT result with one literal, its text written into the JSON as it is."""
    return b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "literal", "value": "%s"}}]}}' % (
        text.encode("utf-8", "surrogateescape")
    )


@pytest.mark.parametrize(
    ("binding", "term"),
    [
        ({"type": "uri", "value": "http://a/b"}, Iri("http://a/b")),
        ({"type": "uri", "value": 'http://a/"b"'}, Iri('http://a/"b"')),
        ({"type": "literal", "value": "x"}, Literal("x")),
        ({"type": "literal", "value": "x", "datatype": XSD + "string"}, Literal("x")),
        ({"type": "literal", "value": "x", "xml:lang": "EN-gb"}, Literal("x", language="en-gb")),
        ({"type": "literal", "value": "1", "datatype": XSD + "int"}, Literal("1", XSD + "int")),
        ({"type": "typed-literal", "value": "1", "datatype": XSD + "int"}, Literal("1", XSD + "int")),
        ({"type": "literal", "value": "x", "datatype": None, "xml:lang": None}, Literal("x")),
        ({"type": "literal", "value": "", "extra": [1]}, Literal("")),
        ({"type": "bnode", "value": "b0"}, Blank("b0")),
        ({"type": "bnode", "value": "nodeID://b12"}, Blank("nodeID://b12")),
    ],
)
def test_each_kind_of_binding_is_its_term(binding: dict[str, Any], term: Term) -> None:
    """IRIs, literals of all spellings and blank nodes become terms; xsd:string is plain, languages are lower case."""
    parsed = term_of(**binding)
    assert parsed == term
    assert type(parsed) is type(term)


def test_rows_keep_order_and_unbound_variables_are_absent() -> None:
    """Rows come in the order of the reply, each with the variables that are bound in it."""
    two = {"type": "literal", "value": "2"}
    rows = rows_of(document({"x": two, "y": two}, {}, {"y": two})).rows
    assert [sorted(row) for row in rows] == [["x", "y"], [], ["y"]]


def test_plain_json_type_with_parameters_is_accepted() -> None:
    """application/json counts too, in any case and with a charset."""
    good = reply(document(), kind="Application/JSON; charset=utf-8")
    assert accept(good, endpoint="e").rows == ()


@pytest.mark.parametrize(
    "binding",
    [
        {"value": "x"},
        {"type": "uri"},
        {"type": "uri", "value": ""},
        {"type": "bnode", "value": ""},
        {"type": "uri", "value": 5},
        {"type": "uri", "value": None},
        {"type": "triple", "value": {}},
        {"type": "nonsense\n", "value": "x"},
        "x",
        None,
    ],
)
def test_malformed_bindings_are_refused(binding: Any) -> None:
    """A binding that is no term spoils the reply, with a message of one line."""
    with pytest.raises(NotSparqlError) as caught:
        rows_of(document({"x": binding}))
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("name", ["", "l" + "9" * 5_000, "x y", "x\n"])
def test_a_name_that_no_variable_has_is_refused(name: str) -> None:
    """Whoever reads rows relies on short names: their numbers become integers."""
    with pytest.raises(NotSparqlError) as caught:
        rows_of(document({name: {"type": "literal", "value": "x"}}))
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a\x01b\tc", "a\x01b\tc"),
        (r"\U0001B000!", "\U0001b000!"),
        (r"\U00000022\U0000000A", '"\n'),
        (r"\\U0001B000", r"\U0001B000"),
        (r"\UFFFFFFFF\U0000D800", "\ufffd\ufffd"),
        (r"\ud83d\ude00" + "\x01", "😀\x01"),
        (r"\ud83d.", "\ufffd."),
        ("\udcff.", "\ufffd."),
    ],
)
def test_what_engines_write_wrongly_is_repaired(text: str, value: str) -> None:
    """Raw control characters, eight-digit escapes, lone surrogates and broken UTF-8 do not cost the reply."""
    (row,) = rows_of(raw(text)).rows
    assert row["x"] == Literal(value)


def test_a_byte_order_mark_is_skipped() -> None:
    """Some servers begin their JSON with one."""
    assert rows_of(b"\xef\xbb\xbf" + document()).rows == ()


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b"NaN",
        b'{"head": {}, "results": {"bindings": {}}}',
        b'{"results": {"bindings": []}}',
        b'{"head": {}, "results": {}}',
        b'{"head": {"link": []}, "boolean": false}',
        b" \n ",
        b"[" * 100_000,
    ],
)
def test_other_json_is_refused(body: bytes) -> None:
    """Only head with results.bindings has rows: a yes or no, as to ASK, must not pass for "the graph says none"."""
    with pytest.raises(NotSparqlError):
        rows_of(body)


@pytest.mark.parametrize("tail", [b" x", b"{}", b'"', b"<html>"])
def test_what_follows_a_whole_result_spoils_it(tail: bytes) -> None:
    """The body is one JSON value; anything behind it means that something went wrong while it was sent."""
    with pytest.raises(TruncatedError):
        rows_of(document() + tail)


@pytest.mark.parametrize(
    ("known_cap", "limit", "cut"), [(3, 0, False), (2, 0, True), (1, 9, True), (9, 2, True), (0, 0, False)]
)
def test_as_many_rows_as_the_cap_may_be_too_few(known_cap: int, limit: int, cut: bool) -> None:
    """A reply that reaches the known cap or the LIMIT counts as cut."""
    body = document({}, {})
    if not cut:
        assert len(rows_of(body, known_cap, limit).rows) == 2
        return
    with pytest.raises(TruncatedError, match="2 rows"):
        rows_of(body, known_cap, limit)


def test_a_topic_called_like_a_java_package_is_data() -> None:
    """An engine's exception is told from a text that merely speaks of Java."""
    assert term_of(type="literal", value="java.util.concurrent.atomic") == Literal("java.util.concurrent.atomic")
    with pytest.raises(TruncatedError):
        term_of(type="literal", value="java.util.concurrent.CancellationException")


@pytest.mark.parametrize("status", [502, 504, 524])
def test_a_gateway_that_waited_long_cut_the_query_off(status: int) -> None:
    """A gateway's error at once means that its server is gone; after a long wait it means that the query was slow."""
    with pytest.raises(UnreachableError):
        accept(reply(b"", status, "text/html", seconds=0.1), endpoint="e")
    with pytest.raises(EndpointTimeoutError):
        accept(reply(b"", status, "text/html", seconds=61), endpoint="e")


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("2.5", 2.5),
        ("-5", 0),
        ("1e999", 0),
        ("nan", 0),
        ("999999999", 604_800),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 9999 07:28:00 -2359", 604_800),
        ("", 0),
    ],
)
def test_retry_after_is_read_with_care(header: str, wait: float) -> None:
    """Seconds or a date; what is neither says nothing, the past is now, and nothing lasts longer than a week."""
    with pytest.raises(RefusedError) as caught:
        accept(reply(b"", 429, retry_after=header), endpoint="e")
    assert caught.value.wait == wait


@pytest.mark.parametrize("suffix", ["Z", "+00:00", "", ".123456789Z"])
def test_a_ban_names_its_end(suffix: str) -> None:
    """The instant of a ban is read in all spellings that Java writes."""
    before = dt.datetime.now(dt.UTC)
    end = before.replace(microsecond=0) + dt.timedelta(minutes=10)
    written = end.replace(tzinfo=None).isoformat()
    with pytest.raises(RefusedError) as caught:
        accept(reply(f"You have been banned until {written}{suffix}, please".encode(), 403, "text/plain"), endpoint="e")
    passed = (dt.datetime.now(dt.UTC) - before).total_seconds()
    assert 599 - passed <= caught.value.wait <= 601


def test_a_ban_until_nonsense_lasts_a_day() -> None:
    """An instant that cannot be read still is a ban."""
    with pytest.raises(RefusedError) as caught:
        accept(reply(b"banned until 2026-99-99", 403, "text/plain"), endpoint="e")
    assert caught.value.wait == 86_400


def test_passwords_in_urls_are_not_repeated() -> None:
    """Whatever an endpoint echoes, user names and passwords in URLs do not get into the message."""
    with pytest.raises(NotSparqlError) as caught:
        accept(reply(b"cannot find http://me:hunter2@host/x", 404, "text/plain"), endpoint="e")
    assert caught.value.message == "e answered 404: cannot find http://host/x"


def test_keys_in_urls_are_not_repeated() -> None:
    """Servers name the path that they do not know, with all that was sent to it."""
    with pytest.raises(NotSparqlError) as caught:
        accept(reply(b"The requested URL /sparql?key=hunter2&x=1 was not found", 404, "text/plain"), endpoint="e")
    assert caught.value.message == "e answered 404: The requested URL /sparql?\u2026 was not found"


@pytest.mark.parametrize(
    ("status", "error"), [(400, QueryRejectedError), (404, NotSparqlError), (500, QueryRejectedError)]
)
def test_a_word_in_the_data_is_no_ban(status: int, error: type[EndpointError]) -> None:
    """Only who turns clients away bans them; elsewhere the word belongs to what was asked for."""
    with pytest.raises(error) as caught:
        accept(
            reply(b"cannot resolve <http://x/Banned>, see the User-Agent policy", status, "text/plain"), endpoint="e"
        )
    assert caught.value.wait == 0


@pytest.mark.parametrize(
    "body", [b"your queries timed out too often", b"memory limit of the queue", b"syntax error, again"]
)
def test_a_429_with_a_time_to_wait_is_a_throttle(body: bytes) -> None:
    """Whatever words come with it: asking for less at once would be asking more often."""
    with pytest.raises(RefusedError) as caught:
        accept(reply(body, 429, "text/plain", retry_after="7"), endpoint="e")
    assert caught.value.wait == 7


def test_an_error_after_a_long_query_is_found() -> None:
    """Blazegraph repeats the whole query before it says what went wrong."""
    echo = b"SPARQL-QUERY: queryStr=SELECT * WHERE { VALUES ?e {" + b" <http://x/e>" * 20_000 + b"} }\n"
    body = echo + b"java.util.concurrent.TimeoutException: Query deadline is expired.\n"
    for whole in (reply(body, 500, "text/plain"), reply(document({})[:-2] + body)):
        with pytest.raises(EndpointTimeoutError, match="TimeoutException: Query deadline"):
            accept(whole, endpoint="e")


@pytest.mark.parametrize(
    "text", [b"a", b"a.", b"a.B", b"//", b"java.util.concurrent.", b"<script", b"?a=", b"\\u", b'"link":[]']
)
@pytest.mark.parametrize("status", [200, 500])
def test_no_text_keeps_the_reader_busy(text: bytes, status: int, *, every_case: bool) -> None:
    """Very many hostile characters are read in one go: an expression that starts over at each would take minutes.

    They are 50,000, and a million with `--all`.
    """
    body = text * ((1_000_000 if every_case else 50_000) // len(text))
    for whole in (body, b"!!!!>>#" + body, b"<html>" + body, b'{"head": ' + body):
        assert error_of(reply(whole, status))
        detect(reply(whole, status))


def test_ten_thousand_rows_take_few_steps() -> None:
    """Parsing stays far below the time that the network takes: a handful of calls a row, and a dozen in C."""
    row = {"s": {"type": "uri", "value": "http://a/b"}, "o": {"type": "literal", "value": "abc", "xml:lang": "en"}}
    body = document(*[row] * 9_999, {"x": {"type": "literal", "value": "last"}})
    calls: Counter[str] = Counter()
    sys.setprofile(lambda _frame, event, _argument: calls.update([event]))
    try:
        rows = rows_of(body).rows
    finally:
        sys.setprofile(None)
    assert len(rows) == 10_000
    assert calls["call"] < 5 * 10_000, calls
    assert calls["c_call"] < 12 * 10_000, calls


def error_of(whole: EndpointReply) -> EndpointError | None:
    """The EndpointError that a reply becomes; None where it is accepted."""
    try:
        accept(whole, endpoint="e")
    except EndpointError as error:
        return error
    return None


VALUES = st.text(max_size=20)
BINDING = st.fixed_dictionaries(
    {"type": st.sampled_from(["uri", "literal", "typed-literal", "bnode"]), "value": VALUES.filter(bool)},
    optional={"xml:lang": st.sampled_from(["en", "DE-at"]), "datatype": st.just(XSD + "int")},
)


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), BINDING), max_size=5))
def test_every_well_formed_result_is_accepted(bindings: list[dict[str, Any]]) -> None:
    """Whatever stands in the terms, as many rows come out as are in the reply, with the same variables."""
    assume(not any(mark in document(*bindings) for mark in (b"!!!!>>#", b"SPARQL-QUERY: queryStr=")))
    rows = rows_of(document(*bindings)).rows
    assert [set(row) for row in rows] == [set(row) for row in bindings]
    assert all(msgspec.json.encode([term.text for term in row.values()]) for row in rows)


@given(
    st.binary(max_size=200) | st.binary(max_size=80).map(lambda tail: document({}) + tail),
    st.sampled_from([200, 206, 100, 302, 400, 403, 404, 429, 500, 502, 503, 599, 999]),
    st.sampled_from([JSON, "application/json", "text/html", "text/plain", "application/xml", ""]),
    st.text(max_size=30),
)
def test_no_bytes_crash_it(body: bytes, status: int, kind: str, header: str) -> None:
    """Any bytes under any status are rows or an EndpointError of one printable line."""
    error = error_of(reply(body, status, kind, retry_after=header, location=header))
    if error:
        assert error.message.isprintable()
        assert len(error.message) < 600
        assert 0 <= error.wait <= 604_800


@given(st.integers(0, 400), st.binary(min_size=1, max_size=6))
def test_no_damage_to_a_good_reply_crashes_it(place: int, damage: bytes) -> None:
    """A good reply with some bytes overwritten is rows or an EndpointError."""
    body = bytearray(document(*[{"x": {"type": "literal", "value": "abc"}, "y": {"type": "uri", "value": "a:b"}}] * 3))
    body[place : place + len(damage)] = damage
    error = error_of(reply(bytes(body)))
    assert error is None or error.message.isprintable()
