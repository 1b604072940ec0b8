from fedkg.core.terms import DirectedRelation, Iri
from fedkg.sparql.property_path import ends, property_path

P, Q = Iri("http://x/p"), Iri("http://x/q")


def test_relations_are_a_property_path() -> None:
    """Inverse steps and mediators as SPARQL writes them."""
    chain = [DirectedRelation(P, "out"), DirectedRelation(Q, "in"), DirectedRelation(P, "in", Q)]
    assert property_path(chain) == "<http://x/p>/^<http://x/q>/^(<http://x/p>/<http://x/q>)"


def test_the_ends_of_a_chain_are_one_query() -> None:
    """From where it starts, each end once."""
    query = ends(Iri("http://x/ann"), [DirectedRelation(P, "out")])
    assert query == "SELECT DISTINCT ?end WHERE { <http://x/ann> <http://x/p> ?end }"
