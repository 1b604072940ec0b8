"""Scoring: how much each next step, or the entity that it leads to, helps to answer."""

from collections.abc import Sequence

from fedkg.core.choice import PromptCandidate
from fedkg.core.events import Scored
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.engine.presentation import onward_candidate, surrounded
from fedkg.methods.base import Scoring
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.retrieval.surroundings import surroundings

__all__ = ["score"]


@handles(Scoring)
async def score(walk: RunningWalk, need: Scoring) -> tuple[float, ...]:
    """The model's scores or, where it fails, those of the retriever, the best one as 1."""
    candidates = _steps(walk, need) if need.what == "relations" else await _ends(walk, need)
    try:
        scores = await _scored(walk, need, candidates)
    except UNUSABLE as error:
        walk.unjudged(f"scored by the retriever at depth {need.depth}: {error}")
        best = max((step.score for step in need.candidates), default=0.0)
        scores = tuple(max(0.0, step.score / best) if best > 0 else 0.5 for step in need.candidates)
    _report_scores(walk, need, candidates, scores)
    return scores


def _steps(walk: RunningWalk, need: Scoring) -> list[PromptCandidate]:
    """The next steps of one path, shown apart from it, or of several, each with its own."""
    alone = len(need.partial_paths) == 1
    paths = [need.partial_paths[0 if alone else step.path_index] for step in need.candidates]
    return [
        onward_candidate(number, path, step.relation, walk.record.labels, walk.record.topics, alone=alone)
        for number, (path, step) in enumerate(zip(paths, need.candidates, strict=True), 1)
    ]


async def _ends(walk: RunningWalk, need: Scoring) -> list[PromptCandidate]:
    """Where the steps lead to, each with its path and, if that is wanted, with what the graph has around it."""
    walk.record.last_paths = need.partial_paths
    ends = [need.partial_paths[step.path_index].extend(step) for step in need.candidates]
    await walk.label(ends)
    candidates = walk.walked(ends)
    if not need.surroundings:
        return candidates
    near, labels = await surroundings(ends, walk.retrieval)
    walk.record.labels |= labels
    return [
        surrounded(candidate, near.get(index, ()), walk.record.labels) for index, candidate in enumerate(candidates)
    ]


async def _scored(walk: RunningWalk, need: Scoring, candidates: Sequence[PromptCandidate]) -> tuple[float, ...]:
    """The scores, in one call; the path that all of the relations go on from is shown once."""
    context = walk.context
    if need.what == "entities":
        return await context.reasoner.ask(ScoreEntitiesCall(context.question, context.plan, candidates))
    path = walk.shown(need.partial_paths[0]) if len(need.partial_paths) == 1 else None
    return await context.reasoner.ask(ScoreRelationsCall(context.question, context.plan, path, candidates))


def _report_scores(
    walk: RunningWalk, need: Scoring, candidates: Sequence[PromptCandidate], scores: Sequence[float]
) -> None:
    """Emits the candidates with their scores, the best first."""
    ranked = sorted(zip(candidates, scores, strict=True), key=lambda pair: -pair[1])
    if ranked:
        texts, values = tuple(candidate.text for candidate, _ in ranked), tuple(value for _, value in ranked)
        walk.emit(Scored(need.depth, need.what, texts, values))
