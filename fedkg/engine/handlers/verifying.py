"""Verifying: whether walked paths follow, whether the statement can be deduced from them, whether they are enough."""

from collections.abc import Sequence

from fedkg.core.choice import PromptCandidate, Verdict
from fedkg.core.events import Judged, Verified
from fedkg.core.path import PartialPath
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.methods.base import Deducing, Judging
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall

__all__ = ["deduce", "judge"]

LIKELY = 0.5
"""The probability from which on a statement counts as deduced: yes is then at least as likely as no."""


@handles(Deducing)
async def deduce(walk: RunningWalk, need: Deducing) -> tuple[Verdict, ...]:
    """A verdict on each path; where the model fails all of them follow and none finishes."""
    new = len(need.partial_paths)
    candidates = walk.walked((*need.partial_paths, *need.kept))
    try:
        verdicts = await (_likely(walk, candidates, new) if need.weighed else _deduced(walk, candidates, new))
    except UNUSABLE as error:
        walk.unjudged(f"not verified at depth {need.depth}: {error}")
        verdicts = tuple(Verdict(number, follows=True, finishes=False) for number in range(1, new + 1))
    _report(walk, need.depth, candidates, verdicts, need.partial_paths)
    return verdicts


@handles(Judging)
async def judge(walk: RunningWalk, need: Judging) -> bool:
    """Whether the paths are enough to answer; False, with a warning, where the model fails."""
    context = walk.context
    walk.record.last_paths = need.partial_paths
    candidates = walk.walked(need.partial_paths)
    try:
        adequate = await context.reasoner.ask(AdequacyCall(context.question, context.plan, candidates))
    except UNUSABLE as error:
        walk.unjudged(f"whether the paths are enough was not judged: {error}")
        return False
    walk.emit(Judged(tuple(candidate.text for candidate in candidates), adequate))
    return adequate


def _report(
    walk: RunningWalk,
    depth: int,
    candidates: Sequence[PromptCandidate],
    verdicts: Sequence[Verdict],
    paths: Sequence[PartialPath],
) -> None:
    """Emits which of the candidates are kept and which finish, and where these lead to."""
    kept = [verdict.number - 1 for verdict in verdicts if verdict.follows]
    finished = [verdict.number - 1 for verdict in verdicts if verdict.follows and verdict.finishes]
    texts = (tuple(candidates[index].text for index in part) for part in (kept, finished))
    walk.emit(Verified(depth, *texts))
    walk.reached(depth, "kept", [paths[index] for index in kept])
    walk.reached(depth, "finished", [paths[index] for index in finished])


async def _deduced(walk: RunningWalk, candidates: Sequence[PromptCandidate], new: int) -> tuple[Verdict, ...]:
    """The verdicts on the first of the paths, in one call."""
    context = walk.context
    return (await context.reasoner.ask(DeductiveCall(context.question, context.plan, candidates)))[:new]


async def _likely(walk: RunningWalk, candidates: Sequence[PromptCandidate], new: int) -> tuple[Verdict, ...]:
    """The verdicts on the first of the paths by the model's own probabilities, in a call for each."""
    context = walk.context
    shares = [
        await context.reasoner.ask(
            DeducibleCall(context.question, context.plan, path, [other for other in candidates if other is not path])
        )
        for path in candidates[:new]
    ]
    return tuple(Verdict(number, True, share >= LIKELY) for number, share in enumerate(shares, 1))
