"""A retriever: a relation that leads to few nodes comes before one that leads to many."""

from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import next_steps, ranking, shown_labels, sorted_by


class FewestFirst:
    """Ranks steps by how few ends they have."""

    looks_ahead = False
    asks_model = False

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """All candidates over all paths, best first."""
        steps = next_steps(request, context)
        labels = await shown_labels(steps, request.topics, context)
        ranked = sorted_by(steps, [1 / len(step.tails) for step in steps])
        return ranking(ranked, labels, request, context)


RETRIEVER = FewestFirst()
