"""The vanilla retriever: relation and entity as one text, compared with the question (FiDeLiS v4, Table 2)."""

from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import next_steps, ranking, shown_labels
from fedkg.retrieval.edge_text import best_edge_first

__all__ = ["Vanilla"]


class Vanilla:
    """The retriever `vanilla`: by the whole question, and no further than the step."""

    looks_ahead = False
    asks_model = False

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """All candidates over all paths, best first. Raises EndpointError."""
        candidates = next_steps(request, context)
        labels = await shown_labels(candidates, request.topics, context)
        ranked = await best_edge_first(candidates, labels, context, whole=False)
        return ranking(ranked, labels, request, context)
