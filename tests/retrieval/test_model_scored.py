"""The retriever `tog` before the model has scored its candidates."""

from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath
from fedkg.graph.endpoint import SparqlGraph
from tests.support.ranking import KONG, Exact, names, ranked


async def test_for_the_model_relations_are_put_in_order_without_a_look_ahead(films: SparqlGraph, meter: Meter) -> None:
    """By S0, until it has scored them; the next hop is not fetched for that."""
    ranking = await ranked(films, Exact({"starring": 0.5}), PartialPath(KONG), limit=1, ahead=True, retriever="tog")
    assert names(ranking)[0] == ">starring"
    assert meter.usage().by_kind["neighbours"] == 2
