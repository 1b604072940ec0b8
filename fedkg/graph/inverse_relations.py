"""Relations that state the same fact the other way round: of two such edges one is shown.

Freebase states "film, starring, performance" and "performance, film, film" for one fact and states of the two relations
that they are each other's reverse. An incoming edge goes only where its twin is there as an outgoing edge of the same
node: a fact of which one half is stated stays.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Direction, Edge, Iri, Term, Through
from fedkg.graph.base import EndpointSource
from fedkg.graph.cache_keys import digest
from fedkg.graph.catalogue import Catalogue
from fedkg.sparql import build

__all__ = ["InverseRelations"]

NAMESPACE = "twins"

Pairs = Mapping[Iri, Collection[Iri]]
Get = Callable[[Sequence[Iri], Direction], Awaitable[list[Neighbourhood]]]
Fact = tuple[Term, Iri, Term, Through | None]


class InverseRelations:
    """The twin relations that one endpoint states; none where the profile names no predicate for it."""

    def __init__(self, source: EndpointSource) -> None:
        self._inverse = source.profile.shape.edges.inverse
        self._select = source.select
        key = digest((source.identity, self._inverse))
        self._catalogue = Catalogue(source, NAMESPACE, key, (list[tuple[str, str]], _pairs))

    async def once(self, asked: Awaitable[list[Neighbourhood]], get: Get) -> list[Neighbourhood]:
        """The incoming edges but for those whose twin is an outgoing one.

        `get` fetches these for nodes that may have any.
        """
        incoming, pairs = await concurrently(asked, self._table())
        doubled = [near.entity for near in incoming if any(True for edge in near.edges for _ in _turned(edge, pairs))]
        outgoing = {near.entity: near for near in await get(doubled, "out")} if doubled else {}
        return [_without(near, outgoing[near.entity], pairs) if near.entity in outgoing else near for near in incoming]

    async def _table(self) -> Pairs:
        return (await self._catalogue.get(self._ask) or {}) if self._inverse else {}

    async def _ask(self) -> list[tuple[str, str]]:
        rows = (await self._select.select(build.pairs(self._inverse), "catalogue")).rows
        pairs = ((row.get("s"), row.get("o")) for row in rows)
        return [
            (first.value, second.value) for first, second in pairs if isinstance(first, Iri) and isinstance(second, Iri)
        ]


def _without(near: Neighbourhood, outgoing: Neighbourhood, pairs: Pairs) -> Neighbourhood:
    stated = {(edge.subject, edge.relation, edge.object, edge.through) for edge in outgoing.edges}
    kept = tuple(edge for edge in near.edges if stated.isdisjoint(_turned(edge, pairs)))
    return msgspec.structs.replace(near, edges=kept)


def _turned(edge: Edge, pairs: Pairs) -> Iterator[Fact]:
    """The same fact as its twins would say it; over a mediator the first leg is turned into the last."""
    if edge.through is None:
        for twin in pairs.get(edge.relation, ()):
            yield edge.object, twin, edge.subject, None
        return
    for first in pairs.get(edge.through.relation, ()):
        for last in pairs.get(edge.relation, ()):
            yield edge.object, first, edge.subject, Through(edge.through.node, last)


def _pairs(pairs: list[tuple[str, str]]) -> Pairs:
    twins: dict[Iri, dict[Iri, None]] = defaultdict(dict)
    for first, second in pairs:
        twins[Iri(first)][Iri(second)] = twins[Iri(second)][Iri(first)] = None
    return dict(twins)
