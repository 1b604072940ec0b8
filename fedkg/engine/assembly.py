"""From walked paths to the answers and paths of a document."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.core.answer import MOST_PATHS, AnswerValue, Path, PathEdge
from fedkg.core.choice import Conclusion, ModelOnlyAnswer
from fedkg.core.literals import NUMBERS
from fedkg.core.nameless import nameless
from fedkg.core.path import PartialPath
from fedkg.core.proof import AT_LEAST
from fedkg.core.question import JUDGED, Plan
from fedkg.core.terms import Edge, Iri, Literal, Term, own_name

__all__ = [
    "End",
    "Ends",
    "Selection",
    "compose",
    "doubtful",
    "ends",
    "is_number",
    "remembered",
    "terms",
    "without_nameless",
]

Selection = Sequence[tuple[PartialPath, Sequence[int]]]
"""Paths, each with the numbers (from 1) of its tails that answer, none for all."""


class End(msgspec.Struct, frozen=True):
    """One answering tail, the walk that leads to it, at last over a link where it reached a copy, and its score."""

    tail: Term
    walk: tuple[Edge, ...]
    score: float


class Ends(msgspec.Struct, frozen=True):
    """The answering tails: those that the document shows, how many there are, and whether the endpoint returned all."""

    shown: tuple[End, ...] = ()
    total: int = 0
    complete: bool = True

    @property
    def cut(self) -> int:
        """How many answers there are beyond those that the document shows."""
        return self.total - len({end.tail for end in self.shown})


def doubtful(chosen: Selection) -> list[Iri]:
    """The answering entities that may be copies of one another: none where all are of one endpoint."""
    tails = _tails(chosen)
    entities = {tail: None for _, tail in tails if isinstance(tail, Iri)}
    last = (edge for path, _ in chosen for step in path.steps[-1:] for edge in step.edges)
    endpoints = {edge.endpoint for edge in last if edge.end in entities}
    return list(entities) if len(endpoints) > 1 else []


def ends(chosen: Selection, links: Sequence[Edge] = (), checks: Sequence[PartialPath] = ()) -> Ends:
    """The answering tails, of copies that one of the links joins a single one, with the walks to all of them.

    A tail that no walk leads to is left out: it would be an answer without a path. The last edges of the `checks` are
    further walks to a tail, each from what it leads to there: "Khartoum ← capital ← Sudan".
    """
    tails = _tails(chosen)
    over = _joined([tail for _, tail in tails], links)
    proofs = _proofs(checks)
    walked = (
        End(over[tail].end, (*walk, over[tail]), score) if tail in over else End(tail, walk, score)
        for path, tail in tails
        for walk, score in ((path.walks(tail), path.score), *proofs.get(tail, ()))
        if walk
    )
    first = tuple(itertools.islice(walked, MOST_PATHS))
    shown = tuple(dict.fromkeys(first))  # a path may be chosen for itself, and for where it meets another
    distinct = {tail for _, tail in tails} - over.keys()
    total = len(distinct) if len(first) == MOST_PATHS else len({end.tail for end in shown})
    return Ends(shown, total, all(path.complete or numbers for path, numbers in chosen))


def terms(proven: Ends) -> list[Term]:
    """All terms that the paths show, each once."""
    return list(dict.fromkeys(term for end in proven.shown for edge in end.walk for term in edge.terms))


def without_nameless(proven: Ends, names: Mapping[Term, str]) -> Ends:
    """The answering tails but those that have no name: an identifier is no answer that can be read."""
    dropped = {end.tail for end in proven.shown if nameless(end.tail, names)}
    shown = tuple(end for end in proven.shown if end.tail not in dropped)
    return msgspec.structs.replace(proven, shown=shown, total=proven.total - len(dropped)) if dropped else proven


def compose(
    plan: Plan, proven: Ends, conclusion: Conclusion, names: Mapping[Term, str]
) -> tuple[tuple[AnswerValue, ...], tuple[Path, ...]]:
    """The answers, and the paths that prove them, or that the model's verdict or option rests on."""
    paths = tuple(Path(end.score, tuple(PathEdge.of(edge, names) for edge in end.walk)) for end in proven.shown)
    by_term: dict[Term, list[int]] = {}
    for index, end in enumerate(proven.shown):
        by_term.setdefault(end.tail, []).append(index)
    if plan.kind in JUDGED:
        return _judged(plan, conclusion, paths), paths
    if plan.kind == "count" and not all(map(is_number, by_term)):
        return (_count(proven, paths),), paths
    return tuple(_value(term, names, tuple(indices)) for term, indices in by_term.items()), paths


def remembered(plan: Plan, from_memory: ModelOnlyAnswer | None) -> tuple[AnswerValue, ...]:
    """What a model answered without a graph: never grounded, and without paths."""
    if from_memory is None:
        return ()
    if plan.kind == "choice":
        options = plan.options[from_memory.option - 1 : from_memory.option] if from_memory.option else ()
        return tuple(AnswerValue(text, label=str(from_memory.option)) for text in options)
    values = (from_memory.verdict,) if plan.kind in JUDGED else from_memory.values
    return tuple(AnswerValue(text) for text in values if text)


def _tails(chosen: Selection) -> list[tuple[PartialPath, Term]]:
    """The answering tails, each with its path."""
    return [
        (path, tail)
        for path, numbers in chosen
        for number, tail in enumerate(path.tails, 1)
        if not numbers or number in numbers
    ]


def _joined(entities: Iterable[Term], links: Sequence[Edge]) -> dict[Term, Edge]:
    """The link from each entity that goes by another's name: the shortest IRI; no chain is closed."""
    by_start: dict[Term, list[Edge]] = {}
    for link in links:
        by_start.setdefault(link.start, []).append(link)
    over: dict[Term, Edge] = {}
    kept: set[Term] = set()
    for entity in sorted(set(entities), key=lambda term: (len(term.text), term.text)):
        if named := next((link for link in by_start.get(entity, ()) if link.end in kept), None):
            over[entity] = named
        else:
            kept.add(entity)
    return over


def _proofs(checks: Sequence[PartialPath]) -> dict[Term, list[tuple[tuple[Edge, ...], float]]]:
    """By the end that is checked: the walks back to it over the last edges of the checks, with their scores."""
    proofs: dict[Term, list[tuple[tuple[Edge, ...], float]]] = {}
    for path in checks:
        for edge in path.steps[-1].edges:
            back = tuple(leg.back for leg in reversed(edge.walk))
            proofs.setdefault(edge.start, []).append((back, path.score))
    return proofs


def _value(term: Term, names: Mapping[Term, str], indices: tuple[int, ...]) -> AnswerValue:
    label = names.get(term) or own_name(term)
    iri = term.value if isinstance(term, Iri) else None
    return AnswerValue(label, iri, label, term, grounded=True, paths=indices)


def _judged(plan: Plan, conclusion: Conclusion, paths: Sequence[Path]) -> tuple[AnswerValue, ...]:
    """The verdict, or the option with its number; nothing where no path is left that it rests on."""
    number = conclusion.option if plan.kind == "choice" else 0
    judgement = plan.options[number - 1] if number else conclusion.verdict
    return (
        (AnswerValue(judgement, label=str(number or ""), paths=tuple(range(len(paths)))),)
        if judgement and paths
        else ()
    )


def _count(proven: Ends, paths: Sequence[Path]) -> AnswerValue:
    """How many distinct nodes the paths lead to: counted here, not by the model, and a bound where some are missing."""
    number = str(proven.total) if proven.complete else f"{AT_LEAST}{proven.total}"
    return AnswerValue(number, label="count", grounded=True, paths=tuple(range(len(paths))))


def is_number(term: Term) -> bool:
    """Whether the graph itself has a number, as for "how many inhabitants"."""
    return isinstance(term, Literal) and term.datatype in NUMBERS
