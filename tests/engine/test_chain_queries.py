import pyoxigraph
import pytest

from fedkg.core.proof import Path, PathEdge
from fedkg.core.terms import Blank, Edge, Iri, Literal, Term, Through
from fedkg.engine.chain_queries import chain_queries

GRAPH = """
<http://x/ann> <http://x/child> <http://x/ben> .
<http://x/ann> <http://x/child> <http://x/eve> .
<http://x/zoe> <http://x/parent> <http://x/ben> .
<http://x/ben> <http://x/job> _:m .
_:m <http://x/at> <http://x/mill> .
"""


def n(name: str) -> Iri:
    """A node or relation."""
    return Iri(f"http://x/{name}")


def edge(subject: str, relation: str, target: Term, direction: str = "out", endpoint: str = "here") -> Edge:
    """An edge of the graph."""
    return Edge(n(subject), n(relation), target, "in" if direction == "in" else "out", endpoint)


def path(*edges: Edge) -> Path:
    """A path of these edges."""
    return Path(1.0, tuple(PathEdge.of(leg, {}) for leg in edges))


def ends(query: str) -> set[str]:
    """What an engine returns for the query."""
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    solutions = store.query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return {str(row["end"]) for row in solutions}


def test_a_query_finds_all_that_a_chain_leads_to() -> None:
    """Backwards and over mediators, too; walks of the same chain have one query."""
    through = Edge(n("ben"), n("job"), n("mill"), "out", "here", through=Through(Blank("m"), n("at")))
    children = [path(edge("ann", "child", n(name))) for name in ("ben", "eve")]
    parents = path(edge("ann", "child", n("ben")), edge("zoe", "parent", n("ben"), "in"))
    mills = path(edge("ann", "child", n("ben")), through)
    queries = list(chain_queries(enumerate([*children, parents, mills])))
    assert [(query.endpoint, query.path) for query in queries] == [("here", 0), ("here", 2), ("here", 3)]
    found = [ends(query.query) for query in queries]
    assert found == [{"<http://x/ben>", "<http://x/eve>"}, {"<http://x/zoe>"}, {"<http://x/mill>"}]


@pytest.mark.parametrize(
    "edges",
    [
        (edge("ann", "child", n("ben")), edge("ben", "job", n("mill"), endpoint="there")),
        (edge("ann", "child", n("ben")), edge("eve", "job", n("mill"))),
        (Edge(n("ann"), n("code"), Literal("1"), "out", "here", identifies=n("ben")),),
        (Edge(Iri("http://x/a b"), n("child"), n("ben"), "out", "here"),),
        (Edge(n("ann"), Iri("http://x/a> b"), n("ben"), "out", "here"),),
        (Edge(Blank("b"), n("child"), n("ben"), "out", "here"),),
    ],
)
def test_what_no_single_query_walks_has_none(edges: tuple[Edge, ...]) -> None:
    """Several endpoints, edges that do not connect, identifiers, and terms that no query can carry."""
    assert not list(chain_queries([(0, path(*edges))]))
