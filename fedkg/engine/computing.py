"""What an operation makes of a document: its answers where they are no ends, the paths beside them, what decided."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from fedkg.common.operator_cues import may_compute
from fedkg.core.answer import Answer
from fedkg.core.events import Computed
from fedkg.core.operation import Computation, Deciding
from fedkg.core.proof import AT_LEAST, AnswerValue, Path, PathEdge
from fedkg.core.question import JUDGED, Kind, Plan
from fedkg.core.terms import Term
from fedkg.methods.base import SearchResult

__all__ = ["computed", "computed_event", "computed_plan", "computes"]

COMPARED = re.compile(r"\b(?:than|before|after|earlier|later)\b", re.IGNORECASE)
Composed = tuple[tuple[AnswerValue, ...], tuple[Path, ...], Computation | None]


def computes(question: str, kind: Kind) -> bool:
    """Whether a question of that kind may ask for an operation; of a judgement a comparison is one alone."""
    if kind in JUDGED:
        return kind == "yesno" and bool(COMPARED.search(question))
    return may_compute(question)


def computed_plan(plan: Plan, computation: Computation | None) -> Plan:
    """The plan with the kind of what was computed."""
    if computation is None:
        return plan
    whether = computation.result == "compare" and computation.form == "whether"
    kinds: Mapping[str, Kind] = {"count": "count"}
    kind: Kind = "yesno" if whether else kinds.get(computation.result, "entities")
    return msgspec.structs.replace(plan, kind="literal" if computation.value and kind != "count" else kind)


def computed_event(answer: Answer, operation: Computation) -> Computed:
    """What is told of a document's operation: each end with the value that decided, in one line."""
    values = tuple(f"{answer.name(each.end)}: {answer.name(each.value)}" for each in operation.deciding)
    return Computed(operation.result, operation.members, values)


def computed(
    result: SearchResult, answers: tuple[AnswerValue, ...], paths: tuple[Path, ...], names: Mapping[Term, str]
) -> Composed:
    """The answers and paths of the document, with the operation; as they are where there is none.

    What is no end, a difference of two values or a count of none, rests on all paths. Paths to values that were
    compared stand behind those of the answers. A number of ends of which some could not be decided is a bound.
    """
    computation = result.computation
    if computation is None or not paths:
        return answers, paths, None
    if computation.value:
        value = computation.value
        label = "count" if computation.result == "count" else "difference"
        answers = (AnswerValue(value, label=label, grounded=True, paths=tuple(range(len(paths)))),)
    if computation.result == "count" and computation.missing:
        answers = tuple(map(_at_least, answers))
    walks = (path.walks(path.tails[0]) for path in result.beside if path.tails)
    beside = (Path(0.0, tuple(PathEdge.of(edge, names) for edge in walk)) for walk in walks if walk)
    shown = (*paths, *beside)
    deciding = tuple(
        Deciding(end, value, index)
        for end, value in result.decided
        if (index := _showing(shown, end, value)) is not None
    )
    return answers, shown, msgspec.structs.replace(computation, deciding=deciding)


def _at_least(value: AnswerValue) -> AnswerValue:
    """The number as a bound: what could not be decided may be among what is counted."""
    return msgspec.structs.replace(value, value=f"{AT_LEAST}{value.value.removeprefix(AT_LEAST)}")


def _showing(paths: Sequence[Path], end: Term, value: Term) -> int | None:
    """The path that has an edge between the two; None where none has room in the document."""
    wanted = {end, value}
    return next(
        (index for index, path in enumerate(paths) if any({e.edge.start, e.edge.end} == wanted for e in path.edges)),
        None,
    )
