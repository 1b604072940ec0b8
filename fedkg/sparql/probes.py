"""What is asked to learn about an endpoint and its graph, and not for an answer, as query text."""

from collections.abc import Sequence

from fedkg.core.terms import Direction, Iri, Literal

__all__ = ["MOST_COUNTED", "filtered", "labelled", "predicates", "united"]

MOST_COUNTED = 2_000
"""Most triples of an entity and direction that are counted: a hub has millions."""
NOTHING = Iri("http://fedkg.invalid/nothing")
"""A predicate that no graph has."""
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


def filtered(entity: Iri, *, keep: bool) -> str:
    """A triple of the entity under a condition that all triples meet (`keep`), or none: rows (p)."""
    test = "NOT IN" if keep else "IN"
    return f"SELECT ?p WHERE {{ {entity.n3()} ?p ?o . FILTER(?p {test} ({NOTHING.n3()})) }} LIMIT 1"


def labelled(predicate: str, labels: Sequence[Literal]) -> str:
    """What has one of these labels by that predicate: rows (e)."""
    values = " ".join(label.n3() for label in labels)
    return f"SELECT ?e WHERE {{ VALUES ?l {{ {values} }} ?e {Iri(predicate).n3()} ?l }} LIMIT 5"


def united(entity: Iri) -> str:
    """A triple of the entity twice, by two branches that are told apart by their variable: rows (x0) and (x1)."""
    branches = (f"{{ SELECT ?x{number} WHERE {{ {entity.n3()} ?p ?x{number} }} LIMIT 1 }}" for number in range(2))
    return f"SELECT ?x0 ?x1 WHERE {{ {' UNION '.join(branches)} }}"
