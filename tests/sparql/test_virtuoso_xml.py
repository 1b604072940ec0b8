"""Virtuoso's XML gives the rows of its JSON, to the letter; whatever is not written by it is left to the XML parser."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedkg.core import deadline
from fedkg.core.terms import Literal
from fedkg.sparql import virtuoso_xml
from fedkg.sparql.pieces import LARGEST, TimeIsUpError
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.sparql.solutions import LONGEST, VARIABLES, Solutions, TooMuchError
from fedkg.transport.http import HttpTransport
from tests.support.written_results import END, XML_LITERAL, Term, in_json, in_virtuoso_xml

BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"
LITERALS = [
    '"two\\r\\nlines\\rand\\none"',
    '"control \\u0001\\u001B\\u007F\\u0085"@de',
    '"<b>&amp; \\"q\\" \'a\' ]]>"',
    '"\\U0001B000 \\u00e9 \\u732b"@en-GB',
    '""',
    '"  around  "',
    f'"<b>x</b> &amp; y"^^<{XML_LITERAL}>',
    '"1906-12-09"^^<http://www.w3.org/2001/XMLSchema#date>',
    '"1.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
    '"1.5E3"^^<http://www.w3.org/2001/XMLSchema#double>',
    '"plain"^^<http://www.w3.org/2001/XMLSchema#string>',
    '"typed"^^<http://x/type?a=1&b=2>',
    "<http://x/?a=1&b='2'>",
    "_:nobody",
]

TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("<>&\"'\n\r\t]\x01")), max_size=20)
SOME = TEXTS.filter(bool)
TERMS: st.SearchStrategy[Term] = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["uri", "bnode"]), "value": SOME}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS, "xml:lang": st.sampled_from(["en", "de-at"])}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS, "datatype": st.just("http://x/t?a=1&b=2")}),
)
ROWS = st.lists(st.dictionaries(st.sampled_from("spocmwqv"), TERMS, max_size=4), max_size=5)


def read(body: bytes, most: int = 0) -> list[Mapping[str, object]] | None:
    """The rows, or None where the body is left to the parser."""
    solutions = Solutions(most)
    done = virtuoso_xml.read(body, solutions)
    assert done or not solutions.rows
    return [*solutions.rows] if done else None


ROW: dict[str, Term] = {"s": {"type": "uri", "value": "http://x/a"}, "o": {"type": "literal", "value": "1"}}
GOOD = in_virtuoso_xml([ROW, ROW])


@given(ROWS)
@example([{"o": {"type": "literal", "value": "\r\n\x00\x1f&#1;"}}])
@example([{"o": {"type": "literal", "value": "<b>&amp;</b>", "datatype": XML_LITERAL}}])
@example([{"o": {"type": "literal", "value": "x" * 2_000}}])
@example([{"o": {"type": "literal", "value": "x<" * 2_000}}])
@example([{"o": {"type": "literal", "value": "'\x1f" * 600}}])
def test_rows_are_those_of_json(rows: list[dict[str, Term]]) -> None:
    """Whatever a term holds, it is read as from JSON."""
    body = in_json(rows)
    reply = EndpointReply(200, {"content-type": "application/json"}, body)
    if not any(mark in body for mark in (b"!!!!>>#", b"SPARQL-QUERY: queryStr=")):
        assert read(in_virtuoso_xml(rows)) == list(accept(reply, endpoint="e").rows)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        GOOD + b"\n<html>",
        GOOD[:-10],
        GOOD.replace(b"  </result>\n", b"", 1),
        GOOD.replace(b"ordered", b"sorted"),
        GOOD.replace(b"<results", b"<link/><results"),
        GOOD.replace(b'"o"', b'"s"'),
        GOOD.replace(b"literal", b"triple"),
        GOOD.replace(b">1<", b">&eacute;<"),
        GOOD.replace(b">1<", b">&<"),
        GOOD.replace(b">1<", b">&#55296;<"),
        GOOD.replace(b">1<", b">&#1114112;<"),
        GOOD.replace(b">1<", b">\xff<"),
        GOOD.replace(b">1<", b"><b>1</b><"),
        GOOD.replace(b">1<", b"><![CDATA[</binding>\n  </result>\n]]><"),
        GOOD.replace(b">1<", b">" + b"x" * LARGEST + b"<"),
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e "x">]>\n' + GOOD,
        in_virtuoso_xml([{f"x{number}": ROW["o"] for number in range(VARIABLES + 1)}]),
    ],
)
def test_anything_else_is_left_to_the_parser(body: bytes) -> None:
    """One character that Virtuoso does not write, before, between or after the rows, and not a row is kept."""
    assert read(GOOD) == [{"s": accepted(GOOD)["s"], "o": Literal("1")}] * 2
    assert read(body) is None


def accepted(body: bytes) -> dict[str, object]:
    """The first row by the acceptance test."""
    return {**accept(EndpointReply(200, {"content-type": "text/xml"}, body), endpoint="e").rows[0]}


def test_bounds_hold() -> None:
    """More rows than were asked for, or a deadline that has passed, end the reading."""
    assert read(GOOD, 2)
    with pytest.raises(TooMuchError):
        read(GOOD, 1)
    with deadline.within(0), pytest.raises(TimeIsUpError):
        read(GOOD)


def test_time_is_looked_at_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows of megabytes take as long as thousands."""
    looks = iter([True, False])
    monkeypatch.setattr(deadline, "left", lambda: next(looks))
    monkeypatch.setattr(virtuoso_xml, "BETWEEN_LOOKS", 1)
    with pytest.raises(TimeIsUpError):
        read(GOOD)


def test_no_more_escapes_are_read_than_a_text_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a million the rest would be cut off anyway."""
    seen = []

    def counted(escape: re.Match[str]) -> str:
        seen.append(escape.group())
        return "<"

    monkeypatch.setattr(virtuoso_xml, "_character", counted)
    [row] = read(GOOD[: GOOD.rindex(b"  <result>")].replace(b">1<", b">" + b"&lt;" * 1_000_000 + b"<") + END) or []
    assert row["o"] == Literal("<" * (LONGEST + 1))
    assert len(seen) < 3 * LONGEST


async def test_virtuoso_writes_the_same_in_both_formats(
    virtuoso: Callable[[Sequence[Path]], AbstractContextManager[str]], tmp_path: Path
) -> None:
    """A real Virtuoso's XML is read here, no parser needed, and has the terms of its JSON.

    Line ends, control characters and XML literals included. A boolean alone is right in XML only.
    """
    objects = [*LITERALS, f'"true"^^<{BOOLEAN}>']
    file = tmp_path / "literals.nt"
    lines = (f"<http://x/s> <http://x/p{number}> {term} .\n" for number, term in enumerate(objects))
    file.write_text("".join(lines), encoding="utf-8")
    with virtuoso([file]) as url:
        transport = HttpTransport(url, timeout=20)
        query = "SELECT ?p ?o ?none WHERE { <http://x/s> ?p ?o } ORDER BY ?p"
        as_json, as_xml = await transport.send(query), await transport.send_for(query, "xml")
        nothing = await transport.send_for("SELECT ?o WHERE { <http://x/nobody> ?p ?o }", "xml")
        await transport.close()
    rows = [{**row} for row in accept(as_json, endpoint="e").rows]
    true = next(row for row in rows if row["o"] == Literal("1", BOOLEAN))
    true["o"] = Literal("true", BOOLEAN)
    assert read(as_xml.body) == rows
    assert len(rows) == len(objects)
    assert read(nothing.body) == []
