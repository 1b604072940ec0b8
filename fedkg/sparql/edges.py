"""Rows of a neighbour query become edges: mediators collapsed, a truthy edge for each of its statements.

What an edge is does not depend on the order of the rows, nor on what else was asked for in the same query.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from fedkg.config.profiles import Mediators, Shape
from fedkg.core.terms import UNKNOWN, Blank, Direction, Edge, Iri, Literal, Qualifier, Term, Through
from fedkg.errors import NotSparqlError
from fedkg.sparql.mediators import mediated

__all__ = ["MAX_LITERAL", "MAX_QUALIFIERS", "ReplyOrigin", "from_rows", "sort_key"]

MAX_LITERAL = 1_000
"""Longer literals (sequences, geometry, base64) are no answers and no labels: they are left out."""

MAX_QUALIFIERS = 32
"""Most qualifiers of one edge: a mediator of thousands of legs is an entity without a name, no n-ary fact."""

VALUES = ("o", "v")
"""The variables that hold values: what a statement or a qualifier says."""

NO_STATEMENT: list[tuple[Qualifier, ...]] = [()]

Row = Mapping[str, Term]
Triple = tuple[Term, Term, Term]
ReplyOrigin = tuple[Direction, str, str]
"""Direction, endpoint and time that all edges of one reply share."""


def from_rows(rows: Sequence[Row], origin: ReplyOrigin, shape: Shape) -> dict[Iri, list[Edge]]:
    """The edges by the entity they were asked for, sorted so that the order does not depend on the endpoint's.

    A value that the graph does not know is `UNKNOWN`. Raises NotSparqlError for rows without the variables of
    `build.neighbours`: they answer another query.
    """
    if shape.unknown:
        hidden = ("_:", f"<{shape.unknown}")
        rows = [_known(row, hidden) for row in rows]
    try:
        return _by_start(_edges(rows, origin, shape))
    except KeyError as error:
        raise NotSparqlError(f"{origin[1]} sent rows without the variable {error}", endpoint=origin[1]) from error


SortKey = tuple[str, str, int, str, str, tuple[tuple[str, str], ...]]


def sort_key(edge: Edge) -> SortKey:
    """By relation, then by tail: the shorter IRI first, which on Wikidata is the older and better known item.

    Edges of one entity, direction and reply that have the same key are equal.
    """
    via, node = (edge.through.relation.value, edge.through.node.text) if edge.through else ("", "")
    qualifiers = tuple(map(_leg_key, edge.qualifiers)) if edge.qualifiers else ()
    end = edge.end.text
    return edge.relation.value, via, len(end), end, node, qualifiers


def _edges(rows: Sequence[Row], origin: ReplyOrigin, shape: Shape) -> list[Edge]:
    """All edges that can be shown; where a mediator leads on, the bare edge to it is left out."""
    over_nodes = mediated([row for row in rows if "m" in row and "c" not in row], shape)
    collapse = _collapse_outgoing if origin[0] == "out" else _collapse_incoming
    collapsed = [edge for edge in collapse(over_nodes, origin) if _usable(edge)]
    over = {(edge.start, edge.through.node) for edge in collapsed if edge.through}
    near, far = ("s", "o") if origin[0] == "out" else ("o", "s")
    statements = _statements([row for row in rows if "c" in row], shape.mediators)
    plain = (
        Edge(row["s"], _iri(row["p"]), row["o"], *origin, qualifiers)
        for row in rows
        if "m" not in row and not (over and (row[near], row[far]) in over)
        for qualifiers in (statements.get((row["s"], row["p"], row["o"]), NO_STATEMENT) if statements else NO_STATEMENT)
    )
    return [*filter(_usable, plain), *collapsed]


def _by_start(edges: Iterable[Edge]) -> dict[Iri, list[Edge]]:
    """The edges by the entity that they start from, each once."""
    starts: dict[str, Iri] = {}
    grouped: dict[str, dict[SortKey, Edge]] = defaultdict(dict)  # by texts: the hash of a term is slow
    for edge in edges:
        if isinstance(start := edge.start, Iri):
            starts[start.value] = start
            grouped[start.value].setdefault(sort_key(edge), edge)
    return {starts[value]: [kept[key] for key in sorted(kept)] for value, kept in grouped.items()}


def _usable(edge: Edge) -> bool:
    """Whether the edge can be shown and asked for again."""
    subject, target = edge.subject, edge.object
    return (
        isinstance(subject, Iri)
        and subject.queryable
        and edge.relation.queryable
        and (target.queryable or target == UNKNOWN)
        and _short(subject if edge.direction == "in" else target)
        and (edge.through is None or edge.through.relation.queryable)
    )


def _collapse_outgoing(rows: Iterable[Row], origin: ReplyOrigin) -> Iterator[Edge]:
    """From (s, p, m, q, v): one edge for each leg (q, v) of the mediator m, the other legs as its qualifiers."""
    for (subject, relation, node), legs in _legs(rows, ("s", "p", "m")).items():
        for leg in legs:
            if leg.value != subject:
                others = _others(legs, subject, leg.value)
                yield Edge(subject, _iri(relation), leg.value, *origin, others, Through(node, leg.relation))


def _collapse_incoming(rows: Iterable[Row], origin: ReplyOrigin) -> Iterator[Edge]:
    """From (s, p, m, w, o) and the legs (m, q, v).

    One edge from s over m to o, which hangs on the leg w, with m's others.
    """
    rows = list(rows)
    legs = _legs((row for row in rows if "q" in row), ("m",))
    for row in (row for row in rows if "q" not in row):
        subject, node, target = row["s"], row["m"], row["o"]
        if subject != target:
            others = _others(legs.get((node,), ()), subject, target)
            yield Edge(subject, _iri(row["p"]), target, *origin, others, Through(node, _iri(row["w"])))


def _others(legs: Sequence[Qualifier], subject: Term, target: Term) -> tuple[Qualifier, ...]:
    """What a mediator says beside the two ends of the edge."""
    return tuple(islice((leg for leg in legs if leg.value not in (subject, target)), MAX_QUALIFIERS))


def _legs(rows: Iterable[Row], key: Sequence[str]) -> dict[tuple[Term, ...], list[Qualifier]]:
    """The legs (q, v) of each node that the key's variables name, sorted; those that cannot be shown are left out."""
    legs: dict[tuple[Term, ...], dict[Qualifier, None]] = defaultdict(dict)
    for row in rows:
        group, leg = legs[tuple(row[name] for name in key)], Qualifier(_iri(row["q"]), row["v"])
        nameless = isinstance(leg.value, Blank) and leg.value != UNKNOWN
        if leg.relation.queryable and not nameless and _short(leg.value):
            group[leg] = None
    return {node: sorted(group, key=_leg_key) for node, group in legs.items()}


def _leg_key(leg: Qualifier) -> tuple[str, str]:
    return leg.relation.value, leg.value.text


def _statements(rows: Iterable[Row], mediators: Mediators) -> dict[Triple, list[tuple[Qualifier, ...]]]:
    """The qualifiers of each statement by the truthy triple that it belongs to.

    Two terms of one office are two edges: what is said of one of them must not be read as said of the other.
    """
    statements: dict[Triple, dict[tuple[Qualifier, ...], None]] = defaultdict(dict)
    for (subject, claim, _, target), legs in _legs(rows, ("s", "c", "m", "o")).items():
        truthy = Iri(mediators.truthy + _iri(claim).value.removeprefix(mediators.claim))
        statements[subject, truthy, target][tuple(legs[:MAX_QUALIFIERS])] = None
    return {triple: list(qualifiers) for triple, qualifiers in statements.items()}


def _known(row: Row, hidden: tuple[str, str]) -> Row:
    """The row with `UNKNOWN` for values that are blank nodes or have an IRI that stands for nothing known.

    `hidden` are how the texts of both begin.
    """
    for name in VALUES:
        if name in row and row[name].text.startswith(hidden):
            row = {**row, name: UNKNOWN}
    return row


def _short(term: Term) -> bool:
    return len(term.text) <= MAX_LITERAL or (isinstance(term, Literal) and len(term.value) <= MAX_LITERAL)


def _iri(term: Term) -> Iri:
    """A term in predicate position; an endpoint that says otherwise yields a term that no query accepts."""
    return term if isinstance(term, Iri) else Iri("")
