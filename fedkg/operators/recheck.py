"""Whether a document's operation comes to its answers, from the values and paths of the document alone.

The graph is not asked: that the edges hold is verified apart. What a document has no room for cannot be rechecked; an
answer that its own values contradict is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from fedkg.core.operation import Computation, Deciding
from fedkg.core.proof import AnswerValue, Path
from fedkg.core.terms import Edge, Iri, Term
from fedkg.operators.comparing import apart
from fedkg.operators.over_sets import ranked
from fedkg.operators.units import stated_unit
from fedkg.operators.values import ReadValue, read

__all__ = ["ComputedDocument", "agrees"]


class ComputedDocument(Protocol):
    """What is looked at of an answer document."""

    @property
    def answers(self) -> tuple[AnswerValue, ...]:
        """The answers."""
        ...

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths."""
        ...

    @property
    def operation(self) -> Computation | None:
        """What was computed."""
        ...


def agrees(document: ComputedDocument) -> bool:
    """Whether every value that decided stands on its path, and the values decide as the document says."""
    operation = document.operation
    if operation is None:
        return True
    if not all(_stands(each, document.paths) for each in operation.deciding):
        return False
    if operation.result not in {"extreme", "compare"} or operation.by is None:
        return True
    values = _values(operation, document.paths)
    if operation.result == "compare" and operation.form != "which":
        return _verdict(operation, list(values.values()), document.answers)
    answering = {value.term for value in document.answers}
    if operation.result == "extreme" and len(values) + operation.missing < operation.members:
        return answering <= values.keys()  # the document shows some of the values only
    return answering <= set(ranked(values, most=operation.most, rank=operation.rank).ends)


def _stands(deciding: Deciding, paths: Sequence[Path]) -> bool:
    """Whether its path has an edge between the end and the value."""
    if not 0 <= deciding.path < len(paths):
        return False
    wanted = {deciding.end, deciding.value}
    edges = (shown.edge for shown in paths[deciding.path].edges)
    return any({edge.start, edge.end} == wanted for edge in edges)


def _values(operation: Computation, paths: Sequence[Path]) -> Mapping[Term, Sequence[ReadValue]]:
    """The values by which ends are compared: those over the operation's own relation."""
    values: dict[Term, list[ReadValue]] = {}
    for each in operation.deciding:
        edges = (shown.edge for shown in paths[each.path].edges)
        over = [edge for edge in edges if _over(operation, edge) and {edge.start, edge.end} == {each.end, each.value}]
        if over:
            value = read(each.value, unit=stated_unit(over[0].qualifiers))
            values.setdefault(each.end, []).extend([value] if value else [])
    return values


def _over(operation: Computation, edge: Edge) -> bool:
    relation: Iri | None = operation.by.relation if operation.by else None
    return edge.relation == relation


def _verdict(operation: Computation, values: Sequence[Sequence[ReadValue]], answers: Sequence[AnswerValue]) -> bool:
    """Of two values: whether they are as far apart, or the first is as much more, as is said."""
    if not answers:
        return True
    if len(values) != 2 or not all(values):
        return False
    if operation.form == "difference":
        distance = apart(values[0][0], values[1][0])
        return distance is not None and f"{distance.normalize():f}" == operation.value == answers[0].value
    first = ranked({"first": values[0], "second": values[1]}, most=operation.most).ends
    return answers[0].value == ("yes" if first == ("first",) else "no")
