"""One SPARQL endpoint as a Graph."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fedkg.errors import EndpointError
from fedkg.fetch.base import Select
from fedkg.graph.base import Source, chunks
from fedkg.graph.names import Names
from fedkg.graph.near import Neighbours
from fedkg.profiles import Profile
from fedkg.records import Match, Neighbourhood
from fedkg.sparql import build
from fedkg.terms import Direction, Edge, Iri, Literal, Term, own_name

__all__ = ["SparqlGraph", "has_shape"]

HOLDS_BATCH = 25


class SparqlGraph:
    """A Graph over one endpoint; `scan` says that all its labels may be read at once, as in a small graph in process."""

    def __init__(self, source: Source, languages: Sequence[str] = ("en",), scan: bool = False) -> None:
        self.name = source.name
        self.profile = source.profile
        self._select = source.select
        self._near = Neighbours(source)
        self._names = Names(source, languages, scan)

    @property
    def hits(self) -> int:
        """Neighbourhoods and labels that needed no request so far."""
        return self._near.hits + self._names.hits

    async def neighbours(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The edges of each entity in one direction, without the relations that are plumbing by their property type."""
        found, plumbing = await asyncio.gather(self._near.get(entities, direction), self._plumbing())
        return [_without(near, plumbing) for near in found] if plumbing else found

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """A name for every term; where the endpoint fails, local names."""
        wanted = list(terms)
        try:
            return await self._names.labels(wanted)
        except EndpointError:
            return {term: own_name(term) for term in wanted}

    async def search(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """For each text the entities with that label or alias, the best first. Raises EndpointError."""
        return await self._names.search(texts, limit)

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """Entities with a similar label; none where the endpoint fails, since these are suggestions only."""
        try:
            return await self._names.nearest(text, limit)
        except EndpointError:
            return []

    async def holds(self, edges: Sequence[Edge]) -> list[bool]:
        """Whether the endpoint still says each edge; an edge that cannot be asked for does not hold."""
        askable = [edge for edge in edges if edge.subject.queryable and edge.object.queryable]
        parts = await asyncio.gather(*(self._holds(part) for part in chunks(askable, HOLDS_BATCH)))
        said = {edge for part in parts for edge in part}
        return [edge in said for edge in edges]

    async def close(self) -> None:
        """The transport belongs to whoever made it."""

    async def _holds(self, edges: Sequence[Edge]) -> list[Edge]:
        rows = (await self._select.select(build.holds(edges), "verify")).rows
        numbers = {term.value for row in rows if isinstance(term := row.get("i"), Literal)}
        return [edge for number, edge in enumerate(edges) if str(number) in numbers]

    async def _plumbing(self) -> frozenset[Iri]:
        """Without the catalogue the plumbing is shown: a nuisance, not a fault of the walk."""
        try:
            return await self._names.plumbing()
        except EndpointError:
            return frozenset()


async def has_shape(select: Select, profile: Profile) -> bool:
    """Whether the graph behind `select` has the predicate that marks this profile's shape."""
    if not profile.shape.marker:
        return False
    return bool((await select.select(build.contains(profile.shape.marker), "shape")).boolean)


def _without(near: Neighbourhood, plumbing: frozenset[Iri]) -> Neighbourhood:
    return msgspec.structs.replace(near, edges=tuple(edge for edge in near.edges if edge.relation not in plumbing))
