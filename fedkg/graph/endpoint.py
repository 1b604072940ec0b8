"""One SPARQL endpoint as a Graph."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.config.profiles import Profile
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import BOTH, UNKNOWN, Blank, Direction, Edge, Iri, Literal, Term
from fedkg.errors import EndpointError, OfflineError, QueryRejectedError
from fedkg.graph.base import EndpointSource, chunks, in_halves
from fedkg.graph.entity_search import EntitySearch
from fedkg.graph.hidden_edges import HiddenEdges, HiddenEdgesCount, hides
from fedkg.graph.identity import Identity
from fedkg.graph.inverse_relations import InverseRelations
from fedkg.graph.labels import LabelLookup
from fedkg.graph.neighbours import Neighbours
from fedkg.graph.presence import EntityPresence, PresenceLookup
from fedkg.sparql import build
from fedkg.transport.base import SparqlClient

__all__ = ["HOLDS_BATCH", "SparqlGraph", "askable", "has_shape"]

HOLDS_BATCH = 25
LAST_RESORT = "en"
"""The language of names where none of the wanted ones has one: an English name says more than an identifier."""


class SparqlGraph:
    """A Graph over one endpoint; `scan` means that all its labels may be read at once, as in a small graph in process.

    `identity` is the table of identities where the endpoint is one of several: it then returns its identity links too.
    """

    def __init__(
        self,
        source: EndpointSource,
        languages: Sequence[str] = ("en",),
        scan: bool = False,
        identity: Identity | None = None,
    ) -> None:
        identity = identity or Identity()
        languages = tuple(dict.fromkeys((*languages, LAST_RESORT)))
        self.source = source
        self.name = source.name
        self.identity = source.identity
        self.profile = source.profile
        self._select = source.select
        self._near = Neighbours(dataclasses.replace(source, profile=identity.shown(source.profile)))
        self._known = PresenceLookup(source, identity)
        self._links = identity.relations
        self._names = LabelLookup(source, languages)
        self._twins = InverseRelations(source)
        self._search = EntitySearch(source, languages, self._names, scan)
        self._hidden = HiddenEdgesCount(source)

    @property
    def named(self) -> Mapping[Iri, str]:
        """The labels seen of late: names that the graph gives, no local names."""
        return self._names.seen

    async def neighbours(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The edges of each entity in one direction, without the relations that are technical by their property type.

        An incoming edge that an outgoing one states already, by the twin of its relation, is left out.
        """
        shown = self._shown(entities, direction)
        return await (self._twins.once(shown, self._shown) if direction == "in" else shown)

    async def hidden(
        self, entities: Sequence[Iri], directions: Sequence[Direction] = BOTH, *, always: bool = True
    ) -> list[HiddenEdges]:
        """What the profile hides of each entity; none where it hides nothing, unless `always`. Raises EndpointError."""
        return await self._hidden.get(entities, directions) if always or hides(self.profile.shape) else []

    async def known(self, entities: Sequence[Iri]) -> dict[Iri, EntityPresence]:
        """Whether the endpoint has edges of each entity, and its identity links."""
        return await self._known.get(entities)

    async def links(self, entities: Sequence[Iri]) -> list[Edge]:
        """None: within one graph each IRI is a thing of its own."""
        return []

    async def technical_predicates(self) -> frozenset[Iri]:
        """The relations that are technical by their property type, links aside."""
        return await self._names.technical_predicates() - self._links

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """A name for every term; where the endpoint fails, local names."""
        return await self._names.labels(terms)

    async def search(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """For each text the entities with that label or alias, the best first. Raises EndpointError."""
        return await self._search.exact(texts, limit)

    async def lookup(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """For each text the entities found by words, as the profile declares; none where that fails."""
        return await self._search.lookup(texts, limit)

    async def describe(self, matches: Sequence[Match]) -> list[Match]:
        """The matches with description and type, in one further request; without what the endpoint does not tell."""
        return await self._search.describe(matches)

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """Entities with a similar label; none where the endpoint fails or is not asked: these are suggestions only."""
        try:
            return await self._search.nearest(text, limit)
        except (EndpointError, OfflineError):
            return []

    async def labelled(self, limit: int) -> list[Iri]:
        """At most `limit` entities for each label predicate, in the endpoint's order. Raises EndpointError."""
        rows = (await self._select.select(build.scan_labels(self.profile.shape.labels, limit), "labels")).rows
        return list(dict.fromkeys(term for row in rows if isinstance(term := row.get("e"), Iri) and term.queryable))

    async def relations(self, limit: int) -> list[Iri]:
        """At most `limit` relations of the graph, sorted. Raises EndpointError, also where it takes too long."""
        rows = (await self._select.select(build.predicates(limit), "labels")).rows
        return sorted({term for row in rows if isinstance(term := row.get("p"), Iri) and term.queryable})

    async def holds(self, edges: Sequence[Edge]) -> list[bool | None]:
        """Whether the endpoint still holds each edge; None for one that could not be asked for.

        No query can say it, or the endpoint rejects it alone, while it answers for others. Raises EndpointError.
        """
        asked = [edge for edge in dict.fromkeys(edges) if askable(edge)]
        parts = await concurrently(*(in_halves(part, self._holds) for part in chunks(asked, HOLDS_BATCH)))
        verdicts = {edge: holds for results, _ in parts for edge, holds in results.items()}
        for error in (error for _, failed in parts for error in failed.values()):
            if not verdicts or not isinstance(error, QueryRejectedError):
                raise error
        return [verdicts.get(edge) for edge in edges]

    async def close(self) -> None:
        """The transport belongs to its maker."""

    async def _shown(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The edges without technical predicates, those that twins state included."""
        neighbourhoods, technical_predicates = await concurrently(
            self._near.get(entities, direction), self.technical_predicates()
        )
        return (
            [_without(near, technical_predicates) for near in neighbourhoods]
            if technical_predicates
            else neighbourhoods
        )

    async def _holds(self, edges: Sequence[Edge]) -> dict[Edge, bool]:
        query = partial(build.holds, edges, self.profile.shape.unknown)
        rows = (await self._select.select(query, "verify")).rows
        numbers = {term.value for row in rows if isinstance(term := row.get("i"), Literal)}
        return {edge: str(number) in numbers for number, edge in enumerate(edges)}


async def has_shape(select: SparqlClient, profile: Profile) -> bool:
    """Whether the graph behind `select` has the predicate that marks this profile's shape. Raises EndpointError."""
    if not profile.shape.marker:
        return False
    return bool((await select.select(build.contains(profile.shape.marker), "shape")).rows)


def askable(edge: Edge) -> bool:
    """Whether a query can say this edge; documents that are verified come from anywhere."""
    through = edge.through
    if through and not (through.relation.queryable and isinstance(through.node, Iri | Blank)):
        return False
    ends = edge.subject.queryable and edge.relation.queryable and (edge.object.queryable or edge.object == UNKNOWN)
    return isinstance(edge.subject, Iri) and ends


def _without(near: Neighbourhood, technical_predicates: frozenset[Iri]) -> Neighbourhood:
    return msgspec.structs.replace(
        near, edges=tuple(edge for edge in near.edges if edge.relation not in technical_predicates)
    )
