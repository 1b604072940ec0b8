"""An answer as a table of pandas."""

from collections.abc import Iterator
from typing import Any

from fedkg.core.answer import Answer
from fedkg.core.proof import AnswerValue, PathEdge
from fedkg.core.terms import Iri, Term
from fedkg.errors import MissingExtraError

__all__ = ["COLUMNS", "answer_frame"]

COLUMNS = (
    "answer label iri grounded path score step subject relation object direction endpoint subject_iri relation_iri "
    "object_iri retrieved_at"
).split()
"""The columns: of the answer, of its path, and of one step of that; `path` and `step` count from 1."""
WHOLE = ("path", "step")


def answer_frame(answer: Answer) -> Any:
    """A `pandas.DataFrame`: a row for each step of each path of each answer; an answer without a path has one row.

    Paths that prove no answer follow. What there is not is missing (NA). Raises MissingExtraError without pandas.
    """
    try:
        import pandas as pd  # noqa: PLC0415  # an optional extra
    except ImportError as error:
        raise MissingExtraError("a table needs pandas", hint="pip install 'fedkg[notebook]'") from error
    frame = pd.DataFrame([*_rows(answer)], columns=COLUMNS)
    return frame.astype(dict.fromkeys(WHOLE, "Int64"))


def _rows(answer: Answer) -> Iterator[dict[str, Any]]:
    proving = {index for value in answer.answers for index in value.paths}
    for value in answer.answers:
        if not value.paths:
            yield _of(value)
        for index in value.paths:
            yield from (_of(value) | step for step in _steps(answer, index))
    for index in range(len(answer.paths)):
        if index not in proving:
            yield from _steps(answer, index)


def _of(value: AnswerValue) -> dict[str, Any]:
    return {"answer": value.value, "label": value.label, "iri": value.iri, "grounded": value.grounded}


def _steps(answer: Answer, index: int) -> Iterator[dict[str, Any]]:
    path = answer.paths[index]
    for number, edge in enumerate(path.edges, 1):
        yield {"path": index + 1, "score": path.score, "step": number} | _edge(edge)


def _edge(edge: PathEdge) -> dict[str, Any]:
    return {
        "subject": edge.label(edge.subject),
        "relation": edge.label(edge.relation),
        "object": edge.label(edge.object),
        "direction": edge.direction,
        "endpoint": edge.endpoint,
        "subject_iri": _iri(edge.subject),
        "relation_iri": edge.relation.value,
        "object_iri": _iri(edge.object),
        "retrieved_at": edge.retrieved_at,
    }


def _iri(term: Term) -> str | None:
    return term.value if isinstance(term, Iri) else None
