"""The retriever `tog`: the language model scores the relations (after Think-on-Graph, Sun et al. 2024)."""

from collections.abc import Sequence

import msgspec

from fedkg.core.path import Step
from fedkg.core.terms import DirectedRelation
from fedkg.retrieval.base import Ranking, RankingRequest, RelationScorer, RetrievalContext
from fedkg.retrieval.candidates import next_steps, ranking
from fedkg.retrieval.path_rag import score_alone

__all__ = ["ModelScored"]


class ModelScored:
    """The retriever `tog`: by the model's score of the relation; those with equal ones stay as S0 of Path-RAG has them.

    Where the model shall not be asked it is S0 alone.
    """

    looks_ahead = False
    asks_model = True

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """All candidates over all paths, best first. Raises EndpointError and ModelError."""
        scored, labels = await score_alone(next_steps(request, context), request.topics, context)
        alone = ranking(scored, labels, request, context)
        if request.scorer is None:
            return alone
        return msgspec.structs.replace(alone, candidates=await _rescored(alone, request.scorer))


async def _rescored(alone: Ranking, scorer: RelationScorer) -> tuple[Step, ...]:
    """The candidates by the score of their relation, which is asked for once for each path that offers it."""
    steps: dict[tuple[int, DirectedRelation], Step] = {}
    for candidate in alone.candidates:
        steps.setdefault((candidate.path_index, candidate.relation), candidate)
    scores = dict(zip(steps, await scorer(tuple(steps.values()), alone.labels), strict=True))
    return tuple(
        _best_first([(candidate, scores[candidate.path_index, candidate.relation]) for candidate in alone.candidates])
    )


def _best_first(scored: Sequence[tuple[Step, float]]) -> list[Step]:
    rescored = [msgspec.structs.replace(candidate, score=score) for candidate, score in scored]
    return sorted(rescored, key=lambda candidate: -candidate.score)
