"""Operating: what the model has computed over the ends of paths; and the names of ends that it goes by."""

import re
from collections.abc import Mapping, Sequence

from fedkg.common.operator_cues import may_name
from fedkg.core.caveat import CaveatKind
from fedkg.core.choice import PromptCandidate
from fedkg.core.nameless import nameless
from fedkg.core.operation import Operation
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Iri, Term, own_name
from fedkg.engine.handlers.base import UNUSABLE, RunningWalk, handles
from fedkg.engine.presentation import relation_candidate, safe
from fedkg.errors import ModelDeclinedError
from fedkg.methods.base import Naming, Operating
from fedkg.operators.values import read
from fedkg.reasoner.calls.operate import OperateCall

__all__ = ["name_ends", "operate"]

NOT_NAMED = "what has to be computed over the ends: the model's reply was unusable"
NOT_YEARS = re.compile(r"\b(?:days?|weeks?|months?)\b", re.IGNORECASE)
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
    names = _own_names(walk, need) if may_name(context.question) else ""
    try:
        call = OperateCall(context.question, context.plan, paths, relations, walked, need.operator, names)
        operation = await context.reasoner.ask(call)
    except ModelDeclinedError:
        return None
    except UNUSABLE as error:
        walk.warn(f"what has to be computed was not said: {error}")
        walk.admit(CaveatKind.UNPROVEN, NOT_NAMED)
        return None
    if (unit := NOT_YEARS.search(context.question)) and _of_dates(operation, need.relations):
        walk.admit(CaveatKind.UNPROVEN, f"{unit.group().lower()}: dates are told apart by their years alone")
    return operation


def _of_dates(operation: Operation, relations: Sequence[Step]) -> bool:
    """Whether it asks how far dates are apart."""
    if operation.result != "compare" or operation.form != "difference":
        return False
    values = (read(tail) for step in relations if step.relation == operation.by for tail in step.tails)
    return any(value and value.kind == "date" for value in values)


@handles(Naming)
async def name_ends(walk: RunningWalk, need: Naming) -> Mapping[Term, str]:
    """The names of the terms, without identifiers that stand for a missing one."""
    labels = await walk.context.explored.graph.labels(need.terms)
    walk.record.labels |= labels
    return {term: label for term, label in labels.items() if not nameless(term, labels)}


def _own_names(walk: RunningWalk, need: Operating) -> str:
    """The names of the first ends; "" where they are values."""
    labels = walk.record.labels
    ends = dict.fromkeys(tail for path in need.partial_paths for tail in path.tails if isinstance(tail, Iri))
    named = (labels[end] for end in ends if end in labels and not nameless(end, labels))
    return ", ".join(safe(name) for name, _ in zip(named, range(SAMPLES), strict=False))


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
