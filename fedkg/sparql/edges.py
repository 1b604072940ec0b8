"""Rows of a neighbour query become edges: mediators collapsed, statements' qualifiers put on their truthy edge."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fedkg.profiles import Mediators
from fedkg.terms import Direction, Edge, Iri, Qualifier, Term, Through

__all__ = ["MAX_LITERAL", "Said", "from_rows", "sort_key"]

MAX_LITERAL = 1_000
"""Longer literals (sequences, geometry, base64) are no answers and no labels: they are left out."""

Row = Mapping[str, Term]
Triple = tuple[Term, Term, Term]
Said = tuple[Direction, str, str]
"""Direction, endpoint and time that all edges of one reply share."""


def from_rows(rows: Sequence[Row], said: Said, mediators: Mediators) -> dict[Iri, list[Edge]]:
    """The edges by the entity they were asked for, sorted so that the order does not depend on the endpoint's."""
    plain = [row for row in rows if "m" not in row]
    statements = [row for row in rows if "c" in row]
    mediated = [row for row in rows if "m" in row and "c" not in row]
    nodes = {row["m"] for row in mediated}
    qualifiers = _qualifiers(statements, mediators)
    found = [
        Edge(row["s"], _iri(row["p"]), row["o"], *said, qualifiers=qualifiers.get((row["s"], row["p"], row["o"]), ()))
        for row in plain
        if not nodes & {row["s"], row["o"]}
    ]
    found += _collapse_outgoing(mediated, said) if said[0] == "out" else _collapse_incoming(mediated, said)
    return _by_start(found)


def sort_key(edge: Edge) -> tuple[str, str, int, str]:
    """By relation, then by tail: the shorter IRI first, which on Wikidata is the older and better known item."""
    via = edge.through.relation.value if edge.through else ""
    return edge.relation.value, via, len(edge.end.text), edge.end.text


def _by_start(edges: Iterable[Edge]) -> dict[Iri, list[Edge]]:
    """The edges that can be shown and asked for again, by the entity that they start from, each once."""
    found: dict[Iri, dict[Edge, None]] = defaultdict(dict)
    for edge in edges:
        askable = edge.subject.queryable and edge.relation.queryable and edge.object.queryable
        usable = askable and len(edge.end.text) <= MAX_LITERAL
        if usable and isinstance(edge.start, Iri):
            found[edge.start][edge] = None
    return {entity: sorted(kept, key=sort_key) for entity, kept in found.items()}


def _collapse_outgoing(rows: Iterable[Row], said: Said) -> Iterator[Edge]:
    """From (s, p, m, q, v): one edge for each leg (q, v) of the mediator m, the other legs as its qualifiers."""
    for (subject, relation, node), legs in _legs(rows, ("s", "p", "m")).items():
        for leg in legs:
            if leg.value != subject:
                others = tuple(other for other in legs if other != leg and other.value != subject)
                yield Edge(subject, _iri(relation), leg.value, *said, others, Through(node, leg.relation))


def _collapse_incoming(rows: Iterable[Row], said: Said) -> Iterator[Edge]:
    """From (s, p, m, w, o, q, v): one edge from s over m to o, which hangs on the leg w, with m's other legs."""
    for (subject, relation, node, last, target), legs in _legs(rows, ("s", "p", "m", "w", "o")).items():
        if subject != target:
            others = tuple(leg for leg in legs if leg.value not in (target, subject))
            yield Edge(subject, _iri(relation), target, *said, others, Through(node, _iri(last)))


def _legs(rows: Iterable[Row], key: Sequence[str]) -> dict[tuple[Term, ...], list[Qualifier]]:
    legs: dict[tuple[Term, ...], dict[Qualifier, None]] = defaultdict(dict)
    for row in rows:
        legs[tuple(row[name] for name in key)][Qualifier(_iri(row["q"]), row["v"])] = None
    return {node: sorted(found, key=_leg_key) for node, found in legs.items()}


def _leg_key(leg: Qualifier) -> tuple[str, str]:
    return leg.relation.value, leg.value.text


def _qualifiers(rows: Iterable[Row], mediators: Mediators) -> dict[Triple, tuple[Qualifier, ...]]:
    """The qualifiers of full statements by the truthy triple that they belong to."""
    by_statement = _legs(rows, ("s", "c", "m", "o"))
    found: dict[Triple, dict[Qualifier, None]] = defaultdict(dict)
    for (subject, claim, _, target), legs in by_statement.items():
        truthy = Iri(mediators.truthy + _iri(claim).value.removeprefix(mediators.claim))
        found[subject, truthy, target].update(dict.fromkeys(legs))
    return {triple: tuple(legs) for triple, legs in found.items()}


def _iri(term: Term) -> Iri:
    """A term in predicate position; an endpoint that says otherwise yields a term that no query accepts."""
    return term if isinstance(term, Iri) else Iri("")
