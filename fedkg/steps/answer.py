"""From walked beams to the answers and paths of a document."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.records import AnswerValue, Beam, Kind, Path, PathEdge
from fedkg.terms import Edge, Iri, Literal, Term, own_name

__all__ = ["MOST_ANSWERS", "End", "compose", "ends", "terms"]

MOST_ANSWERS = 1_000


class End(msgspec.Struct, frozen=True):
    """One answering tail, the walk that leads to it, and the score of its beam."""

    tail: Term
    walk: tuple[Edge, ...]
    score: float


def ends(chosen: Iterable[tuple[Beam, Sequence[int]]]) -> list[End]:
    """The answering tails of beams, each with the numbers (from 1) of its tails that answer, none for all.

    A tail that no walk leads to is left out: it would be an answer without a path.
    """
    found = (
        End(tail, walk, beam.score)
        for beam, numbers in chosen
        for number, tail in enumerate(beam.tails, 1)
        if (not numbers or number in numbers) and (walk := beam.walks(tail))
    )
    return list(itertools.islice(found, MOST_ANSWERS))


def terms(found: Iterable[End]) -> list[Term]:
    """All terms that the paths show, each once."""
    return _terms(edge for end in found for edge in end.walk)


def compose(
    kind: Kind, found: Sequence[End], verdict: str, names: Mapping[Term, str]
) -> tuple[tuple[AnswerValue, ...], tuple[Path, ...]]:
    """The answers, and the paths that prove them; `verdict` is the model's "yes" or "no", for questions of that kind."""
    paths = tuple(Path(end.score, tuple(_shown(edge, names) for edge in end.walk)) for end in found)
    by_term: dict[Term, list[int]] = {}
    for index, end in enumerate(found):
        by_term.setdefault(end.tail, []).append(index)
    if kind in ("yesno", "claim"):
        return ((AnswerValue(verdict, grounded=bool(paths), paths=tuple(range(len(paths)))),) if verdict else ()), paths
    if kind == "count" and not _is_number(by_term):
        return ((_count(by_term, paths),) if by_term else ()), paths
    return tuple(_value(term, names, tuple(indices)) for term, indices in by_term.items()), paths


def _terms(edges: Iterable[Edge]) -> list[Term]:
    shown: dict[Term, None] = {}
    for edge in edges:
        shown.update(dict.fromkeys((edge.subject, edge.relation, edge.object)))
        shown.update(dict.fromkeys(term for leg in edge.qualifiers for term in (leg.relation, leg.value)))
        if edge.through:
            shown[edge.through.relation] = None
    return list(shown)


def _shown(edge: Edge, names: Mapping[Term, str]) -> PathEdge:
    labels = {term.text: names[term] for term in _terms([edge]) if term in names}
    return PathEdge(
        subject=edge.subject,
        relation=edge.relation,
        object=edge.object,
        direction=edge.direction,
        endpoint=edge.endpoint,
        retrieved_at=edge.retrieved_at,
        qualifiers=edge.qualifiers,
        through=edge.through,
        labels=labels,
    )


def _value(term: Term, names: Mapping[Term, str], indices: tuple[int, ...]) -> AnswerValue:
    label = names.get(term) or own_name(term)
    iri = term.value if isinstance(term, Iri) else None
    return AnswerValue(label, iri, label, term, grounded=True, paths=indices)


def _count(by_term: Mapping[Term, Sequence[int]], paths: Sequence[Path]) -> AnswerValue:
    """How many distinct nodes the paths lead to: counted here, not by the model."""
    return AnswerValue(str(len(by_term)), label="count", grounded=True, paths=tuple(range(len(paths))))


def _is_number(terms: Iterable[Term]) -> bool:
    """Whether the graph itself says a number, as for "how many inhabitants"."""
    found = list(terms)
    return len(found) == 1 and isinstance(found[0], Literal) and found[0].value.lstrip("+-").replace(".", "").isdigit()
