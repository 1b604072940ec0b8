"""The queries that find an answer's ends again: all that the relations of a path lead to from where it starts."""

from collections.abc import Iterable, Iterator

import msgspec

from fedkg.core.proof import Path
from fedkg.core.terms import Iri
from fedkg.sparql import property_path

__all__ = ["ChainQuery", "chain_queries"]


class ChainQuery(msgspec.Struct, frozen=True):
    """A SPARQL query with a row (end) for all that the relations of the path of that number lead to.

    Conditions of the question that the path does not walk over are not in it.
    """

    endpoint: str
    path: int
    query: str


def chain_queries(paths: Iterable[tuple[int, Path]]) -> Iterator[ChainQuery]:
    """One query for each topic and chain of relations of the numbered paths, in their order.

    Left out are paths over several endpoints, and over identifiers that stand for an entity: no single query walks so.
    """
    seen: set[tuple[str, str]] = set()
    for number, path in paths:
        if (place := _endpoint(path)) and (query := _query(path)) and (place, query) not in seen:
            seen.add((place, query))
            yield ChainQuery(place, number, query)


def _endpoint(path: Path) -> str:
    """The one endpoint of a connected path; empty where it has several."""
    names = {shown.endpoint for shown in path.edges}
    return names.pop() if len(names) == 1 and path.end else ""


def _query(path: Path) -> str:
    edges = [shown.edge for shown in path.edges]
    start, chain = edges[0].start, [edge.walked for edge in edges]
    legs = [leg for relation in chain for leg in (relation.relation, relation.via) if leg]
    if not isinstance(start, Iri) or any(edge.identifies for edge in edges):
        return ""
    return property_path.ends(start, chain) if all(term.queryable for term in (start, *legs)) else ""
