"""What is asked to learn about an endpoint and its graph, and not for an answer, as query text."""

from collections.abc import Sequence

from fedkg.core.terms import Direction, Iri

__all__ = ["MOST_COUNTED", "predicates"]

MOST_COUNTED = 2_000
"""Most triples of an entity and direction that are counted: a hub has millions."""
VARIABLES: dict[Direction, str] = {"out": "?e", "in": "?f"}


def predicates(entities: Sequence[Iri], directions: Sequence[Direction]) -> str:
    """How many triples the entities have by predicate: rows (e, p, n) of outgoing ones, (f, p, n) of incoming ones.

    At most MOST_COUNTED triples of each entity and direction are looked at.
    """
    branches = [_counted(entity, direction) for entity in entities for direction in directions]
    union = " UNION ".join(f"{{ {branch} }}" for branch in branches)
    return f"SELECT ?e ?f ?p (COUNT(*) AS ?n) WHERE {{ {union} }} GROUP BY ?e ?f ?p"


def _counted(entity: Iri, direction: Direction) -> str:
    triple = f"{entity.n3()} ?p ?x" if direction == "out" else f"?x ?p {entity.n3()}"
    return (
        f"{{ SELECT ?p WHERE {{ {triple} }} LIMIT {MOST_COUNTED} }} VALUES {VARIABLES[direction]} {{ {entity.n3()} }}"
    )
