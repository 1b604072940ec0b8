"""An answer's query, asked again."""

from collections.abc import Callable

import msgspec
import pytest

from fedkg.core.answer import Answer
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.proof import AnswerValue, Path, PathEdge, Status
from fedkg.core.terms import Blank, Edge, Iri, Literal, Term
from fedkg.engine.query_check import QueryCheck, check_query, compared, no_query
from fedkg.graph.endpoint import SparqlGraph

A, B, C = (Iri(f"http://x/{name}") for name in "abc")
QUERY = "SELECT DISTINCT ?answer WHERE {\n  <http://x/a> <http://x/r/p> ?answer .\n}\n"


def answer(*ends: Iri, query: str = QUERY) -> Answer:
    """A document that says that A leads to these ends."""
    edges = [Edge(A, Iri("http://x/r/p"), end, "out", "test") for end in ends]
    paths = tuple(Path(1.0, (PathEdge.of(edge, {}),)) for edge in edges)
    values = tuple(AnswerValue(end.value, end.value, "", end, paths=(n,)) for n, end in enumerate(ends))
    return Answer("q", "entities", Status.ANSWERED, values, paths, query=query)


@pytest.mark.parametrize(("ends", "outcome"), [((B, C), "same"), ((B,), "more"), ((B, C, A), "fewer"), ((A,), "other")])
async def test_the_rows_are_compared_with_the_answers(
    make_graph: Callable[..., SparqlGraph], ends: tuple[Iri, ...], outcome: str
) -> None:
    """The same, more, fewer, and others."""
    check = await check_query(make_graph(":a r:p :b, :c ."), answer(*ends))
    assert check is not None
    assert check.outcome == outcome


EDGES = [Edge(A, Iri("http://x/r/p"), B, "out", endpoint) for endpoint in ("here", "there")]
CROSSING = tuple(Path(1.0, (PathEdge.of(edge, {}),)) for edge in EDGES)
BARE = answer(B, query="")


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (answer(B), ""),
        (Answer("q", "entities", Status.NONE), "nothing was found"),
        (Answer("q", "yesno", Status.ANSWERED, (AnswerValue("yes"),)), "the answer is a judgement"),
        (Answer("q", "entities", Status.ANSWERED, (AnswerValue("b"),)), "no path leads to the answers"),
        (
            msgspec.structs.replace(BARE, caveats=(Caveat(CaveatKind.RECALLED, "a"),)),
            "a model remembers the answer",
        ),
        (
            msgspec.structs.replace(BARE, answers=(AnswerValue("b", term=Blank("b"), paths=(0,)),)),
            "an answer is a node without a name",
        ),
        (msgspec.structs.replace(BARE, paths=CROSSING), "it crosses endpoints"),
        (msgspec.structs.replace(BARE, status=Status.NOT_FOUND), "the search ended before its end"),
        (BARE, "too many ends would have to be named"),
    ],
)
def test_a_document_without_a_query_tells_why(document: Answer, why: str) -> None:
    """As far as it can be seen in the document."""
    assert no_query(document) == why


async def test_a_document_that_admits_a_cut_says_why_its_query_returns_more(
    make_graph: Callable[..., SparqlGraph],
) -> None:
    """It holds some of the answers, and says so."""
    cut = msgspec.structs.replace(answer(B), caveats=(Caveat(CaveatKind.CUT, "a hub"),))
    check = await check_query(make_graph(":a r:p :b, :c ."), cut)
    assert check == QueryCheck("more", further=1, why="the document admits that not all of it was fetched")


async def test_a_document_without_a_query_is_not_checked(make_graph: Callable[..., SparqlGraph]) -> None:
    """Nothing is asked."""
    assert await check_query(make_graph(":a r:p :b ."), answer(B, query="")) is None


@pytest.mark.parametrize(
    "query",
    [
        "DELETE WHERE { ?s ?p ?o }",
        "# SELECT\nDELETE WHERE { ?s ?p ?o }",
        "SELECT ?answer WHERE { SERVICE <http://169.254.169.254/> { ?s ?p ?answer } }",
        "SELECT ?answer WHERE { SERVICE ?where { ?s ?p ?answer } }",
        "SELECT ?answer FROM <http://secret.example/> WHERE { ?s ?p ?answer }",
        "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "# a\rDELETE WHERE { ?s ?p ?o } #\nSELECT ?answer WHERE { ?s ?p ?answer }",
        "SELECT ?answer WHERE { # a\rSERVICE <http://evil.example/> { ?s ?p ?answer } }",
        "SELECT ?answer WHERE { \\u0053ERVICE <http://evil.example/> { ?s ?p ?answer } }",
        'SELECT ?answer WHERE { ?s ?p "\\u0022 . SERVICE <http://evil.example/> { ?s ?p ?answer } #" }',
        "SELECT ?answer WHERE { ?s ?p '#' . SERVICE <http://evil.example/> { ?s ?p ?answer } }",
        'SELECT ?answer WHERE { ?s ?p """ " """ . SERVICE <http://evil.example/> { ?s ?p ?answer } # """\n }',
        "SELECT ?answer WHERE { FILTER(?a < ?b) SERVICE <http://evil.example/> { ?s ?p ?answer } FILTER(?a > 1) }",
        "SELECT ?answer WHERE { FILTER(?a < ?b) GRAPH ?g { ?s ?p ?answer } FILTER(?a > 1) }",
    ],
)
async def test_a_query_of_another_shape_is_not_sent(make_graph: Callable[..., SparqlGraph], query: str) -> None:
    """A document comes from anywhere: it decides neither what is changed nor who else is asked."""
    check = await check_query(make_graph(":a r:p :b ."), answer(B, query=query))
    assert check is not None
    assert (check.outcome, check.why) == ("not run", "it is no query that fedkg writes")


async def test_words_of_labels_and_values_are_no_syntax(make_graph: Callable[..., SparqlGraph]) -> None:
    """A question that asks for a service, and a name that quotes, is asked again as any other."""
    text = 'it\'s a "service from" # \\u0053 graph'
    value = Literal(text + "\x07").n3()
    query = f"# Which service? Don't drop {text}\n{QUERY[:-2]}  FILTER(?answer != {value})\n}}\n"
    check = await check_query(make_graph(":a r:p :b ."), answer(B, query=query))
    assert check == QueryCheck("same")


async def test_an_apostrophe_in_an_iri_opens_no_string(make_graph: Callable[..., SparqlGraph]) -> None:
    """Bridget Jones's Diary may be asked for; a string in single quotes is none of ours."""
    graph = make_graph("<http://x/it's> r:p :b .")
    named = QUERY.replace("<http://x/a>", "<http://x/it's>")
    assert await check_query(graph, answer(B, query=named)) == QueryCheck("same")
    quoted = QUERY.replace("?answer .", "?answer . FILTER('<' < 'SERVICE>')")
    check = await check_query(graph, answer(B, query=quoted))
    assert check is not None
    assert check.outcome == "not run"


async def test_a_query_that_is_rejected_is_not_run(make_graph: Callable[..., SparqlGraph]) -> None:
    """The endpoint's reason stands beside it."""
    check = await check_query(make_graph(":a r:p :b ."), answer(B, query="SELECT nonsense {"))
    assert check is not None
    assert check.outcome == "not run"
    assert check.why


async def test_an_ask_is_a_verdict(make_graph: Callable[..., SparqlGraph]) -> None:
    """Yes where it has a row."""
    yes = Answer("q", "yesno", Status.ANSWERED, (AnswerValue("yes"),), query="ASK {\n  <http://x/a> ?p ?o .\n}\n")
    assert await check_query(make_graph(":a r:p :b ."), yes) == QueryCheck("same")
    assert await check_query(make_graph(":b r:p :a ."), yes) == QueryCheck("other")


@pytest.mark.parametrize(
    ("stated", "returned", "outcome"), [("3", "3", "same"), ("at least 2", "3", "same"), ("4", "3", "other")]
)
def test_a_count_may_be_a_bound(stated: str, returned: str, outcome: str) -> None:
    """Numbers are compared as numbers."""
    document = Answer("q", "count", Status.ANSWERED, (AnswerValue(stated),))
    row: dict[str, Term] = {"count": Literal(returned)}
    assert compared(document, [row]).outcome == outcome
