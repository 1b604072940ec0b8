"""Results in XML: the same rows as in JSON, the same errors, and nothing that a hostile document could do."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from fedkg.errors import EndpointError, EndpointTimeoutError, NotSparqlError, TruncatedError
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.sparql.results import accept
from fedkg.transport.http import HttpTransport
from tests.support.written_results import Term, in_json, in_xml

XML, JSON = "application/sparql-results+xml", "application/sparql-results+json"

# what no XML 1.0 document can carry is left out
TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
        st.sampled_from("<>&\"'\n\r\t]"),
    ),
    max_size=30,
)
SOME = TEXTS.filter(bool)
TERMS: st.SearchStrategy[Term] = st.one_of(
    st.fixed_dictionaries({"type": st.just("uri"), "value": SOME}),
    st.fixed_dictionaries({"type": st.just("bnode"), "value": SOME}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS, "xml:lang": st.sampled_from(["en", "de-AT"])}),
    st.fixed_dictionaries({"type": st.just("literal"), "value": TEXTS, "datatype": st.just("http://x/t?a=1&b=2")}),
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
BINDINGS = st.lists(st.dictionaries(NAMES, TERMS, max_size=4), max_size=5)


def rows_of(body: bytes, kind: str = XML, status: int = 200, **options: int) -> Rows:
    """What the acceptance test makes of a body."""
    return accept(EndpointReply(status, {"content-type": kind}, body), endpoint="test", **options)


ROW: dict[str, Term] = {"s": {"type": "uri", "value": "http://x/a"}, "o": {"type": "literal", "value": "1"}}
GOOD = in_xml([ROW, ROW])


@given(BINDINGS)
@example([{"o": {"type": "literal", "value": ' \r\n "<&>" 😀'}}])
def test_a_result_is_the_same_in_both_forms(bindings: list[dict[str, Term]]) -> None:
    """However a result is written down, its rows are equal; what an engine writes where it breaks off is in none."""
    assume(not any(mark in in_json(bindings) for mark in (b"!!!!>>#", b"SPARQL-QUERY: queryStr=")))
    assert rows_of(in_xml(bindings)).rows == rows_of(in_json(bindings), JSON).rows


@pytest.mark.parametrize("kind", [XML, "application/xml", "text/xml"])
def test_every_media_type_of_xml_is_read(kind: str) -> None:
    """XML is known by its media type, with and without a declaration, whatever the prefix of its namespace."""
    prefixed = (
        GOOD.replace(b"<", b"<r:").replace(b"<r:/", b"</r:").replace(b"<r:?", b"<?").replace(b"xmlns=", b"xmlns:r=")
    )
    for body in (GOOD, GOOD.partition(b"\n")[2], b"\xef\xbb\xbf" + GOOD, prefixed):
        assert rows_of(body, kind).rows == rows_of(in_json([ROW, ROW]), JSON).rows


def test_a_cap_counts_in_xml_too() -> None:
    """As many rows as an endpoint gives at most may be fewer than there are."""
    with pytest.raises(TruncatedError, match="2 rows"):
        rows_of(GOOD, known_cap=2)


BOMB = '<!DOCTYPE sparql [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
LEAK = '<!DOCTYPE sparql [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
BAD: list[tuple[str, bytes, type[EndpointError], str]] = [
    ("cut", GOOD[:-30], TruncatedError, "breaks off"),
    ("cut in a tag", GOOD[:200], TruncatedError, "breaks off"),
    ("engine's text", GOOD[:-30] + b"SPARQL-QUERY: queryStr=x\njava.util.concurrent.TimeoutException",
     EndpointTimeoutError, "Timeout"),
    ("engine's text in a literal", GOOD.replace(b"1</lit", b"!!!!>># timed out</lit"), EndpointTimeoutError,
     "timed out"),
    ("cancelled", GOOD[:-30] + b"The SPARQL operation has been cancelled", EndpointTimeoutError, "cancelled"),
    ("control character", GOOD.replace(b">1<", b">\x01<"), TruncatedError, "breaks off"),
    ("more after it", GOOD + GOOD, TruncatedError, "breaks off"),
    ("not UTF-8", GOOD.replace(b">1<", b">\xff<"), TruncatedError, "breaks off"),
    ("encoding of more bytes", in_xml([ROW], '<?xml version="1.0" encoding="utf-7"?>'), TruncatedError, "breaks off"),
    ("unknown encoding", in_xml([ROW], '<?xml version="1.0" encoding="nope"?>'), TruncatedError, "breaks off"),
    ("bomb", in_xml([ROW], BOMB), NotSparqlError, "no result"),
    ("file", in_xml([ROW], LEAK), NotSparqlError, "no result"),
    ("document type", in_xml([ROW], "<!DOCTYPE sparql>"), NotSparqlError, "no result"),
    ("other root", b"<rdf><head/><results/></rdf>", NotSparqlError, "the root is <rdf>"),
    ("error", b"<error>Query timed out</error>", EndpointTimeoutError, "timed out"),
    ("no results", b"<sparql><head/></sparql>", NotSparqlError, "XML without results"),
    ("no head", b"<sparql><results/></sparql>", NotSparqlError, "it has no head"),
    ("yes", b"<sparql><head/><boolean>true</boolean></sparql>", NotSparqlError, "without results"),
    ("two terms", GOOD.replace(b"</uri>", b"</uri><uri>x</uri>"), NotSparqlError, "unknown type"),
    ("a term in a term", GOOD.replace(b">1<", b">1<b>2</b>3<"), NotSparqlError, "<b> stands where"),
    ("a term in a row", GOOD.replace(b"<result>", b"<result><uri>x</uri>"), NotSparqlError, "<uri> stands where"),
    ("a row in a row", GOOD.replace(b"<result>", b"<result><result/>"), NotSparqlError, "<result> stands where"),
    ("a binding too deep", GOOD.replace(b"<binding", b"<x><binding").replace(b"</binding>", b"</binding></x>"),
     NotSparqlError, "<x> stands where"),
    ("no row", GOOD.replace(b"result>", b"solution>"), NotSparqlError, "<solution> stands where"),
    ("results twice", GOOD.replace(b"<results>", b"<results/><results>"), NotSparqlError, "results twice"),
    ("a triple", GOOD.replace(b"uri>", b"triple>"), NotSparqlError, "unknown type 'triple'"),
    ("no XML", b"nothing", NotSparqlError, "no XML"),
    ("empty", b"", NotSparqlError, "an empty body"),
    ("page", b"<html><title>Sign in</title></html>", NotSparqlError, "Sign in"),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[0].replace(" ", "-"))
def test_what_is_no_whole_result_is_classed(bad: tuple[str, bytes, type[EndpointError], str]) -> None:
    """XML that breaks off, is something else or tries something is refused as its JSON twin would be."""
    _, body, kind, says = bad
    with pytest.raises(EndpointError, match=says) as caught:
        rows_of(body)
    assert type(caught.value) is kind
    assert caught.value.message.isprintable()


@given(st.integers(0, len(GOOD) - 1))
def test_no_beginning_of_a_result_is_a_result(end: int) -> None:
    """Wherever a reply breaks off, it is refused."""
    with pytest.raises(EndpointError):
        rows_of(GOOD[:end])


@given(st.binary(max_size=200))
def test_any_bytes_are_judged(body: bytes) -> None:
    """Whatever arrives as XML has rows, or ends in the error of an endpoint."""
    try:
        assert rows_of(body).bytes == len(body)
    except EndpointError:
        return


def test_depth_is_no_danger() -> None:
    """Elements nested a hundred thousand deep are refused like any other document that is no result."""
    with pytest.raises(NotSparqlError):
        rows_of(b"<a>" * 100_000 + b"</a>" * 100_000)


@pytest.fixture(scope="module", params=["oxigraph", "virtuoso"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of each engine with terms of every kind."""
    file = tmp_path_factory.mktemp("terms") / "terms.nt"
    file.write_text(
        '<http://x/a> <http://x/p> "<\\"&\\n>\\u00e9"@en-GB, <http://x/b?c=1&d=2>, _:b .\n'.replace(
            ", ", " .\n<http://x/a> <http://x/p> "
        )
    )
    serve: Callable[..., AbstractContextManager[str]] = request.getfixturevalue(request.param)
    with serve([file]) as url:
        yield url


async def test_real_engines_say_the_same_in_both_forms(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Oxigraph and Virtuoso write as XML has the rows of what they write as JSON."""
    monkeypatch.setattr("urllib.request.getproxies", dict)
    results = []
    for kind in (XML, JSON):
        transport = HttpTransport(url, timeout=20, headers={"Accept": kind})
        reply = await transport.send("SELECT ?p ?o { <http://x/a> ?p ?o FILTER(!isBlank(?o)) }")
        await transport.close()
        assert reply.content_type == kind
        results.append(sorted(accept(reply, endpoint="real").rows, key=str))
    assert results[0] == results[1]
    assert len(results[0]) == 2


def test_the_writer_of_these_tests_writes_xml_results(tmp_path: Path) -> None:
    """A parser of another house reads what the tests take for a result."""
    parsed = pyoxigraph.parse_query_results(GOOD, format=pyoxigraph.QueryResultsFormat.XML)
    assert isinstance(parsed, pyoxigraph.QuerySolutions)
