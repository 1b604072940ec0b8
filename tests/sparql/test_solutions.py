"""Rows are counted and their terms bounded, in both forms of results and however a body is read."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import Iri, Literal, Term
from fedkg.errors import NotSparqlError, TruncatedError
from fedkg.sparql import json_results
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.sparql.results import accept
from fedkg.sparql.solutions import LONGEST
from tests.support.written_results import Row, in_json, in_virtuoso_xml, in_xml

Binding = dict[str, str]
JSON, XML = "application/sparql-results+json", "application/sparql-results+xml"
WRITERS: dict[str, tuple[Callable[[Sequence[Row]], bytes], str]] = {
    "whole": (in_json, JSON),
    "stream": (in_json, JSON),
    "xml": (in_xml, XML),
    "virtuoso": (in_virtuoso_xml, XML),
}


@pytest.fixture(params=WRITERS)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the body is read: JSON as a whole, JSON as a stream, XML, XML as Virtuoso writes it."""
    if request.param == "stream":
        monkeypatch.setattr(json_results, "LARGEST", 0)
    return str(request.param)


def rows_of(reader: str, *rows: Row, most: int = 9_999) -> Rows:
    """What becomes of a result with these rows."""
    write, kind = WRITERS[reader]
    return accept(EndpointReply(200, {"content-type": kind}, write(rows), most=most), endpoint="e")


def term_of(reader: str, **binding: Any) -> Term:
    """The term that a binding becomes."""
    return rows_of(reader, {"x": binding}).rows[0]["x"]


# any but what no XML 1.0 document can carry, and what engines write where they break off
TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="!\ufffe\uffff"),
        st.sampled_from("<>&\"'\n\t]"),
    ),
    max_size=20,
)
TEXTS |= st.builds(str.__mul__, TEXTS, st.sampled_from([50, 200]))
TAGS = st.sampled_from(["", "de-AT", "http://x/t?a=1&b=2", "en" + "-a" * 600])
TERMS = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["uri", "bnode"]), "value": TEXTS}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS}, optional={"xml:lang": TAGS}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS}, optional={"datatype": TAGS}),
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["s", "p", "o"]), TERMS, max_size=3), max_size=4)


@given(ROWS, st.integers(1, 4))
def test_every_reader_gives_the_same_solutions(rows: list[dict[str, Binding]], most: int) -> None:
    """However a result is written down and read, its rows are equal; or it is refused, whoever reads it."""
    outcomes = [outcome(name, rows, most) for name in WRITERS]
    assert outcomes == outcomes[:1] * len(WRITERS)


def outcome(reader: str, rows: Sequence[Row], most: int) -> object:
    """The rows; None where they are refused."""
    with pytest.MonkeyPatch.context() as patch:
        if reader == "stream":
            patch.setattr(json_results, "LARGEST", 0)
        if reader == "virtuoso":
            patch.delattr("fedkg.sparql.xml.read")  # nothing is left to the parser
        try:
            return rows_of(reader, *rows, most=most).rows
        except (NotSparqlError, TruncatedError):
            return None


def test_terms_of_the_greatest_length_are_kept(reader: str) -> None:
    """A term as long as may be is what was sent."""
    iri = "http://x/".ljust(LONGEST, "a")
    assert term_of(reader, type="uri", value=iri) == Iri(iri)
    assert term_of(reader, type="literal", value="a" * LONGEST, datatype=iri) == Literal("a" * LONGEST, iri)


@pytest.mark.parametrize(
    "binding",
    [
        {"type": "uri", "value": "http://x/" + "a" * 10_000},
        {"type": "literal", "value": "a", "datatype": "http://x/" + "a" * 10_000},
        {"type": "literal", "value": "a", "xml:lang": "en" + "-a" * 10_000},
    ],
    ids=["iri", "datatype", "language"],
)
def test_what_is_too_long_enters_no_query(reader: str, binding: Binding) -> None:
    """An IRI, datatype or tag that is too long is short afterwards, and passes for no other one."""
    term = term_of(reader, **binding)
    assert not term.queryable
    assert len(term.text) < 1_100


def test_a_long_literal_is_cut(reader: str) -> None:
    """One character more than a literal may have is kept, so that it shows."""
    assert term_of(reader, type="literal", value="ab" * 10_000) == Literal("ab" * (LONGEST // 2) + "a")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"x": {"type": "bnode", "value": "b" * 10_000}}, "a name of"),
        ({"x" * 51: {"type": "literal", "value": ""}}, "a variable that no query has"),
        ({f"x{n}": {"type": "literal", "value": ""} for n in range(1_001)}, "1,000 variables"),
    ],
    ids=["blank-node", "variable", "variables"],
)
def test_what_cannot_be_cut_costs_the_reply(reader: str, row: dict[str, Binding], reason: str) -> None:
    """Names that would be another's when they are cut, and variables without end, are refused."""
    with pytest.raises(NotSparqlError, match=reason):
        rows_of(reader, row)


def test_variables_are_counted_over_all_rows(reader: str) -> None:
    """Rows that each have variables of their own have too many of them together."""
    with pytest.raises(NotSparqlError, match="1,000 variables"):
        rows_of(reader, *({f"x{n}": {"type": "literal", "value": ""}} for n in range(1_001)))


def test_reading_stops_at_the_row_that_is_too_many(reader: str) -> None:
    """As many rows as were asked for are read; one more shows that something is wrong."""
    row = {"x": {"type": "literal", "value": ""}}
    assert len(rows_of(reader, row, row, most=2).rows) == 2
    with pytest.raises(TruncatedError, match="more than 2 rows"):
        rows_of(reader, row, row, row, most=2)


def test_rows_have_room_by_how_many_were_asked_for(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that take more memory than so many should are refused, and less at once is asked for."""
    monkeypatch.setattr("fedkg.sparql.solutions.ALLOWED", 10_000)
    rows = [{f"x{n}": {"type": "literal", "value": str(n) * 500} for n in range(number)} for number in (1, 40)]
    assert rows_of(reader, rows[0], most=1).rows
    with pytest.raises(TruncatedError, match="too much memory"):
        rows_of(reader, rows[1], most=1)
