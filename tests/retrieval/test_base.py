"""What a retriever works with."""

from fedkg.core.path import PartialPath
from fedkg.core.terms import Iri
from fedkg.graph.endpoint import SparqlGraph
from tests.support.ranking import KONG, Exact, ranked


async def test_each_distinct_text_is_scored_once(films: SparqlGraph) -> None:
    """A relation that several beams offer is not embedded again."""
    exact = Exact({})
    await ranked(films, exact, PartialPath(KONG), PartialPath(Iri("http://x/rings")), limit=None)
    assert len(exact.asked) == len(set(exact.asked))
