"""Choosing: which of the candidates, or of whole paths, the model goes on with."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from fedkg.core.choice import Choice, Decision, PromptCandidate
from fedkg.core.events import Chosen, Verified
from fedkg.core.path import PartialPath, Step
from fedkg.core.path_errors import PathErrors
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.engine.representatives import representatives
from fedkg.errors import ModelError, ModelReplyError
from fedkg.methods.base import Choosing, Decoded, Decoding, Picking
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.choose_sets import ChooseSetsCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall

__all__ = ["choose", "decode", "pick"]


@handles(Choosing)
async def choose(walk: RunningWalk, need: Choosing) -> Decision:
    """The model's decision; where it fails the first offers, as the retriever ranks them, with nothing judged."""
    context, numbered = walk.context, need.numbered
    first = dict(itertools.islice(numbered.items(), len(need.offers)))
    before = {number: path for number, path in numbered.items() if number not in first}
    kept = walk.offers(before)
    offers = [
        msgspec.structs.replace(offer, beyond=_extended(first[offer.number], before)) for offer in walk.offers(first)
    ]
    waiting, last = need.waiting, need.last
    kind = ChooseSetsCall if need.operators else ChooseCall
    call = kind(context.question, context.plan, offers, need.width, kept, waiting, last, walk.known)
    try:
        decision = _valid(await context.reasoner.ask(call), numbered)
        decision = msgspec.structs.replace(decision, unproven=walk.quoted(decision.unproven))
    except UNUSABLE as error:
        ranked = _first(walk, len(offers), need.width, error)
        decision = Decision(tuple(offers[choice.number - 1].number for choice in ranked))
    if decision.note:
        walk.warn(decision.note)
    _report_decision(walk, need, decision)
    return decision


def _extended(path: PartialPath, kept: Mapping[int, PartialPath]) -> int:
    """The number of the kept path to which this one adds a step; 0 where it is none of them."""
    before = (path.topic, path.steps[:-1])
    return next((number for number, each in kept.items() if (each.topic, each.steps) == before), 0)


@handles(Picking)
async def pick(walk: RunningWalk, need: Picking) -> tuple[Choice, ...]:
    """The model's choices for one path, unverified; where it fails the first candidates."""
    context = walk.context
    steps = tuple(msgspec.structs.replace(step, path_index=0) for step in need.candidates)
    candidates = walk.candidates([need.path], steps)
    path = walk.shown(need.path) if need.path.steps else None
    try:
        call = BeamCall(context.question, context.plan, path, candidates, need.width)
        choices = _offered(await context.reasoner.ask(call), len(candidates))
    except UNUSABLE as error:
        choices = _first(walk, len(candidates), need.width, error)
    _report_choices(walk, need.depth, candidates, choices, steps)
    return choices


@handles(Decoding)
async def decode(walk: RunningWalk, need: Decoding) -> Decoded | None:
    """The paths that the model was held to and has picked; None where nothing holds it to so many, or it failed.

    Constrained token by token it writes paths of one end each; each stands for its whole path, which is named once.
    What it writes freely is as many paths as it has written, and of these the reply has those that are in the graph.
    """
    reasoner, free = walk.context.reasoner, _free(walk)
    if _by_chain(walk):
        numbered = list(enumerate(representatives(need.partial_paths), 1))
    else:
        apart = [_apart(walk, path) for path in need.partial_paths]
        numbered = [(number, single) for number, singles in enumerate(apart, 1) for single in singles]
    paths = [path for _, path in numbered]
    if len(paths) > reasoner.constraint_limit and not free:
        _warn_of_size(walk, len(paths))
        return None
    candidates = walk.walked(paths)
    try:
        written = await reasoner.ask(_decoding(walk, candidates, need.width))
        choices = _offered([choice for choice in written if not choice.fault], len(candidates))
    except UNUSABLE as error:
        walk.warn(f"no path was written: {error}" if free else f"the paths are picked from hop to hop: {error}")
        return None
    _report_choices(walk, max(len(path.steps) for path in need.partial_paths), candidates, choices, paths)
    chosen = _stood_for(choices, [number for number, _ in numbered])
    level, hypotheses = None if free else reasoner.constraint_level, tuple(map(", ".join, chosen.values()))
    agreeing = _agreeing(choices, candidates)
    return Decoded(level, tuple(chosen), hypotheses, _errors(written) if free else PathErrors(), agreeing)


def _agreeing(choices: Sequence[Choice], candidates: Sequence[PromptCandidate]) -> float | None:
    """The share of hypotheses that name the end of their path; None where there are none."""
    named = [
        choice.hypothesis.casefold() == ", ".join(candidates[choice.number - 1].tails).casefold()
        for choice in choices
        if choice.hypothesis
    ]
    return sum(named) / len(named) if named else None


def _stood_for(choices: Sequence[Choice], whole: Sequence[int]) -> dict[int, list[str]]:
    """The numbers of the whole paths that were chosen in parts, best first, each with the hypotheses of its parts."""
    chosen: dict[int, list[str]] = {}
    for choice in choices:
        hypotheses = chosen.setdefault(whole[choice.number - 1], [])
        if choice.hypothesis and choice.hypothesis not in hypotheses:
            hypotheses.append(choice.hypothesis)
    return chosen


def _errors(written: Sequence[Choice]) -> PathErrors:
    """What is wrong with paths that were written freely."""
    return PathErrors(len(written), dict(Counter(choice.fault for choice in written if choice.fault)))


def _by_chain(walk: RunningWalk) -> bool:
    """Whether a model writes one path for each chain of relations, so that names cost nothing."""
    search, level = walk.context.search, walk.context.reasoner.constraint_level
    return level == "token" and search.form == "groups" and search.path_score == "trie" and not _free(walk)


def _free(walk: RunningWalk) -> bool:
    """Whether paths are written without a constraint."""
    return walk.context.search.decoding == "free"


def _decoding(walk: RunningWalk, candidates: Sequence[PromptCandidate], width: int) -> ReasoningPathsCall:
    """The call that writes or picks so many of these paths, as the settings have it."""
    context, search = walk.context, walk.context.search
    if search.hypotheses == "decoded" and (search.decoding == "free" or context.reasoner.constraint_level != "token"):
        walk.warn("the hypotheses are the ends of the paths: others are decoded by the door token alone")
    return ReasoningPathsCall(
        context.question,
        context.plan,
        candidates,
        width,
        search.path_score,
        freely=_free(walk),
        answers=search.hypotheses == "decoded",
        examples=search.path_examples,
        chains=_by_chain(walk),
    )


def _apart(walk: RunningWalk, path: PartialPath) -> Sequence[PartialPath]:
    """The path as the model is shown it: to one that writes paths as one for each end that has its label."""
    if walk.context.reasoner.constraint_level != "token" and not _free(walk):
        return [path]
    return [path.alone(tail) for tail in path.tails[: walk.context.search.tails]]


def _warn_of_size(walk: RunningWalk, paths: int) -> None:
    """Warns where the constraint that was wanted takes fewer paths than these."""
    reasoner = walk.context.reasoner
    if walk.context.search.door == reasoner.constraint_level and reasoner.constraint_limit:
        most = f"more than the {reasoner.constraint_limit:,} that the door {reasoner.constraint_level} takes"
        walk.warn(f"the paths are picked from hop to hop: {paths:,} are {most}")


def _report_choices(
    walk: RunningWalk,
    depth: int,
    candidates: Sequence[PromptCandidate],
    choices: Sequence[Choice],
    steps: Sequence[Step | PartialPath],
) -> None:
    """Emits what was chosen, and where it leads to."""
    walk.emit(Chosen(depth, tuple(candidates[choice.number - 1].text for choice in choices)))
    walk.reached(depth, "chosen", [steps[choice.number - 1] for choice in choices])


def _valid(decision: Decision, numbered: Mapping[int, PartialPath]) -> Decision:
    """The decision over what was offered. Raises ModelReplyError where it rests on nothing of that."""
    picks = tuple(number for number in decision.picks if type(number) is int and number in numbered)
    if decision.picks and not picks:
        raise ModelReplyError("none of the numbers that it names was offered")
    return msgspec.structs.replace(decision, picks=picks)


def _report_decision(walk: RunningWalk, need: Choosing, decision: Decision) -> None:
    """Emits what was picked, whether that decides, and where it leads to."""
    paths = [need.numbered[number] for number in decision.picks]
    texts = tuple(candidate.text for candidate in walk.walked(paths))
    walk.emit(Chosen(need.depth, texts))
    walk.reached(need.depth, "chosen", paths)
    walk.emit(Verified(need.depth, texts, texts if decision.decides else ()))
    walk.reached(need.depth, "kept", paths)
    walk.reached(need.depth, "finished", paths if decision.decides else ())


def _offered(choices: Sequence[Choice], offered: int) -> tuple[Choice, ...]:
    """The choices whose numbers were offered; a reasoner of one's own may name others.

    Raises ModelReplyError where only such numbers are named.
    """
    valid = tuple(choice for choice in choices if type(choice.number) is int and 0 < choice.number <= offered)
    if choices and not valid:
        raise ModelReplyError("none of the numbers that it names was offered")
    return valid


def _first(walk: RunningWalk, offered: int, width: int, error: ModelError) -> tuple[Choice, ...]:
    """The candidates that rank first, with a warning that no model chose them."""
    walk.unjudged(f"chosen by the retriever's ranking: {error}")
    return tuple(Choice(number) for number in range(1, min(offered, width) + 1))
