"""Chains of relations as SPARQL 1.1 property paths."""

from collections.abc import Iterable

from fedkg.core.terms import DirectedRelation, Iri

__all__ = ["ends", "property_path"]


def property_path(chain: Iterable[DirectedRelation]) -> str:
    """The relations as a SPARQL 1.1 property path: `^<book author>/<spouse>`.

    A mediator's two legs stand in brackets.
    """
    return "/".join(map(_leg, chain))


def _leg(relation: DirectedRelation) -> str:
    way = f"({relation.relation.text}/{relation.via.text})" if relation.via else relation.relation.text
    return way if relation.direction == "out" else f"^{way}"


def ends(start: Iri, chain: Iterable[DirectedRelation]) -> str:
    """What the relations lead to from there: rows (end). The terms must be queryable."""
    return f"SELECT DISTINCT ?end WHERE {{ {start.n3()} {property_path(chain)} ?end }}"
