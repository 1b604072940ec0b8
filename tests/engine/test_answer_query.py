"""The query of an answer, from the walked paths."""

from collections.abc import Callable, Sequence

import pyoxigraph
import pytest

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Direction, Edge, Iri, Term
from fedkg.engine.answer_query import QueryFacts, endpoint_urls, proving_query
from fedkg.graph.endpoint import SparqlGraph

GRAPH = """
<http://x/ann> <http://x/film> <http://x/one> .
<http://x/ann> <http://x/film> <http://x/two> .
<http://x/bob> <http://x/film> <http://x/two> .
<http://x/bob> <http://x/film> <http://x/six> .
"""


def n(name: str) -> Iri:
    """A node or relation."""
    return Iri(f"http://x/{name}")


def films(who: str, *ends: str, endpoint: str = "here") -> PartialPath:
    """A path to these films."""
    edges = tuple(Edge(n(who), n("film"), n(end), "out", endpoint) for end in ends)
    return PartialPath(n(who)).extend(Step(0, edges[0].walked, edges))


def facts(*answers: Term, counts: bool = False) -> QueryFacts:
    """What is known beside the paths."""
    return QueryFacts("which?", answers, {}, {}, counts)


def rows(query: str) -> set[str]:
    """What an engine returns for it."""
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    solutions = store.query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return {str(row["answer"]).strip("<>").rpartition("/")[2] for row in solutions}


def asked(paths: Sequence[tuple[PartialPath, tuple[int, ...]]], *answers: str) -> set[str]:
    """What the query for these paths and answers returns."""
    return rows(proving_query(paths, (), facts(*map(n, answers))))


def test_all_ends_of_a_path_need_no_names() -> None:
    """The relations say it."""
    query = proving_query([(films("ann", "one", "two"), ())], (), facts(n("one"), n("two")))
    assert rows(query) == {"one", "two"}
    assert "VALUES" not in query


def test_picked_ends_are_named() -> None:
    """A model told them apart, and the query says which."""
    query = proving_query([(films("ann", "one", "two"), (1,))], (), facts(n("one")))
    assert rows(query) == {"one"}
    assert "# the relations have further ends: those that answer are named" in query


def test_paths_that_meet_are_joined_and_others_are_united() -> None:
    """The films of both; and those of either."""
    assert asked([(films("ann", "two"), ()), (films("bob", "two"), ())], "two") == {"two"}
    either = [(films("ann", "one", "two"), ()), (films("bob", "two", "six"), ())]
    assert asked(either, "one", "two", "six") == {"one", "two", "six"}


Fact = tuple[str, str]
"""Who made which film."""


def walk(*hops: Sequence[Fact]) -> PartialPath:
    """A path from Ann over films, the second hop to who made them."""
    path = PartialPath(n("ann"))
    for number, hop in enumerate(hops):
        direction: Direction = "in" if number == 1 else "out"
        edges = tuple(Edge(n(who), n("film"), n(film), direction, "here") for who, film in hop)
        path = path.extend(Step(0, edges[0].walked, edges))
    return path


ONE, TWO, ON, SIX = ("ann", "one"), ("ann", "two"), ("bob", "two"), ("bob", "six")
FILMS = ONE, TWO


@pytest.mark.parametrize(
    ("paths", "answers"),
    [
        ([walk(FILMS, FILMS)], {"ann"}),
        ([walk(FILMS, [ON])], {"bob"}),
        ([walk(FILMS, [ON, *FILMS])], {"ann", "bob"}),
        ([walk(FILMS, [ON]), walk(FILMS, FILMS)], {"ann", "bob"}),
        ([walk(FILMS, FILMS, FILMS)], {"one", "two"}),
        ([walk(FILMS, [ON], [SIX]), walk(FILMS, [ON], [ON])], {"two", "six"}),
        ([walk(FILMS, FILMS, FILMS), walk(FILMS, [ON], [SIX])], {"one", "two", "six"}),
        ([walk(FILMS, FILMS, FILMS), walk(FILMS, [ON], [ON])], {"one", "two"}),
    ],
)
def test_a_query_goes_back_where_the_walk_did(paths: Sequence[PartialPath], answers: set[str]) -> None:
    """Only back, only on, or both; paths of the same relations are one chain where they differ in one step."""
    assert asked([(path, ()) for path in paths], *answers) == answers


def test_a_cut_path_says_so() -> None:
    """The query may return more than the document has."""
    path = films("ann", "one", "two")
    cut = PartialPath(path.topic, (Step(0, path.chain[0], path.steps[0].edges, complete=False),))
    assert "# not every edge was fetched" in proving_query([(cut, ())], (), facts(n("one"), n("two")))


def test_what_no_query_can_say_has_none() -> None:
    """An identifier that stands for an entity, another endpoint without a URL, no answer, too many names."""
    edge = Edge(n("ann"), n("film"), n("one"), "out", "here", identifies=n("two"))
    path = PartialPath(n("ann")).extend(Step(0, edge.walked, (edge,)))
    assert proving_query([(path, ())], (), facts(n("two"))) == ""
    both = [(films("ann", "two"), ()), (films("bob", "two", endpoint="there"), ())]
    assert proving_query(both, (), facts(n("two"))) == ""
    assert proving_query([(films("ann", "one"), ())], (), facts()) == ""
    many = films("ann", *map(str, range(500)))
    assert proving_query([(many, tuple(range(1, 300)))], (), facts(*(n(str(i)) for i in range(299)))) == ""


def test_no_url_with_a_secret_enters_a_query(make_graph: Callable[..., SparqlGraph]) -> None:
    """What is in this process has none at all."""
    graph = make_graph(":a r:b :c .")
    assert endpoint_urls(graph) == {}
    for url in ("https://user:word@x.example/sparql", "https://x.example/sparql?key=1"):
        graph.identity = url
        assert endpoint_urls(graph) == {}
    graph.identity = "https://x.example/sparql"
    assert endpoint_urls(graph) == {graph.name: "https://x.example/sparql"}


def test_a_walk_that_begins_with_a_link_is_asked_where_the_link_is() -> None:
    """The document's first edge and the query agree on who is asked; the other endpoint is asked in a SERVICE."""
    link = Edge(n("ann"), n("same"), n("anna"), "out", "links")
    edges = (Edge(n("anna"), n("film"), n("one"), "out", "films", same=link),)
    path = PartialPath(n("ann")).extend(Step(0, edges[0].walked, edges))
    known = facts(n("one"))._replace(urls={"links": "http://links.example/", "films": "http://films.example/"})
    query = proving_query([(path, ())], (), known)
    assert "# to be asked at links" in query
    assert "SERVICE <http://films.example/>" in query
    assert "SERVICE <http://links.example/>" not in query
