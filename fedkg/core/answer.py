"""The answer document: the answers, the paths that prove them, and what they cost."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Self

import msgspec

from fedkg.core.encoding import decode, encode
from fedkg.core.question import JUDGED, Kind
from fedkg.core.terms import Direction, Edge, Iri, Qualifier, Term, Through, own_name
from fedkg.core.usage import Gap, ModelCall, Usage
from fedkg.errors import DocumentError, TermError

__all__ = ["DOCUMENT_VERSION", "MOST_PATHS", "Answer", "AnswerValue", "Path", "PathEdge", "Status", "decode_answer"]

DOCUMENT_VERSION = 1
MOST_PATHS = 1_000
"""Most paths that a document shows."""


class Status(StrEnum):
    """How a question ended. "The graph says none", "not found in time" and "an endpoint failed" are three answers."""

    ANSWERED = "answered"
    NONE = "none"
    NOT_FOUND = "not_found"
    FAILED = "failed"
    ABSTAINED = "abstained"


class PathEdge(msgspec.Struct, frozen=True):
    """An edge as the answer document shows it; `labels` maps a term's N-Triples text to its label.

    A link between copies is an edge of its own here: no edge has a `same`.
    """

    subject: Term
    relation: Iri
    object: Term
    direction: Direction
    endpoint: str
    retrieved_at: str
    qualifiers: tuple[Qualifier, ...] = ()
    through: Through | None = None
    labels: dict[str, str] = {}
    identifies: Iri | None = None

    @classmethod
    def of(cls, edge: Edge, names: Mapping[Term, str]) -> Self:
        """The edge with those of the names that stand on it."""
        labels = {term.text: names[term] for term in edge.terms if term in names}
        ends = (edge.subject, edge.relation, edge.object, edge.direction)
        return cls(*ends, edge.endpoint, edge.retrieved_at, edge.qualifiers, edge.through, labels, edge.identifies)

    @property
    def edge(self) -> Edge:
        """The edge without its labels."""
        ends = (self.subject, self.relation, self.object, self.direction)
        return Edge(*ends, self.endpoint, self.retrieved_at, self.qualifiers, self.through, self.identifies)


class Path(msgspec.Struct, frozen=True):
    """One walk from a topic entity to an answer; `score` is the last step's score."""

    score: float
    edges: tuple[PathEdge, ...]

    @property
    def end(self) -> Term | None:
        """Where the walk ends; None where its edges do not connect."""
        walk = [shown.edge for shown in self.edges]
        connected = all(before.end == after.start for before, after in itertools.pairwise(walk))
        return walk[-1].end if walk and connected else None


class AnswerValue(msgspec.Struct, frozen=True):
    """One answer: `value` is what a person reads, `iri` the entity (or None), `term` the graph's own term.

    `grounded` is True where the value is a node or literal at the end of a shown path, or the number of such; a verdict
    or an option is a judgement on its paths and is not. `paths` are indices into the paths. Of an option `value` is the text
    and `label` its number.
    """

    value: str
    iri: str | None = None
    label: str = ""
    term: Term | None = None
    grounded: bool = False
    paths: tuple[int, ...] = ()


def _identifies_nothing(edge: Edge) -> bool:
    return edge.identifies is None


class Answer(msgspec.Struct, frozen=True):
    """The answer document: what `ask --json` prints and `verify` reads.

    `ledger` has the model's calls in their order; `options` are those that a choice was among.
    """

    question: str
    kind: Kind
    status: Status
    answers: tuple[AnswerValue, ...] = ()
    paths: tuple[Path, ...] = ()
    gaps: tuple[Gap, ...] = ()
    usage: Usage = Usage()
    warnings: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    ledger: tuple[ModelCall, ...] = ()
    options: tuple[str, ...] = ()
    method: str = "fidelis"
    measures: dict[str, float | str] = {}
    version: int = DOCUMENT_VERSION

    def unproven(self, identified: Callable[[Edge], bool] = _identifies_nothing) -> tuple[AnswerValue, ...]:
        """The answers that no path of the document proves: edited by hand, or damaged. Labels are not looked at.

        `identified` says whether the object of an edge is an identifier of what the edge claims (`Identity.allows`);
        without it no edge may claim that.
        """
        return tuple(value for value in self.answers if not self._proves(value, identified))

    def _proves(self, value: AnswerValue, identified: Callable[[Edge], bool]) -> bool:
        """Whether connected paths lead to the value, and the value is what the graph's term, or their number, says."""
        own = [self.paths[index] for index in value.paths if 0 <= index < len(self.paths)]
        if len(own) < max(1, len(value.paths)) or not all(
            identified(shown.edge) for path in own for shown in path.edges
        ):
            return False
        if self.kind in JUDGED:
            return self._judges(value) and all(path.end for path in own)
        if value.term is None:
            return self.kind == "count" and value.iri is None and _counts(value.value, own)
        named = isinstance(value.term, Iri) or value.value == own_name(value.term)
        iri = value.term.value if isinstance(value.term, Iri) else None
        return named and value.iri == iri and all(path.end == value.term for path in own)

    def _judges(self, value: AnswerValue) -> bool:
        """Whether the value is the one verdict, or the one option with its number, and claims no more."""
        numbered = {option: str(number) for number, option in enumerate(self.options, 1)}
        told = numbered if self.kind == "choice" else {"yes": "", "no": ""}
        label = told.get(value.value)
        return label is not None and self.answers == (AnswerValue(value.value, label=label, paths=value.paths),)

    def to_json(self) -> bytes:
        """The document as one JSON object, UTF-8."""
        return encode(self)


class _Versioned(msgspec.Struct):
    version: int = DOCUMENT_VERSION


def _counts(value: str, paths: Sequence[Path]) -> bool:
    """Whether the number is that of the distinct ends; a document shows some only of very many."""
    ends = {path.end for path in paths}
    number = value.removeprefix("at least ")
    if None in ends or not number.isdecimal():
        return False
    return int(number) == len(ends) or (len(paths) >= MOST_PATHS and int(number) > len(ends))


def decode_answer(data: bytes) -> Answer:
    """The answer document that JSON stands for. Raises DocumentError where it is none, or one of another version."""
    try:
        version = decode(data, _Versioned).version  # first, since another version may have other fields
        if version == DOCUMENT_VERSION:
            return decode(data, Answer)
    except (msgspec.MsgspecError, TermError, RecursionError) as error:
        raise DocumentError(f"this is no fedkg answer document: {error}") from error
    raise DocumentError(f"answer document version {version} is not known (this is {DOCUMENT_VERSION})")
