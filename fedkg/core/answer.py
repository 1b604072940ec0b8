"""The answer document: the answers, the paths that prove them, and what they cost."""

import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import msgspec

from fedkg.common.notebook import display_module
from fedkg.core import rendering
from fedkg.core.caveat import Caveat
from fedkg.core.encoding import decode, encode
from fedkg.core.operation import Computation
from fedkg.core.proof import AT_LEAST, AnswerValue, Path, PathEdge, Status
from fedkg.core.question import JUDGED, Kind
from fedkg.core.rendering import RenderedLine
from fedkg.core.terms import Edge, Iri, Term, own_name
from fedkg.core.usage import Gap, ModelCall, Usage
from fedkg.errors import DocumentError, TermError

__all__ = ["DOCUMENT_VERSION", "MOST_PATHS", "Answer", "AnswerValue", "Path", "PathEdge", "Status", "decode_answer"]

DOCUMENT_VERSION = 1
MOST_PATHS = 1_000
"""Most paths that a document holds."""
MOST_SHOWN = {"answers": 50, "paths": 20}
"""Most answers and paths that a text shows unless all are asked for."""
ALL = "text(everything=True) shows all of them"


def _identifies_nothing(edge: Edge) -> bool:
    return edge.identifies is None


class Answer(msgspec.Struct, frozen=True):
    """The answer document: what `ask --json` prints and `verify` reads.

    `ledger` has the model's calls in their order; `options` are those that a choice was among. `caveats` are what the
    answer admits, each with what it is about. `confidence` is how likely the answers are right, in 0..1; None where the
    model gives none. `closest` is what a search came to that had too little of it to be an answer: the graph states it.
    `operation` is what was computed over the ends of paths, `query` one SPARQL query that gives the same answers; empty
    where none can.
    """

    question: str
    kind: Kind
    status: Status
    answers: tuple[AnswerValue, ...] = ()
    paths: tuple[Path, ...] = ()
    gaps: tuple[Gap, ...] = ()
    usage: Usage = msgspec.field(default_factory=Usage)
    warnings: tuple[str, ...] = ()
    settings: dict[str, Any] = {}
    ledger: tuple[ModelCall, ...] = ()
    options: tuple[str, ...] = ()
    method: str = "fidelis"
    measures: dict[str, float | str] = {}
    caveats: tuple[Caveat, ...] = ()
    confidence: float | None = None
    closest: tuple[AnswerValue, ...] = ()
    operation: Computation | None = None
    query: str = ""
    version: Annotated[int, msgspec.Meta(ge=DOCUMENT_VERSION, le=DOCUMENT_VERSION)] = DOCUMENT_VERSION

    def unproven(self, identified: Callable[[Edge], bool] = _identifies_nothing) -> tuple[AnswerValue, ...]:
        """The answers that no path of the document proves: edited by hand, or damaged. Labels are not looked at.

        `identified` says whether the object of an edge is an identifier of what the edge claims (`Identity.allows`);
        without it no edge may claim that.
        """
        if self.operation and not _agrees(self):
            return self.answers
        sound = [all(identified(shown.edge) for shown in path.edges) for path in self.paths]
        return tuple(value for value in self.answers if not self._proves(value, sound))

    def _proves(self, value: AnswerValue, sound: Sequence[bool]) -> bool:
        """Whether connected paths lead to the value, and the value is what the graph's term, or their number, says.

        `sound` says of each path whether its edges may claim what they claim.
        """
        indices = dict.fromkeys(value.paths)
        if not indices or not all(0 <= index < len(sound) and sound[index] for index in indices):
            return False
        proofs = [self.paths[index] for index in indices]
        if self.kind in JUDGED:
            return self._judges(value) and all(path.end for path in proofs)
        if value.term is None and self.operation and self.operation.value:
            return value.value == self.operation.value and value.iri is None and all(path.end for path in proofs)
        if value.term is None:
            return self.kind == "count" and value.iri is None and _counts(value.value, proofs)
        named = isinstance(value.term, Iri) or value.value == own_name(value.term)
        iri = value.term.value if isinstance(value.term, Iri) else None
        return named and value.iri == iri and all(path.end == value.term for path in proofs)

    def _judges(self, value: AnswerValue) -> bool:
        """Whether the value is the one verdict, or the one option with its number, and claims no more."""
        if len(self.answers) != 1:
            return False
        numbered = {option: str(number) for number, option in enumerate(self.options, 1)}
        labels = numbered if self.kind == "choice" else {"yes": "", "no": ""}
        label = labels.get(value.value)
        return label is not None and self.answers == (AnswerValue(value.value, label=label, paths=value.paths),)

    def text(self, *, everything: bool = False) -> str:
        """The answers with their caveats, each path as a proof, the status, gaps, warnings and the usage.

        As `fedkg ask` prints them, in plain lines without colours; labels are made harmless for a terminal. Of many
        answers and paths the first are shown, with `everything` all of them.
        """
        return rendering.text(self.lines(everything=everything))

    def _repr_html_(self) -> str:
        """The same for a notebook, with the proof as a drawing; escaped, without scripts and links."""
        return str(display_module("proof").answer_html(self))

    def to_dataframe(self) -> Any:
        """A `pandas.DataFrame` with a row for each step of each path of each answer.

        Its columns: `answer`, `label`, `iri` and `grounded` of the answer; `path` and `score`; `step`, `subject`,
        `relation`, `object`, `direction`, `endpoint`, `subject_iri`, `relation_iri`, `object_iri` and `retrieved_at` of
        the step. What has no path has one row, whose other cells are missing. Raises MissingExtraError without pandas.
        """
        return display_module("frame").answer_frame(self)

    def lines(self, *, everything: bool = False, more: str = ALL) -> Iterator[RenderedLine]:
        """The lines of `text`, each in parts that say what they are; `more` says how all of many would be shown."""
        answers, paths = (None, None) if everything else MOST_SHOWN.values()
        for value in self.answers[:answers]:
            yield rendering.value_line(value, self.kind)
        yield from rendering.more_lines(len(self.answers), answers, "answers", more)
        yield from self.computed()
        yield from map(rendering.caveat_line, self.caveats if self.answers else ())
        heading = "proof" if any(value.paths for value in self.answers) else "path"
        for number, path in enumerate(self.paths[:paths], 1):
            yield from rendering.path_lines(path, f"{heading} {number}")
        yield from rendering.more_lines(len(self.paths), paths, "paths", more)
        if self.answers or self.paths:
            yield ()
        yield from self._ending()

    def computed(self) -> Iterator[RenderedLine]:
        """The line that tells what was computed, and from which values; none where the ends of paths answer."""
        if self.operation and self.answers and (line := rendering.operation_line(self.operation, self.name)):
            yield line

    def name(self, term: Term) -> str:
        """The name that the document's edges have for a term."""
        labels = (label for path in self.paths for edge in path.edges if (label := edge.labels.get(term.text)))
        return next(labels, own_name(term))

    def _ending(self) -> Iterator[RenderedLine]:
        """How it ended, what is missing, and what it cost."""
        yield rendering.status_line(self.status)
        if self.closest:
            yield rendering.closest_line(self.closest)
        yield from map(rendering.caveat_line, () if self.answers else self.caveats)
        yield from map(rendering.gap_line, self.gaps)
        for warning, times in Counter(self.warnings).items():
            yield rendering.warning_line(warning, times)
        yield rendering.usage_line(self.usage, sum(call.replayed for call in self.ledger))

    def to_json(self) -> bytes:
        """The document as one JSON object, UTF-8."""
        return encode(self)


class _Versioned(msgspec.Struct):
    version: int = DOCUMENT_VERSION


def _agrees(answer: Answer) -> bool:
    """Whether the values of the document come to its answers; what computes that stands on a floor above."""
    return bool(importlib.import_module("fedkg.operators.recheck").agrees(answer))


def _counts(value: str, paths: Sequence[Path]) -> bool:
    """Whether the number is that of the distinct ends; a document shows some only of very many."""
    ends = {path.end for path in paths}
    number = value.removeprefix(AT_LEAST)
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
