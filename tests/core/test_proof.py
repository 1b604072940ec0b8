"""Edges and paths as a document shows them."""

from fedkg.core.answer import PathEdge
from fedkg.core.terms import Blank, Edge, Iri, Literal, Qualifier, Through

P, A, B = Iri("http://ex.org/p"), Iri("http://ex.org/a"), Iri("http://ex.org/b")


def test_path_edge_without_labels_is_the_edge() -> None:
    """The shown edge keeps all that the endpoint said."""
    edge = Edge(A, P, B, "in", "e", "2026-01-01T00:00:00Z", (Qualifier(P, Literal("x")),), Through(Blank("m"), P))
    shown = PathEdge(A, P, B, "in", "e", "2026-01-01T00:00:00Z", edge.qualifiers, edge.through, {"<a:a>": "a"})
    assert shown.edge == edge
