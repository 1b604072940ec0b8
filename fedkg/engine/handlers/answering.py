"""Answering: which paths answer the question, or what the model answers from its memory."""

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.core.choice import Conclusion, ModelOnlyAnswer, PromptCandidate
from fedkg.core.path import PartialPath
from fedkg.core.question import JUDGED, Match
from fedkg.core.terms import Iri, Term
from fedkg.engine.completion import complete
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.engine.presentation import ShownSteps, path_candidate, weighted, with_others
from fedkg.methods.base import Answering, AskingModelOnly, Inducing
from fedkg.reasoner.calls.answer import HYPOTHESES, AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall

__all__ = ["answer", "answer_from_memory", "induce"]

TYPED, MOST_TYPED = 2, 60
"""Ends of a path whose types a model is told to which candidates cost nothing, and of all that are typed at once."""
MOST_ENDS = 200
"""Ends of a path that are typed to tell which are of the kind asked for."""


@handles(Answering)
async def answer(walk: RunningWalk, need: Answering) -> Conclusion:
    """Which paths answer; none, with a warning, where the model fails."""
    context, candidates = walk.context, await _offered(walk, need)
    try:
        kind = WeightedAnswerCall if any(need.weights) else AnswerCall
        conclusion = await context.reasoner.ask(kind(context.question, context.plan, candidates, walk.known))
    except UNUSABLE as error:
        conclusion = _undecided(walk, error)
    conclusion = _concluded(walk, conclusion, candidates)
    whole = [path for number in conclusion.untyped if (path := await _whole(walk, need, number))]
    return await _of_kind(walk, conclusion, whole) if whole else conclusion


async def _whole(walk: RunningWalk, need: Answering, number: int) -> tuple[int, PartialPath] | None:
    """The path of that number, where it has no further ends, and no more than can be typed; with its number."""
    path = need.partial_paths[number - 1]
    if len(path.tails) > MOST_ENDS or any(need.also[number - 1 : number]):
        return None
    [completed] = await complete(walk.context.explored, [path])
    return (number, path) if completed.tails == path.tails else None


async def _of_kind(walk: RunningWalk, conclusion: Conclusion, paths: Sequence[tuple[int, PartialPath]]) -> Conclusion:
    """The conclusion with those ends that are of the kind asked for: the model is told the types of all of them."""
    context, labels, topics = walk.context, walk.record.labels, walk.record.topics
    types = await _types(walk, [tail for _, path in paths for tail in path.tails if isinstance(tail, Iri)])
    tails = dict(conclusion.tails)
    for number, path in paths:
        typed = tuple(types.get(tail, "") for tail in path.tails)
        candidate = msgspec.structs.replace(path_candidate(number, path, labels, topics, MOST_ENDS), types=typed)
        call = AnswerCall(context.question, context.plan, [candidate], walk.known)
        tails |= (await context.reasoner.ask(call)).tails
    return msgspec.structs.replace(conclusion, tails=tails)


@handles(Inducing)
async def induce(walk: RunningWalk, need: Inducing) -> Conclusion:
    """Which paths answer, each shown with what it led to; none, with a warning, where the model fails."""
    await _prepared(walk, need.partial_paths)
    candidates = _candidates(walk, need.partial_paths)
    decoded = itertools.chain(need.hypotheses, itertools.repeat(""))
    hypotheses = [
        hypothesis or ", ".join(candidate.tails[:HYPOTHESES])
        for candidate, hypothesis in zip(candidates, decoded, strict=False)
    ]
    context = walk.context
    try:
        conclusion = await context.reasoner.ask(InductiveCall(context.question, context.plan, candidates, hypotheses))
    except UNUSABLE as error:
        conclusion = _undecided(walk, error)
    return _concluded(walk, conclusion, candidates)


@handles(AskingModelOnly)
async def answer_from_memory(walk: RunningWalk, need: AskingModelOnly) -> ModelOnlyAnswer | None:
    """The model's own answer; None, with a warning, where it fails."""
    context, plan = walk.context, walk.context.plan
    try:
        return await context.reasoner.ask(
            ModelOnlyCall(context.question, plan.kind, plan.options, need.style, need.sample)
        )
    except UNUSABLE as error:
        walk.warn(f"the model gave no answer: {error}")
        return None


async def _offered(walk: RunningWalk, need: Answering) -> list[PromptCandidate]:
    """The paths as the model is shown them; their labels and the types of their ends are fetched side by side."""
    paths, exhaustive = need.partial_paths, walk.context.reasoner.exhaustive
    types, _ = await concurrently(
        _types(walk, _first_ends(paths) if exhaustive else []),
        _prepared(walk, paths, list(itertools.chain.from_iterable(need.also))),
    )
    candidates = _candidates(walk, paths)
    for index, others in enumerate(need.also):
        candidates[index] = with_others(candidates[index], [_candidate(walk, path) for path in others])
    if any(need.weights):
        candidates = list(map(weighted, candidates, need.weights))
    return [_typed(*pair, types) for pair in zip(candidates, paths, strict=True)] if exhaustive else candidates


async def _prepared(walk: RunningWalk, paths: tuple[PartialPath, ...], others: Sequence[PartialPath] = ()) -> None:
    """Notes which paths are judged, and fetches the labels that these and the others show."""
    walk.record.last_paths = paths
    walk.reached(max((len(path.steps) for path in paths), default=0), "shown", paths)
    await walk.label([*paths, *others])


def _candidates(walk: RunningWalk, paths: Sequence[PartialPath]) -> list[PromptCandidate]:
    """The paths as the model is shown them, numbered from 1."""
    shown_steps: ShownSteps = {}
    return [_candidate(walk, path, number, shown_steps) for number, path in enumerate(paths, 1)]


def _candidate(
    walk: RunningWalk, path: PartialPath, number: int = 1, shown_steps: ShownSteps | None = None
) -> PromptCandidate:
    """Where ends are picked they are listed below the path; one of them stands in it to tell what they are."""
    in_line = None if walk.context.plan.kind in JUDGED else 1
    labels, topics = walk.record.labels, walk.record.topics
    return path_candidate(
        number, path, labels, topics, in_line=in_line, whole=walk.record.whole, shown_steps=shown_steps
    )


def _first_ends(paths: Sequence[PartialPath]) -> list[Iri]:
    """Those ends whose types are asked for: the first of each path, then others, since a kind may be asked for."""
    ends = [[tail for tail in path.tails if isinstance(tail, Iri)] for path in paths]
    first = (iri for iris in ends for iri in iris[:TYPED])
    return list(dict.fromkeys(itertools.chain(first, *ends)))[:MOST_TYPED]


def _typed(candidate: PromptCandidate, path: PartialPath, types: Mapping[Term, str]) -> PromptCandidate:
    """The candidate with the types of its first ends."""
    ends = [tail for tail in path.tails if isinstance(tail, Iri)][:TYPED]
    return msgspec.structs.replace(candidate, types=tuple(types.get(iri, "") for iri in ends))


async def _types(walk: RunningWalk, entities: Sequence[Iri]) -> dict[Term, str]:
    """The label of what each entity is, in one request; empty where that is not known."""
    matches = await walk.context.explored.graph.describe([Match(iri, "", 1.0) for iri in entities])
    return {match.iri: match.type for match in matches}


def _undecided(walk: RunningWalk, error: Exception) -> Conclusion:
    """The conclusion where the model could not tell."""
    walk.record.judged = False
    return Conclusion(note=f"no answer was chosen: {error}")


def _concluded(walk: RunningWalk, conclusion: Conclusion, candidates: Sequence[PromptCandidate]) -> Conclusion:
    """The conclusion with its note as a warning; a model that lists every tail shown to it means all of them."""
    if conclusion.note:
        walk.warn(conclusion.note)
    tails = {
        path: numbers
        for path, numbers in conclusion.tails.items()
        if len(set(numbers)) < len(candidates[path - 1].tails)
    }
    return msgspec.structs.replace(conclusion, tails=tails, unproven=walk.quoted(conclusion.unproven))
