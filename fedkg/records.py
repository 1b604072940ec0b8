"""The records that cross a step, and the answer document as JSON.

All are frozen. Records hold terms, never text that was cut or decorated for a prompt; what a model sees is in `Offer`.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, Self, TypeVar

import msgspec

from fedkg.errors import DocumentError, TermError
from fedkg.terms import DirectedRelation, Direction, Edge, Iri, Qualifier, Term, Through, own_name, parse_term

__all__ = [
    "DOCUMENT_VERSION",
    "JUDGED",
    "MOST_PATHS",
    "QUALIFIERS",
    "Answer",
    "AnswerValue",
    "Beam",
    "Candidate",
    "Conclusion",
    "Gap",
    "Kind",
    "Match",
    "Mention",
    "ModelCall",
    "Neighbourhood",
    "Offer",
    "Path",
    "PathEdge",
    "Pick",
    "Plan",
    "Recalled",
    "RelationPath",
    "Status",
    "Style",
    "Usage",
    "Verdict",
    "decode",
    "decode_answer",
    "encode",
    "to_builtins",
]

DOCUMENT_VERSION = 1
MOST_PATHS = 1_000
"""Most paths that a document shows."""
QUALIFIERS = 3
"""Most qualifiers of one edge that are shown to a model."""

T = TypeVar("T")

Kind = Literal["entities", "literal", "count", "yesno", "claim", "choice"]
Style = Literal["io", "few-shot", "cot"]
"""How a model is asked without a graph: for the answer alone, with examples, or to think before it answers."""
JUDGED: frozenset[Kind] = frozenset({"yesno", "claim", "choice"})
"""Kinds whose answer is a judgement on several paths together, yes, no or an option, and not the end of a path."""


class Status(StrEnum):
    """How a question ended. "The graph says none", "not found in time" and "an endpoint failed" are three answers."""

    ANSWERED = "answered"
    NONE = "none"
    NOT_FOUND = "not_found"
    FAILED = "failed"
    ABSTAINED = "abstained"


class Match(msgspec.Struct, frozen=True):
    """An entity that a text may mean.

    `score` in 0..1: 1.0 for an exact label, at least 0.8 for another spelling and an alias, less for a name that is only
    like the text. `description` and `type` say in words what it is, where that is known; `mention` is the question's own
    words.
    """

    iri: Iri
    label: str
    score: float
    description: str = ""
    mention: str = ""
    type: str = ""


class Plan(msgspec.Struct, frozen=True):
    """What the plan call says of a question (FiDeLiS v4, appendix C.1): keywords K, steps w, the declarative statement q'.

    `statement` keeps the text *placeholder* where the answer goes; `mentions` are the entities that the question names;
    `options` are what a question of the kind `choice` offers, in its order.
    """

    keywords: tuple[str, ...]
    steps: tuple[str, ...] = ()
    statement: str = ""
    kind: Kind = "entities"
    mentions: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Neighbourhood(msgspec.Struct, frozen=True):
    """The edges of one entity in one direction, as one endpoint said them.

    `complete` is False where something was left out, `cut` says what; `failed` is the endpoint's error, if it failed. `links`
    lead to the entity's copies, which a federation joins.
    """

    entity: Iri
    direction: Direction
    edges: tuple[Edge, ...]
    endpoint: str
    retrieved_at: str
    complete: bool = True
    cut: str = ""
    failed: str = ""
    links: tuple[Edge, ...] = ()


class Candidate(msgspec.Struct, frozen=True):
    """One possible next step of one beam: a relation with tails (a group), or a single edge (a pair).

    `beam` is the index of the beam that it extends, `score` is S((r, e)) of FiDeLiS v4 Eq. 2, `complete` whether the
    endpoint gave all tails.
    """

    beam: int
    relation: DirectedRelation
    edges: tuple[Edge, ...]
    score: float = 0.0
    complete: bool = True

    @property
    def tails(self) -> tuple[Term, ...]:
        """The distinct nodes that the step leads to, in the order of the edges."""
        return tuple(dict.fromkeys(edge.end for edge in self.edges))


class Beam(msgspec.Struct, frozen=True):
    """A hypothesis of the search: a topic entity and the steps walked from it; `score` is its last step's score."""

    topic: Iri
    steps: tuple[Candidate, ...] = ()
    score: float = 0.0

    @property
    def tails(self) -> tuple[Term, ...]:
        """Where the walk has come to: the topic itself before the first step."""
        return self.steps[-1].tails if self.steps else (self.topic,)

    @property
    def chain(self) -> tuple[DirectedRelation, ...]:
        """The relations walked so far."""
        return tuple(step.relation for step in self.steps)

    @property
    def complete(self) -> bool:
        """Whether every step has all the tails that the graph has."""
        return all(step.complete for step in self.steps)

    def ancestors(self) -> dict[Term, frozenset[Term]]:
        """For each node at the beam's end what lies on every walk to it: to go there again would be to go back."""
        before: dict[Term, frozenset[Term]] = {self.topic: frozenset()}
        for step in self.steps:
            here: dict[Term, frozenset[Term]] = {}
            for edge in step.edges:
                copy = {edge.same.end} if edge.same else set()
                on_the_way = before.get(edge.start, frozenset()) | {edge.start} | copy
                here[edge.end] = here[edge.end] & on_the_way if edge.end in here else on_the_way
            before = here
        return before

    def walks(self, tail: Term) -> tuple[Edge, ...]:
        """One walk from the topic to that tail, with the links between copies of an entity as edges of their own.

        Empty where the steps do not connect, which no shown path may be.
        """
        return tuple(leg for edge in self._walk(tail) for leg in edge.walk)

    def alone(self, tail: Term) -> "Beam":
        """One walk to that tail, as a path of which no step has a second end; itself where the steps do not connect."""
        walk = self._walk(tail)
        steps = (msgspec.structs.replace(step, edges=(edge,)) for step, edge in zip(self.steps, walk, strict=False))
        return Beam(self.topic, tuple(steps), self.score) if walk else self

    def _walk(self, tail: Term) -> tuple[Edge, ...]:
        """One edge of each step, which together lead to that tail; empty where the steps do not connect."""
        edges: list[Edge] = []
        node = tail
        for step in reversed(self.steps):
            edge = next((edge for edge in step.edges if edge.end == node), None)
            if edge is None:
                return ()
            edges.insert(0, edge)
            node = edge.start
        return tuple(edges) if node == self.topic else ()

    def extend(self, step: Candidate) -> "Beam":
        """This beam with one more step."""
        return Beam(self.topic, (*self.steps, step), step.score)


class Offer(msgspec.Struct, frozen=True):
    """What a reasoning model is shown of one path or candidate, already safe to enter a prompt.

    `number` counts from 1, `text` is one line, `relations` are the names along the whole chain, `tails` the labels or
    values at its end (a bounded number, best first), `more` how many further tails there are; `topic` is how the question
    names the entity where the path starts.
    """

    number: int
    text: str
    relations: tuple[str, ...] = ()
    tails: tuple[str, ...] = ()
    more: int = 0
    score: float = 0.0
    topic: str = ""


class Pick(msgspec.Struct, frozen=True):
    """A chosen offer: `follows` = local verification, `finishes` = local and global (FiDeLiS v4 section 3.2)."""

    number: int
    follows: bool = True
    finishes: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """The deductive verification of one path: C_local and C_global of FiDeLiS v4 section 3.2."""

    number: int
    follows: bool
    finishes: bool


class Conclusion(msgspec.Struct, frozen=True):
    """What the answer call says: which offered paths answer the question.

    `tails` maps a path's number to the numbers of its tails that answer (empty: all of them). `verdict` is "yes" or
    "no" for yes/no questions and claims, `option` the number (from 1) of the right one for a choice, 0 for none. `note` is
    said with the answer, as a warning.
    """

    paths: tuple[int, ...] = ()
    tails: dict[int, tuple[int, ...]] = {}
    verdict: Literal["yes", "no", ""] = ""
    option: int = 0
    note: str = ""


class Mention(msgspec.Struct, frozen=True):
    """A name in a question, and the entities that are called so, the best first."""

    text: str
    matches: tuple[Match, ...]


class RelationPath(msgspec.Struct, frozen=True):
    """A planned chain of relations, by the numbers of the offered ones, with its weight in 0..1 (EPERM, evidence path finder)."""

    relations: tuple[int, ...]
    weight: float = 1.0


class Recalled(msgspec.Struct, frozen=True):
    """What a model answers from its memory alone: never grounded.

    `values` are its answers in its own words, `verdict` and `option` as in a Conclusion.
    """

    values: tuple[str, ...] = ()
    verdict: Literal["yes", "no", ""] = ""
    option: int = 0


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


class ModelCall(msgspec.Struct, frozen=True):
    """One call of a model: a line of the ledger.

    `template` is the version and digest of its wording, `model` VENDOR:MODEL; tokens as the vendor counts them (`cached` and
    `written`, read from its prompt cache and put into it, are parts of `tokens_in`, `reasoning` of `tokens_out`); wall-clock `seconds`; `retries` after failures; `price` in US dollars,
    None where the price table does not know the model; `replayed`: the reply was kept from an earlier time, with the tokens
    that it cost then; `error` is the class of what it ended with, also of a reply that could not be used.
    """

    call: str
    template: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    reasoning: int = 0
    seconds: float = 0.0
    retries: int = 0
    price: float | None = None
    replayed: bool = False
    error: str = ""
    written: int = 0


class Gap(msgspec.Struct, frozen=True):
    """Something that is missing from the walk: who left it out, what it was, and why."""

    endpoint: str
    asked: str
    reason: str


class Usage(msgspec.Struct, frozen=True):
    """What a question cost, apart from others that the session is asked at the same time.

    `requests` to endpoints, by kind in `by_kind`; `round_trips` = waves of requests that were waited for one after the
    other; `bytes` received; `cache_hits` = neighbourhoods and labels that needed no request; `labels_embedded`;
    `model_calls`; tokens as the vendor counts them (`cached` are part of `tokens_in`); wall-clock `seconds`; `spent` names
    the budget that ended the question: "calls", "tokens", "money" or "seconds", "run calls" and so on where it was that of
    the whole run, "" where none did. `price` of the model calls in US dollars, None where it is not known.
    """

    requests: int = 0
    round_trips: int = 0
    bytes: int = 0
    cache_hits: int = 0
    labels_embedded: int = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    by_kind: dict[str, int] = {}
    spent: str = ""
    cached: int = 0
    price: float | None = None

    def since(self, before: "Usage") -> "Usage":
        """The counts that came on top of `before`; time and budget are not counts."""
        old, new = msgspec.structs.asdict(before), msgspec.structs.asdict(self)
        counts = {name: new[name] - old[name] for name in old if isinstance(old[name], int)}
        by_kind = {kind: count - before.by_kind.get(kind, 0) for kind, count in sorted(self.by_kind.items())}
        price = None if self.price is None or before.price is None else self.price - before.price
        return Usage(**counts, by_kind={kind: count for kind, count in by_kind.items() if count}, price=price)


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


def _encode_hook(value: object) -> str:
    if isinstance(value, Term):
        return value.text
    raise TypeError(f"no JSON for {type(value).__name__}")


def _decode_hook(kind: type, value: object) -> Term:
    term = parse_term(str(value))
    if not isinstance(term, kind):
        raise TermError(f"expected an IRI, got {value!r}")
    return term


def encode(record: object) -> bytes:
    """Any record as JSON, UTF-8; terms as N-Triples text."""
    return msgspec.json.encode(record, enc_hook=_encode_hook)


def to_builtins(record: object) -> Any:
    """Any record as plain dicts, lists and strings."""
    return msgspec.to_builtins(record, enc_hook=_encode_hook)


def decode(data: bytes, kind: type[T]) -> T:
    """The record that JSON stands for. Raises msgspec.MsgspecError or TermError where it is another."""
    return msgspec.json.decode(data, type=kind, dec_hook=_decode_hook)


def decode_answer(data: bytes) -> Answer:
    """The answer document that JSON stands for. Raises DocumentError where it is none, or one of another version."""
    try:
        version = decode(data, _Versioned).version  # first, since another version may have other fields
        if version == DOCUMENT_VERSION:
            return decode(data, Answer)
    except (msgspec.MsgspecError, TermError, RecursionError) as error:
        raise DocumentError(f"this is no fedkg answer document: {error}") from error
    raise DocumentError(f"answer document version {version} is not known (this is {DOCUMENT_VERSION})")
