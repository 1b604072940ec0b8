"""The retriever `global`: Path-RAG over a graph that was embedded beforehand (FiDeLiS v4, section 3.1, Algorithm 1).

E_m and R_m are the m entities and relations of the whole graph whose labels are nearest to the keywords; candidates are
made of these alone, those that are connected in the graph with a path, and scored as Path-RAG does. The paper has no
value of m. A value that is no entity has no label in the index: its relation decides.
"""

from collections.abc import Sequence

import msgspec

from fedkg.core.path import Step
from fedkg.core.terms import Iri
from fedkg.embed.base import NearestLabels
from fedkg.errors import InputError
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext
from fedkg.retrieval.candidates import next_steps
from fedkg.retrieval.path_rag import PathRag

__all__ = ["WholeGraph"]


class WholeGraph:
    """The retriever `global`; the labels of the graph have been embedded by `fedkg index`."""

    looks_ahead = True
    asks_model = False

    def __init__(self) -> None:
        self._scorer = PathRag()

    async def rank(self, request: RankingRequest, context: RetrievalContext) -> Ranking:
        """The candidates of E_m and R_m over all paths, best first.

        Raises EndpointError, and InputError where the labels of the graph are not embedded.
        """
        if context.top is None:
            raise InputError("no labels of a whole graph can be searched here", hint="use another retriever")
        labels = await context.labels(request.topics)
        nearest = await context.top(context.query(labels), context.search.top_m)
        steps = next_steps(request, context)
        kept = [step for step in steps if _is_near(step, nearest)]
        ranking = await self._scorer.scored(kept, request, context)
        return msgspec.structs.replace(ranking, complete=ranking.complete and len(kept) == len(steps))


def _is_near(step: Step, nearest: NearestLabels) -> bool:
    """Whether the relation, or a leg of it, is in R_m, and an end in E_m; for a step that leads to values R_m decides.

    A group keeps all its ends: what answers is found by completing it.
    """
    relations: Sequence[Iri | None] = (step.relation.relation, step.relation.via)
    if nearest.relations.isdisjoint(relation for relation in relations if relation):
        return False
    entities = {tail for tail in step.tails if isinstance(tail, Iri)}
    return not (entities and nearest.entities.isdisjoint(entities))
