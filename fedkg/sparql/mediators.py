"""Which nodes without a name are mediators: those that behave like one fact, not like an entity whose name is missing.

A node is judged by its own edges and by the relation that leads to it, all of which come with the same reply from
either end: what it is taken for does not depend on where the walk comes from.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fedkg.config.profiles import Shape
from fedkg.core.terms import Iri, Term

__all__ = ["MOST_LEGS", "EntityMarks", "entity_marks", "mediated"]

MOST_LEGS = 16
"""Most legs of a node without a name that stands for one fact; Freebase's have ten at most. More are an entity whose
name is missing (one of FB15k-237 has thousands): it stays a node of its own."""

COLLAPSED = ".."
"""Stands in a relation whose mediator was left out when the graph was made (FB15k's `a.b.c..d.e.f`)."""

PERSONS = re.compile(
    r"[./#](?:(?:\w+_)?(?:actor|artist|author|children|composer|director|founders|nominee|parents|people|person|winner)"
    r"|(?:\w+_)?(?:created|designed|directed|edited|influenced|invented|produced|written)_by)$"
)
"""Relations whose object is a person or a group of them, by the last part of their IRI."""

Row = Mapping[str, Term]
Leg = tuple[Term, Term]


class EntityMarks(NamedTuple):
    """What only entities have: predicates of names, and types, each with its predicate before it."""

    names: tuple[Iri, ...]
    types: tuple[tuple[Iri, Iri], ...]


def mediated(rows: Sequence[Row], shape: Shape) -> list[Row]:
    """The rows (s, p, m, …) and (m, q, v) whose m is a mediator, without its marks that are no edges.

    Blank nodes are never entities of their own.
    """
    legs: dict[Term, set[Leg]] = defaultdict(set)
    for row in rows:
        if "q" in row:
            legs[row["m"]].add((row["q"], row["v"]))
    marks = entity_marks(shape)
    entities = {node for node, some in legs.items() if isinstance(node, Iri) and _is_entity(some, marks)}
    return [
        row
        for row in rows
        if row["m"] not in entities and not _led_to_entity(row) and not shape.edges.leaves_out(_predicate(row.get("q")))
    ]


def entity_marks(shape: Shape) -> EntityMarks:
    """What the entities of that shape have, where IRIs may be mediators."""
    labels, mediators = shape.labels, shape.mediators
    if not (mediators.unnamed and mediators.name):
        return EntityMarks((), ())
    names = dict.fromkeys((*labels.predicates, *labels.aliases))
    types = ((Iri(labels.type), Iri(shape.entity_type)),) if labels.type and shape.entity_type else ()
    return EntityMarks(tuple(map(Iri, names)), types)


def _is_entity(legs: set[Leg], marks: EntityMarks) -> bool:
    """Whether a node with these legs has names, the type of entities, more legs than a fact, or collapsed relations."""
    return len(legs) > MOST_LEGS or any(
        leg[0] in marks.names or leg in marks.types or COLLAPSED in _predicate(leg[0]) for leg in legs
    )


def _predicate(term: Term | None) -> str:
    return term.value if isinstance(term, Iri) else ""


def _led_to_entity(row: Row) -> bool:
    """Whether the relation that leads to the node leads to entities; a blank node is none all the same."""
    relation = _predicate(row.get("p"))
    return isinstance(row["m"], Iri) and (COLLAPSED in relation or PERSONS.search(relation) is not None)
