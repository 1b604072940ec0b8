"""The seam to retrievers: a Retriever ranks the candidate next steps of partial paths."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import msgspec

from fedkg.config.settings import Form, SearchSettings
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Term
from fedkg.embed.base import NearestLabels, Similarity
from fedkg.graph.explored import ExploredGraph

__all__ = ["GlobalSearch", "Ranking", "RankingRequest", "RelationScorer", "RetrievalContext", "Retriever"]

RelationScorer = Callable[[Sequence[Step], Mapping[Term, str]], Awaitable[Sequence[float]]]
"""Has the language model score steps by their relations, in one call: a number in 0..1 for each, in their order.

The labels are those that the call shows the steps with.
"""

GlobalSearch = Callable[[str, int], Awaitable[NearestLabels]]
"""The m entities and relations of the whole graph that are nearest to a text. Raises InputError where none are kept."""


class Ranking(msgspec.Struct, frozen=True):
    """The candidates, best first, and the `labels` of all that they show.

    `complete` is True where nothing was left out, neither by an endpoint nor by the bound on the frontier.
    """

    candidates: tuple[Step, ...]
    labels: dict[Term, str]
    complete: bool


class RankingRequest(msgspec.Struct, frozen=True):
    """One hop to be ranked: the next steps of these paths.

    `nodes` are, for each path, those of its ends that are expanded; their edges are fetched. `form` says what a
    candidate is, a group or a pair. `limit`: so many of the candidates will be shown (None: all). `lookahead`: another
    hop follows this one, so that what is fetched for it is no waste. `scorer` asks the language model; None where the
    ranking shall not.
    """

    partial_paths: tuple[PartialPath, ...]
    nodes: tuple[tuple[Term, ...], ...]
    form: Form
    limit: int | None = None
    lookahead: bool = False
    scorer: RelationScorer | None = None

    @property
    def topics(self) -> list[Term]:
        """The topic of each path, in the order of the paths."""
        return [path.topic for path in self.partial_paths]


@dataclass(frozen=True)
class RetrievalContext:
    """What a retriever works with during one question.

    `explored` is what was fetched so far, and fetches more. `similarity` compares texts. `query` makes K, the keywords
    in one string, once the topics' labels are known; `keywords` are those of a model's plan, one by one, none where no
    model planned; `question` is the question as it was asked. `top` returns the m entities and relations of the whole
    graph that are nearest to a text; None where no labels can be searched.
    """

    explored: ExploredGraph
    similarity: Similarity
    query: Callable[[Mapping[Term, str]], str]
    search: SearchSettings
    question: str = ""
    keywords: tuple[str, ...] = ()
    top: GlobalSearch | None = None

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """The label of each term, its own name where it has none; one batch for all. Raises EndpointError."""
        return await self.explored.graph.labels(terms)

    async def similarities(self, query: str, texts: Iterable[str]) -> dict[str, float]:
        """The similarity of each distinct text to the query. Raises what the embedder raises."""
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, (await self.similarity.scores(query, distinct)).tolist(), strict=True))


@runtime_checkable
class Retriever(Protocol):
    """Ranks the candidates for the next step.

    It keeps nothing between two calls: one object serves all questions of a session, several at the same time.
    `looks_ahead`: it has the hop after this one fetched, where that follows. `asks_model`: it uses the request's
    `scorer`, once a hop at most. The estimate of a question's cost counts both.
    """

    looks_ahead: bool
    asks_model: bool

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """All candidates over all paths, best first.

        `candidates.next_steps` makes them, `candidates.ranking` puts the result together. Raises EndpointError,
        ModelError.
        """
        ...
