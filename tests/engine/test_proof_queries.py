"""The queries that ask for the edges of a proof again."""

from fedkg.core.answer import Answer, Path, PathEdge, Status
from fedkg.core.terms import Blank, Edge, Iri, Literal, Term
from fedkg.engine.proof_queries import proof_queries
from fedkg.sparql import build

SUBJECT, RELATION = Iri("http://example.org/s"), Iri("http://example.org/p")


def answer_of(*edges: Edge) -> Answer:
    """An answer with a path of each edge."""
    paths = tuple(Path(1.0, (PathEdge.of(edge, {}),)) for edge in edges)
    return Answer("Which?", "entities", Status.ANSWERED, paths=paths)


def edge_to(term: Term, endpoint: str = "here") -> Edge:
    """An edge of that endpoint."""
    return Edge(SUBJECT, RELATION, term, "out", endpoint)


def test_each_edge_is_asked_for_once_at_its_endpoint() -> None:
    """Edges of others are left out."""
    mine, other = edge_to(Literal("1")), edge_to(Literal("2"), "there")
    [query] = proof_queries(answer_of(mine, mine, other), "here")
    assert (query.endpoint, query.edges, query.query) == ("here", 1, build.holds([mine]))


def test_what_no_query_can_name_is_left_out() -> None:
    """A blank node of a reply, and an IRI that would break out of its brackets."""
    assert not list(proof_queries(answer_of(edge_to(Blank("b")), edge_to(Iri("x> . } DROP ALL #"))), "here"))


def test_long_proofs_have_several_queries() -> None:
    """As many as a verification sends."""
    edges = [edge_to(Literal(str(number))) for number in range(60)]
    assert [query.edges for query in proof_queries(answer_of(*edges), "here")] == [25, 25, 10]
