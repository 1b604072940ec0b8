"""Candidates ranked over a small real graph, with a similarity that is told what each text is worth."""

from collections.abc import Sequence

import numpy as np

from fedkg.config.settings import Form, SearchSettings
from fedkg.core.path import PartialPath
from fedkg.core.terms import Iri, Term, relation_name
from fedkg.embed.base import Matrix
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph, frontier
from fedkg.retrieval import registry
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext

__all__ = ["JACKSON", "KONG", "Exact", "names", "rank", "ranked"]

KONG, JACKSON = Iri("http://x/kong"), Iri("http://x/jackson")


class Exact:
    """A similarity that is told what each text is worth."""

    name = "exact"
    embedded = 0
    unrelated = 0.0
    weak = 0.0

    def __init__(self, worth: dict[str, float]) -> None:
        self.worth = worth
        self.asked: list[str] = []
        self.queries: set[str] = set()

    async def scores(self, query: str, texts: Sequence[str]) -> Matrix:
        """The worth of each text, 0 where nothing was told."""
        self.queries.add(query)
        self.asked += texts
        return np.array([self.worth.get(text, 0.0) for text in texts], dtype=np.float32)

    async def table(self, queries: Sequence[str], texts: Sequence[str]) -> Matrix:
        """The same for every query."""
        return np.array([await self.scores(query, texts) for query in queries], dtype=np.float32)


async def ranked(
    graph: SparqlGraph,
    similarity: object,
    *paths: PartialPath,
    limit: int | None = None,
    ahead: bool = False,
    **settings: object,
) -> Ranking:
    """The ranking of the next steps of some paths, as the paper scores them unless `scoring` is given."""
    explored, search = ExploredGraph(graph), SearchSettings(**{"scoring": "lookahead", **settings})  # type: ignore[arg-type]  # keyword by keyword
    nodes = frontier(paths, search.frontier, explored)
    await explored.fetch(node for expanded in nodes for node in expanded)
    context = RetrievalContext(explored, similarity, lambda _names: "who is the director", search)  # type: ignore[arg-type]  # Exact is one
    return await rank(context, paths, nodes, limit, lookahead=ahead)


async def rank(
    context: RetrievalContext,
    paths: Sequence[PartialPath],
    nodes: Sequence[Sequence[Term]],
    limit: int | None,
    *,
    lookahead: bool,
    retriever: str | None = None,
    form: Form | None = None,
) -> Ranking:
    """The ranking by the retriever of that name and in that form, or those of the settings."""
    expanded = tuple(map(tuple, nodes))
    request = RankingRequest(tuple(paths), expanded, form or context.search.form, limit, lookahead)
    return await registry.find(retriever or context.search.retriever).rank(request, context)


def names(ranking: Ranking) -> list[str]:
    """The relations offered, in order, with an arrow for the direction."""
    arrow = {"out": ">", "in": "<"}
    return [arrow[c.relation.direction] + relation_name(c.relation, ranking.labels) for c in ranking.candidates]
