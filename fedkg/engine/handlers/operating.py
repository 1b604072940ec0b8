"""Operating: what the model has computed over the ends of paths."""

from collections.abc import Sequence

from fedkg.core.caveat import CaveatKind
from fedkg.core.choice import PromptCandidate
from fedkg.core.operation import Operation
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import own_name
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.engine.presentation import relation_candidate, safe
from fedkg.errors import ModelDeclinedError
from fedkg.methods.base import Operating
from fedkg.reasoner.calls.operate import OperateCall

__all__ = ["operate"]

NOT_NAMED = "what has to be computed over the ends: the model's reply was unusable"
SAMPLES = 2
"""Values that a relation is shown with."""


@handles(Operating)
async def operate(walk: RunningWalk, need: Operating) -> Operation | None:
    """The operation; None where there is none, and, with a warning and a caveat, where the model fails."""
    context = walk.context
    await walk.label([*need.partial_paths, *(_edge_path(step) for step in need.relations)])
    paths = walk.walked(need.partial_paths)
    relations = _relations(walk, need.relations)
    walked = tuple(step.relation for step in need.relations)
    try:
        call = OperateCall(context.question, context.plan, paths, relations, walked, need.operator)
        return await context.reasoner.ask(call)
    except ModelDeclinedError:
        return None
    except UNUSABLE as error:
        walk.warn(f"what has to be computed was not said: {error}")
        walk.admit(CaveatKind.UNPROVEN, NOT_NAMED)
        return None


def _edge_path(step: Step) -> PartialPath:
    """The step as a path, whose labels are those that are shown; it starts wherever its first edge does."""
    return PartialPath(step.relation.relation, (step,))


def _relations(walk: RunningWalk, steps: Sequence[Step]) -> list[PromptCandidate]:
    """Each relation with samples and the number of ends that have it: `→ area →: 17, 4 (3 ends)`."""
    labels = walk.record.labels
    shown = []
    for number, step in enumerate(steps, 1):
        candidate = relation_candidate(number, step.relation, labels)
        samples = ", ".join(safe(labels.get(tail) or own_name(tail)) for tail in step.tails[:SAMPLES])
        having = len({edge.start for edge in step.edges})
        text = f"{candidate.text} {samples} ({having} {'end' if having == 1 else 'ends'})"
        shown.append(PromptCandidate(number, text, candidate.relations, (samples,), directions=candidate.directions))
    return shown
