"""What a run leaves on disk: a header and one record for each question. Every score is a pure function of these.

A result file is JSON Lines: the header first, then the records in the order in which they finished.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import msgspec

from fedkg.bench.data.definitions import Metric
from fedkg.bench.data.questions import Bad, BenchmarkQuestion, Gold, Missing
from fedkg.config.settings import masked
from fedkg.core.answer import Answer, PathEdge
from fedkg.core.caveat import CaveatKind
from fedkg.core.events import Stage
from fedkg.core.question import JUDGED, Kind
from fedkg.core.terms import Direction, Term, own_name
from fedkg.core.usage import Usage

__all__ = [
    "SCHEMA",
    "VERSION",
    "GivenAnswer",
    "Header",
    "QuestionRecord",
    "StageCount",
    "WalkedEdge",
    "failed",
    "given",
    "shown",
]

SCHEMA = 2
"""Version of header and records."""
VERSION = ("fedkg", "commit", "dirty", "packages")
"""What a header says of who asked."""
SHOWN = 3
"""Paths of a question that its record shows: enough to see why it was answered so, and a file stays small."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What was run, with what: two runs with the same header answer the same questions in the same way.

    `commit` is that of fedkg's source with `dirty` for changes on top, "" where it is not run from a checkout.
    `templates` are version and digest of each call's wording, `data` the SHA-256 of each file that was read, and `pack`
    that of the pack which was replayed. `left_out` are questions that could not be read. `verified`: the endpoint was
    asked again for each edge. `metric` is the measure that the benchmark's papers lead with.
    """

    benchmark: str
    method: str
    model: str
    settings: dict[str, Any]
    questions: int
    limit: int | None
    seed: int
    fedkg: str
    commit: str = ""
    dirty: bool = False
    packages: dict[str, str] = {}
    templates: dict[str, str] = {}
    data: dict[str, str] = {}
    pack: str = ""
    left_out: tuple[Bad, ...] = ()
    verified: bool = True
    metric: Metric = "hits_at_1"
    schema: int = SCHEMA

    @property
    def flat_settings(self) -> dict[str, Any]:
        """Method, model and settings, inner ones by dotted names."""
        flat: dict[str, Any] = {"method": self.method, "model": self.model}
        for name, value in self.settings.items():
            inner = value.items() if isinstance(value, dict) else ()
            flat |= {f"{name}.{key}": inner_value for key, inner_value in inner} or {name: value}
        return flat

    @property
    def version(self) -> dict[str, Any]:
        """Who asked."""
        return {name: getattr(self, name) for name in VERSION}

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it this run and no other: all but who asks, and what the whole run may spend."""
        settings = {name: value for name, value in self.flat_settings.items() if not name.startswith("run.")}
        return settings | {
            name: getattr(self, name) for name in self.__struct_fields__ if name not in {*VERSION, "settings"}
        }


class GivenAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer as it is scored: `key` is its IRI, else its value; `label` its name where it has an IRI.

    `score` is that of its best path, `depth` that path's edges. `confirmed`: the endpoint has confirmed every edge that
    the answer stands on; None where it was not asked, or there is no path.
    """

    key: str
    label: str = ""
    grounded: bool = False
    score: float = 0.0
    depth: int = 0
    confirmed: bool | None = None


class WalkedEdge(msgspec.Struct, frozen=True, array_like=True):
    """One edge of a shown path as it was walked: names for a reader, terms (N-Triples), endpoint, and confirmation.

    `direction` is "in" where the relation leads from `end` to `start`.
    """

    start: str
    relation: str
    end: str
    direction: Direction
    terms: tuple[str, str, str]
    endpoint: str
    confirmed: bool | None


class StageCount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One stage of one depth: how many steps came through, and whether one is on the way to a gold answer."""

    depth: int
    stage: Stage
    steps: int
    gold: bool = False


class QuestionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finished question: what was asked, what was right, what came, on which way, at what cost.

    `status` is that of the answer, or `error` with what it was. `hops` is the depth of the gold answers, `gold_steps`
    as much of the way there as the set says; 0 where it is not known. `gold_facts`: how many of the facts that the set
    names as evidence the graph has, `passed_facts`: how many of them came through each stage. `edges` are those of its
    paths, `valid` of them the endpoint confirms; None where it was not asked. `paths` are a few of them, those of the
    answers first. `templates` are version and digest of the wording of each call that was made. `caveats` are the kinds
    of those that the answer has. `supported`: whether all conditions of the question stand in the graph; None where it
    is not known. `unanswerable`: what the graph lacks, where there is no gold answer on purpose. `confidence` is that
    of the answers, or of what came closest where it was too little.
    """

    id: str
    question: str
    kind: Kind
    status: str
    gold: tuple[Gold, ...] = ()
    answers: tuple[GivenAnswer, ...] = ()
    topics: tuple[str, ...] = ()
    gold_topics: tuple[str, ...] = ()
    hops: int = 0
    gold_steps: int = 0
    passed: tuple[StageCount, ...] = ()
    gold_facts: int = 0
    passed_facts: dict[Stage, int] = {}
    supported: bool | None = None
    unanswerable: Missing = ""
    edges: int = 0
    valid: int | None = None
    gaps: int = 0
    paths: tuple[tuple[WalkedEdge, ...], ...] = ()
    usage: Usage = Usage()
    measures: dict[str, float | str] = {}
    templates: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    caveats: tuple[CaveatKind, ...] = ()
    confidence: float | None = None
    error: str = ""


def given(answer: Answer, confirmed: Sequence[bool | None] | None = None) -> tuple[GivenAnswer, ...]:
    """The answers of a document as they are scored, in its order.

    `confirmed` says of each edge, path by path, whether the endpoint confirms it; None where it was not asked.
    """
    whole = [] if confirmed is None else _whole(answer, confirmed)
    answers = []
    for value in answer.answers:
        paths = [answer.paths[index] for index in value.paths]
        best = max(paths, key=lambda path: path.score, default=None)
        key, label = (value.iri, value.value) if value.iri else (value.value, "")
        score, depth = (best.score, len(best.edges)) if best else (0.0, 0)
        stands = _stands(answer.kind, [whole[index] for index in value.paths]) if whole else None
        answers.append(GivenAnswer(key, label, value.grounded, score, depth, stands))
    return tuple(answers)


def shown(answer: Answer, confirmed: Sequence[bool | None] | None = None) -> tuple[tuple[WalkedEdge, ...], ...]:
    """At most `SHOWN` paths of a document, of each answer its first one before any second.

    `confirmed` as in `given`.
    """
    confirmations = [None] * sum(len(path.edges) for path in answer.paths) if confirmed is None else confirmed
    ends = list(itertools.accumulate((len(path.edges) for path in answer.paths), initial=0))
    first = [value.paths[0] for value in answer.answers if value.paths]
    wanted = list(dict.fromkeys([*first, *range(len(answer.paths))]))[:SHOWN]
    return tuple(
        tuple(
            _walked(edge, confirmation)
            for edge, confirmation in zip(answer.paths[at].edges, confirmations[ends[at] : ends[at + 1]], strict=True)
        )
        for at in wanted
    )


def _walked(step: PathEdge, confirmed: bool | None) -> WalkedEdge:
    edge, legs = step.edge, [step.relation, *([step.through.relation] if step.through else [])]

    def name(term: Term) -> str:
        return step.labels.get(term.text) or own_name(term)

    terms = (edge.start.text, step.relation.text, edge.end.text)
    relation = " / ".join(map(name, legs))
    endpoint = masked(step.endpoint)
    return WalkedEdge(name(edge.start), relation, name(edge.end), step.direction, terms, endpoint, confirmed)


def _whole(answer: Answer, confirmed: Sequence[bool | None]) -> list[bool]:
    """Of each path whether all of its edges are confirmed."""
    ends = list(itertools.accumulate((len(path.edges) for path in answer.paths), initial=0))
    return [all(confirmed[start:end]) for start, end in itertools.pairwise(ends)]


def _stands(kind: Kind, whole: Sequence[bool]) -> bool | None:
    """Whether an answer stands on confirmed paths: an entity on one of them, a verdict or a number on all of them."""
    together = kind in JUDGED or kind == "count"
    return (all if together else any)(whole) if whole else None


def failed(question: BenchmarkQuestion, error: BaseException, kind: Kind | None = None) -> QuestionRecord:
    """The record of a question that ended in an error, with its cost as far as that is known: it counts as wrong.

    `kind` is that of a question whose set leaves it open.
    """
    return QuestionRecord(
        id=question.id,
        question=question.question,
        kind=question.kind or kind or "entities",
        status="error",
        gold=question.answers,
        gold_topics=tuple(topic.iri for topic in question.topic_entities),
        hops=question.hops or len(question.gold_path),
        gold_steps=len(question.gold_path),
        supported=question.supported,
        unanswerable=question.unanswerable,
        usage=getattr(error, "usage", None) or Usage(),
        error=_message(error),
    )


def _message(error: BaseException) -> str:
    # what the operating system says may name a file of this machine, and what others say may hold half a character
    text = f"{type(error).__name__}: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
    return text.encode(errors="backslashreplace").decode()
