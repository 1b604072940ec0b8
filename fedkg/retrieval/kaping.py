"""KAPING's retriever: the verbalised triple, compared with the question (Baek et al. 2023, section 3)."""

from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import next_steps, ranking, shown_labels
from fedkg.retrieval.edge_text import best_edge_first

__all__ = ["Kaping"]


class Kaping:
    """The retriever `kaping`: by the whole question, and no further than the step."""

    looks_ahead = False
    asks_model = False

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """All candidates over all paths, best first. Raises EndpointError."""
        candidates = next_steps(request, context)
        starts = (edge.start for candidate in candidates for edge in candidate.edges[: context.search.tails])
        labels = await shown_labels(candidates, request.topics, context, starts)
        ranked = await best_edge_first(candidates, labels, context, whole=True)
        return ranking(ranked, labels, request, context)
