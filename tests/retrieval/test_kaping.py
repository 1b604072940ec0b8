"""KAPING's triples."""

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Iri
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.retrieval.base import RetrievalContext
from tests.support.ranking import JACKSON, KONG, Exact, rank


async def test_triples_are_verbalised_as_the_graph_says_them(films: SparqlGraph) -> None:
    """Subject first, whichever way they are walked; the label of a node on the way is there at the second hop, too."""
    around = ExploredGraph(films)
    await around.fetch([KONG, JACKSON])
    relation = DirectedRelation(Iri("http://x/r/directed_by"), "out")
    beam = PartialPath(KONG).extend(Step(0, relation, tuple(around.along(KONG, relation))))
    exact = Exact({})
    context = RetrievalContext(around, exact, lambda _names: "", SearchSettings(retriever="kaping"), "?")
    await rank(context, [beam], [[JACKSON]], None, lookahead=False)
    assert set(exact.asked) == {
        "(The Two Towers, directed by, Peter Jackson)",
        "(Peter Jackson, spouse, Fran Walsh)",
        "(Peter Jackson, place of birth, Pukerua Bay)",
    }
