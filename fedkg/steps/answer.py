"""From walked beams to the answers and paths of a document."""

from collections.abc import Iterable, Mapping, Sequence

from fedkg.graph.base import Graph
from fedkg.records import AnswerValue, Beam, Kind, Path, PathEdge
from fedkg.terms import Edge, Iri, Literal, Term, own_name

__all__ = ["MOST_ANSWERS", "compose"]

MOST_ANSWERS = 1_000


async def compose(
    graph: Graph, kind: Kind, chosen: Sequence[tuple[Beam, Sequence[int]]], verdict: str
) -> tuple[tuple[AnswerValue, ...], tuple[Path, ...]]:
    """The answers, and the paths that prove them; an answer without a path is left out.

    `chosen` are beams with the numbers (from 1) of their answering tails, none for all; `verdict` is the model's "yes" or
    "no" on the paths, for questions of that kind.
    """
    ends = [end for beam, numbers in chosen for end in _ends(beam, numbers)]
    ends = ends[:MOST_ANSWERS]
    names = await graph.labels(_terms(edge for _, edges, _ in ends for edge in edges))
    paths = tuple(Path(score, tuple(_shown(edge, names) for edge in edges)) for _, edges, score in ends)
    by_term: dict[Term, list[int]] = {}
    for index, (tail, _, _) in enumerate(ends):
        by_term.setdefault(tail, []).append(index)
    if kind in ("yesno", "claim"):
        return ((AnswerValue(verdict, grounded=bool(paths), paths=tuple(range(len(paths)))),) if verdict else ()), paths
    if kind == "count" and not _is_number(by_term):
        return ((_count(by_term, paths),) if by_term else ()), paths
    return tuple(_value(term, names, tuple(indices)) for term, indices in by_term.items()), paths


def _ends(beam: Beam, numbers: Sequence[int]) -> list[tuple[Term, tuple[Edge, ...], float]]:
    """The answering tails of a beam with a walk to each; numbers count from 1, none means all."""
    tails = [tail for number, tail in enumerate(beam.tails, 1) if not numbers or number in numbers]
    return [(tail, walk, beam.score) for tail in tails if (walk := beam.walks(tail))]


def _terms(edges: Iterable[Edge]) -> list[Term]:
    terms: dict[Term, None] = {}
    for edge in edges:
        terms.update(dict.fromkeys((edge.subject, edge.relation, edge.object)))
        terms.update(dict.fromkeys(term for leg in edge.qualifiers for term in (leg.relation, leg.value)))
        if edge.through:
            terms[edge.through.relation] = None
    return list(terms)


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
