"""Ranking by the texts of edges: what the retrievers `vanilla` and `kaping` share."""

import pytest

from fedkg.config.settings import SearchSettings
from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.retrieval.base import RetrievalContext
from tests.support.ranking import KONG, Exact, names, rank, ranked


@pytest.mark.parametrize(
    ("retriever", "worth", "texts"),
    [
        (
            "vanilla",
            {"directed by Peter Jackson": 0.9, "Peter Jackson": -1.0},
            {"directed by Peter Jackson", "starring Naomi Watts", "starring Jack Black", "release year 2005"},
        ),
        (
            "kaping",
            {"(King Kong, directed by, Peter Jackson)": 0.9, "directed by": -1.0},
            {
                "(King Kong, directed by, Peter Jackson)",
                "(King Kong, starring, Naomi Watts)",
                "(King Kong, starring, Jack Black)",
                "(King Kong, release year, 2005)",
            },
        ),
    ],
)
@pytest.mark.parametrize("named", ["setting", "argument"])
async def test_other_retrievers_rank_by_one_text(
    films: SparqlGraph, retriever: str, worth: dict[str, float], texts: set[str], named: str
) -> None:
    """Relation and entity, or the verbalised triple; the settings name the retriever, or whoever asks does."""
    exact = Exact(worth)
    around, search = (
        ExploredGraph(films),
        SearchSettings(form="pairs", retriever=retriever if named == "setting" else "path-rag"),
    )
    await around.fetch([KONG])
    context = RetrievalContext(
        around, exact, lambda _names: pytest.fail("K is not asked for"), search, "who directed it"
    )
    ranking = await rank(
        context, [PartialPath(KONG)], [[KONG]], 1, lookahead=True, retriever=None if named == "setting" else retriever
    )
    assert (set(exact.asked), exact.queries) == (texts, {"who directed it"})
    assert names(ranking)[0] == ">directed by"
    assert ranking.candidates[0].score == pytest.approx(0.9)


@pytest.mark.parametrize("retriever", ["vanilla", "kaping"])
async def test_other_retrievers_look_no_further(films: SparqlGraph, meter: Meter, retriever: str) -> None:
    """Nothing is fetched ahead, whatever alpha is."""
    await ranked(films, Exact({}), PartialPath(KONG), limit=1, ahead=True, alpha=0.3, retriever=retriever)
    assert meter.usage().by_kind["neighbours"] == 2


async def test_a_group_counts_as_its_best_text(films: SparqlGraph) -> None:
    """One good triple is enough, as one good tail is for Path-RAG."""
    exact = Exact({"(King Kong, starring, Naomi Watts)": 0.7, "(King Kong, release year, 2005)": 0.6})
    ranking = await ranked(films, exact, PartialPath(KONG), retriever="kaping")
    assert names(ranking)[:2] == [">starring", ">release year"]
    assert ranking.candidates[0].score == pytest.approx(0.7)
