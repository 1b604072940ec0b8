"""Fetching: the next steps of the walked paths, ranked by a retriever, and all ends of whole paths."""

import logging
from collections.abc import Mapping, Sequence

from fedkg.common.concurrency import concurrently
from fedkg.core.events import Fetched, Ranked
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Term
from fedkg.engine import lookup
from fedkg.engine.completion import complete
from fedkg.engine.handlers.base import RunningWalk, handles
from fedkg.engine.handlers.scoring import score
from fedkg.engine.presentation import whole_names
from fedkg.graph.explored import frontier, spread
from fedkg.methods.base import Completing, Expanding, Expansion, Scoring
from fedkg.retrieval import registry as retrievers
from fedkg.retrieval.base import RankingRequest, RelationScorer, Retriever

__all__ = ["complete_paths", "expand"]

log = logging.getLogger(__name__)


@handles(Expanding)
async def expand(walk: RunningWalk, need: Expanding) -> Expansion:
    """The candidates of all paths, best first. Raises TopicError where no endpoint has anything of any topic."""
    context, record = walk.context, walk.record
    record.last_paths = need.partial_paths
    if need.frontier is None:
        nodes = frontier(need.partial_paths, context.search.frontier, context.explored)
    else:
        nodes = spread(need.partial_paths, need.frontier)
    fetched = context.explored.fetch((node for ends in nodes for node in ends), walked=True)
    await (concurrently(fetched, _count_hidden(walk)) if need.depth == 1 else fetched)
    walk.emit(_fetched(walk, need.depth))
    form = need.form or context.search.form
    limit = walk.limit(form, need.page)
    expanded = tuple(map(tuple, nodes))
    # a method that names no retriever scores the steps itself: the model is not asked twice
    scorer = _relation_scorer(walk, need) if need.retriever else None
    request = RankingRequest(need.partial_paths, expanded, form, limit, not need.last, scorer)
    ranking = await _retriever(walk, need).rank(request, walk.retrieval)
    log.debug(
        "depth %d: %d candidates of %d paths are ranked", need.depth, len(ranking.candidates), len(need.partial_paths)
    )
    record.labels |= ranking.labels
    record.whole |= whole_names((candidate.relation for candidate in ranking.candidates), record.labels)
    record.considered += len(ranking.candidates)
    page = ranking.candidates[:limit]
    if need.depth == 1:
        walk.check_topics()
        walk.describe_topics(page)
        _warn_of_hidden(walk)
    offered = tuple(candidate.text for candidate in walk.candidates(need.partial_paths, page))
    scores = tuple(round(step.score, 4) for step in page)
    walk.emit(Ranked(need.depth, len(ranking.candidates), offered, scores))
    walk.reached(need.depth, "offered", page)
    return Expansion(ranking.candidates, ranking.complete, limit or 0)


async def _count_hidden(walk: RunningWalk) -> None:
    """Counts what profiles hide of the topics, where they hide anything: one request beside those of the first hop."""
    topics = [match.iri for match in walk.record.topics]
    walk.record.hidden = await lookup.hidden(walk.context.explored.graph, topics, ["out"], always=False)


def _warn_of_hidden(walk: RunningWalk) -> None:
    """Warns of topics of which a profile hides more than it shows."""
    for count in walk.record.hidden:
        if count.number > count.shown:
            name = next((match.label for match in walk.record.topics if match.iri == count.entity), count.entity.value)
            walk.warn(
                f"the profile {count.profile} hides {count.number:,} of the {count.number + count.shown:,} edges "
                f"that lead from {name[:100]!r}; `fedkg neighbours` names them; see its [shape.edges]"
            )


@handles(Completing)
async def complete_paths(walk: RunningWalk, need: Completing) -> tuple[PartialPath, ...]:
    """The paths with all the ends that their relations lead to."""
    walk.record.last_paths = need.partial_paths
    return await complete(walk.context.explored, need.partial_paths, need.back)


def _retriever(walk: RunningWalk, need: Expanding) -> Retriever:
    """The retriever that the method names, else that of the settings."""
    context = walk.context
    name = need.retriever or context.search.retriever
    return context.retriever if context.retriever and name == context.search.retriever else retrievers.find(name)


def _relation_scorer(walk: RunningWalk, need: Expanding) -> RelationScorer:
    """The model's scores of steps by their relations, for retrievers that rank by them."""

    async def scores(steps: Sequence[Step], labels: Mapping[Term, str]) -> Sequence[float]:
        walk.record.labels |= labels
        return await score(walk, Scoring(need.depth, "relations", need.partial_paths, tuple(steps)))

    return scores


def _fetched(walk: RunningWalk, depth: int) -> Fetched:
    """How much of the graph the walk has fetched so far."""
    explored = walk.context.explored.all()
    edges, incomplete = sum(len(near.edges) for near in explored), sum(not near.complete for near in explored)
    return Fetched(depth, len({near.entity for near in explored}), edges, incomplete, walk.context.usage())
