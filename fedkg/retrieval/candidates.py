"""The candidates for the next step: made of what was fetched, put in order by scores, shown with labels."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.config.settings import Form
from fedkg.core.path import QUALIFIERS, PartialPath, Step
from fedkg.core.terms import BOTH, DirectedRelation, Edge, Iri, Term
from fedkg.graph.explored import ExploredGraph, closed, onward
from fedkg.retrieval.base import Ranking, RankingRequest, RetrievalContext

__all__ = [
    "DEFAULT_CANDIDATES",
    "around",
    "expand",
    "next_steps",
    "ranking",
    "shown_labels",
    "shown_terms",
    "sorted_by",
]

DEFAULT_CANDIDATES = {"groups": 10, "pairs": 30}
"""Steps offered: thirty pairs as in the papers; ten groups hold more of the gold answers than those."""
LABELS = 300
"""Labels that one hop asks for where it needs fewer."""


def around(explored: ExploredGraph, entity: Iri) -> list[Step]:
    """The first steps from an entity whose edges are fetched, as groups, not ranked."""
    return expand(explored, "groups", 0, PartialPath(entity), [entity], back=True)


def next_steps(request: RankingRequest, context: RetrievalContext) -> list[Step]:
    """All candidates over all paths, not ranked; what leads back is a step of its own."""
    return [
        candidate
        for number, (path, nodes) in enumerate(zip(request.partial_paths, request.nodes, strict=True))
        for candidate in expand(context.explored, request.form, number, path, nodes, back=True)
    ]


def ranking(
    ranked: Sequence[Step], labels: dict[Term, str], request: RankingRequest, context: RetrievalContext
) -> Ranking:
    """The ranked candidates as a Ranking.

    Steps that lead back come last: they are seldom meant, and each relation that is walked has one.
    """
    paths, explored = request.partial_paths, context.explored
    complete = all(explored.complete(tail, direction) for path in paths for tail in path.tails for direction in BOTH)
    return Ranking(tuple(_onward_first(ranked, paths)), labels, complete)


async def shown_labels(
    candidates: Sequence[Step], topics: Sequence[Term], context: RetrievalContext, further: Iterable[Term] = ()
) -> dict[Term, str]:
    """The labels of the topics, of the `further` terms, and of all that the candidates show, got in one batch."""
    return await context.labels([*topics, *further, *shown_terms(candidates, context.search.tails)])


def shown_terms(candidates: Sequence[Step], tails: int) -> list[Term]:
    """The terms whose labels are needed: relations, and the first tails of each candidate with their qualifiers.

    Further tails fill up the batch: it is one request anyway, and whatever becomes an answer needs its label.
    """
    terms: dict[Term, None] = {}
    for candidate in candidates:
        terms.update(dict.fromkeys(term for term in (candidate.relation.relation, candidate.relation.via) if term))
        terms.update(dict.fromkeys(candidate.tails[:tails]))
        qualifiers = [leg for edge in candidate.edges[:tails] for leg in edge.qualifiers[:QUALIFIERS]]
        terms.update(dict.fromkeys(term for leg in qualifiers for term in (leg.relation, leg.value)))
    further = (tail for candidate in candidates for tail in candidate.tails[tails:] if tail not in terms)
    return [*terms, *itertools.islice(further, max(0, LABELS - len(terms)))]


def sorted_by(candidates: Sequence[Step], scores: Sequence[float]) -> list[Step]:
    """The candidates with these scores, best first.

    Equal ones in the order of the paths, then of the relations' IRIs.
    """
    scored = [candidate.scored(score) for candidate, score in zip(candidates, scores, strict=True)]
    return sorted(
        scored, key=lambda candidate: (-candidate.score, candidate.path_index, candidate.relation.relation.value)
    )


def expand(
    explored: ExploredGraph, form: Form, number: int, path: PartialPath, nodes: Sequence[Term], *, back: bool = False
) -> list[Step]:
    """The path's next steps: the edges of its ends by relation and direction, those that are `onward` and not `closed`.

    `number` is the path's index. Edges that lead back are left out where others of their relation lead on; with `back`
    they are a step of their own.
    """
    shut = closed(path)
    ahead, behind = onward(
        explored, path, [(node, edge) for node in nodes for edge in explored.edges(node) if edge.end not in shut]
    )
    whole = {direction: all(explored.complete(tail, direction) for tail in path.tails) for direction in BOTH}
    steps = [
        Step(number, relation, tuple(edges), complete=whole[relation.direction])
        for groups in ((ahead, behind) if back else (behind | ahead,))
        for relation, edges in groups.items()
        if not _repeats(relation, edges, groups)
    ]
    return steps if form == "groups" else _pairs(steps)


def _pairs(groups: Sequence[Step]) -> list[Step]:
    """Each edge of each group as a candidate of its own."""
    return [msgspec.structs.replace(group, edges=(edge,)) for group in groups for edge in group.edges]


def _repeats(relation: DirectedRelation, edges: Sequence[Edge], groups: Mapping[DirectedRelation, list[Edge]]) -> bool:
    """Whether an incoming group states what the outgoing one of the same relation states already (spouses, borders)."""
    twins = groups.get(relation.inverse, []) if relation.direction == "in" else []
    return {edge.end for edge in edges} <= {edge.end for edge in twins}


def _onward_first(candidates: Sequence[Step], paths: Sequence[PartialPath]) -> list[Step]:
    """The candidates in their order, but those that lead only to where their path has been behind all others."""
    been = [{path.topic, *(tail for step in path.steps for tail in step.tails)} for path in paths]
    return sorted(candidates, key=lambda candidate: been[candidate.path_index].issuperset(candidate.tails))
