"""Path-RAG over a graph that was embedded beforehand."""

from typing import Any

import pytest

from fedkg.config.settings import SearchSettings
from fedkg.core.path import PartialPath
from fedkg.core.terms import Iri
from fedkg.embed.base import NearestLabels
from fedkg.errors import InputError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.retrieval.base import Ranking, RetrievalContext
from tests.support.ranking import JACKSON, KONG, Exact, names, rank

DIRECTED, STARRING, YEAR = (Iri(f"http://x/r/{name}") for name in ("directed_by", "starring", "year"))


async def ranked(films: SparqlGraph, relations: set[Iri], entities: set[Iri], **search: Any) -> Ranking:
    """King Kong's candidates where these are the nearest of the whole graph."""
    asked: list[tuple[str, int]] = []

    async def top(text: str, m: int) -> NearestLabels:
        asked.append((text, m))
        return NearestLabels(frozenset(entities), frozenset(relations))

    explored, settings = ExploredGraph(films), SearchSettings(retriever="global", **search)
    await explored.fetch([KONG])
    context = RetrievalContext(explored, Exact({}), lambda names: f"K of {names[KONG]}", settings, top=top)
    ranking = await rank(context, [PartialPath(KONG)], [[KONG]], None, lookahead=False)
    assert asked == [("K of King Kong", settings.top_m)]
    return ranking


async def test_candidates_are_made_of_both_sets_alone(films: SparqlGraph) -> None:
    """A step whose relation is in R_m and whose entity is in E_m, connected in the graph (Algorithm 1)."""
    assert names(await ranked(films, {DIRECTED, STARRING}, {JACKSON})) == [">directed by"]
    assert names(await ranked(films, {STARRING}, {JACKSON})) == []
    assert names(await ranked(films, {DIRECTED}, set())) == []


async def test_a_value_is_no_entity(films: SparqlGraph) -> None:
    """Only entities are embedded: of a year the relation says whether it is near."""
    assert names(await ranked(films, {YEAR}, set())) == [">release year"]


async def test_what_is_far_was_not_seen(films: SparqlGraph) -> None:
    """Nothing is "none in the graph" where candidates were left out; what is near is scored as Path-RAG does."""
    far = await ranked(films, {DIRECTED}, {JACKSON}, top_m=7)
    assert (far.complete, [step.score for step in far.candidates]) == (False, [0.0])


async def test_without_an_index_it_is_an_error(films: SparqlGraph) -> None:
    """A caller that brings none along is told so."""
    context = RetrievalContext(ExploredGraph(films), Exact({}), lambda _: "", SearchSettings(retriever="global"))
    with pytest.raises(InputError, match="no labels of a whole graph"):
        await rank(context, [PartialPath(KONG)], [[KONG]], None, lookahead=False)
