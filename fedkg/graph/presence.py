"""What one endpoint holds: whether it has statements on an entity, and which copies of it it names.

One grouped query returns both; the answer is kept for each entity by itself, also that the endpoint has nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec

from fedkg.cache.off_loop import keep
from fedkg.common.concurrency import concurrently
from fedkg.config.settings import DAY
from fedkg.core.encoding import decode, encode
from fedkg.core.meter import count
from fedkg.core.terms import Edge, Iri, Literal, Term
from fedkg.errors import TruncatedError
from fedkg.graph.base import EndpointSource, chunks, in_halves, now
from fedkg.graph.cache_keys import digest, load
from fedkg.graph.identity import Identity
from fedkg.sparql import build

__all__ = ["EntityPresence", "PresenceLookup"]

NAMESPACE = "known"
BATCH = 100
"""Entities of one query; most are strangers to the endpoint, so that its rows are few."""


class EntityPresence(msgspec.Struct, frozen=True):
    """Whether an endpoint has an entity.

    known: whether it says anything of it, links aside. links: the links that it says, from the entity to its copies.
    failed: the endpoint's error, where it could not be asked.
    """

    known: bool = False
    links: tuple[Edge, ...] = ()
    failed: str = ""


class PresenceLookup:
    """Asks one endpoint which entities it knows, and remembers the reply."""

    def __init__(self, source: EndpointSource, identity: Identity) -> None:
        self.name = source.name
        self._select = source.select
        self._store = source.store
        self._identity = identity
        self._rows = source.profile.limits.rows
        self._ttl = source.ttl
        what = (source.identity, build.DIALECT_VERSION, identity.predicates, identity.templates)
        self._key = digest(what)

    async def get(self, entities: Sequence[Iri]) -> dict[Iri, EntityPresence]:
        """Whether the endpoint has each entity; one request for a hundred that it was not asked for yet."""
        wanted = list(dict.fromkeys(entities))
        kept = await self._load(wanted)
        count("cache_hits", len(kept))
        missing = [entity for entity in wanted if entity not in kept and entity.queryable]
        parts = await concurrently(*(self._fetch(part) for part in chunks(missing, BATCH)))
        presences = kept | {entity: presence for part in parts for entity, presence in part.items()}
        return {entity: presences.get(entity, EntityPresence()) for entity in wanted}

    async def _fetch(self, batch: Sequence[Iri]) -> dict[Iri, EntityPresence]:
        presences, errors = await in_halves(batch, self._ask)
        await self._save(presences)
        return presences | {entity: EntityPresence(failed=str(error)) for entity, error in errors.items()}

    async def _ask(self, batch: Sequence[Iri]) -> dict[Iri, EntityPresence]:
        forward, backward = self._identity.forward(batch), self._identity.backward(batch)
        query = partial(build.known, batch, forward, backward, self._rows + 1)
        rows = (await self._select.select(query, "probe")).rows
        if len(rows) > self._rows:
            raise TruncatedError(f"more than {self._rows:,} links", endpoint=self.name, asked="probe")
        known = {row.get("e") for row in rows}
        links = self._links(rows, list(forward), frozenset(batch))
        return {entity: EntityPresence(entity in known, tuple(links[entity])) for entity in batch}

    def _links(
        self, rows: Iterable[Mapping[str, Term]], relations: Sequence[Iri], batch: frozenset[Iri]
    ) -> dict[Iri, list[Edge]]:
        """The links by the entity that they start from, in an order of their own."""
        at = now()
        by_start: dict[Iri, set[Edge]] = defaultdict(set)
        for row in rows:
            for number, relation in enumerate(relations):
                subject, target = row.get(f"s{number}"), row.get(f"o{number}")
                if isinstance(subject, Iri) and isinstance(target, Iri | Literal):
                    for way in ("out", "in"):
                        for link in self._identity.links(Edge(subject, relation, target, way, self.name, at)):
                            if isinstance(link.start, Iri) and link.start in batch:
                                by_start[link.start].add(link)
        return defaultdict(list, {entity: sorted(links, key=_sort_key) for entity, links in by_start.items()})

    async def _load(self, entities: Sequence[Iri]) -> dict[Iri, EntityPresence]:
        keys = {f"{self._key} {entity.value}": entity for entity in entities}
        return await load(self._store, NAMESPACE, keys, lambda value, _: decode(value, _CachedPresence).read(self.name))

    async def _save(self, presences: Mapping[Iri, EntityPresence]) -> None:
        """What is unknown today may be stated tomorrow: it is kept for a shorter time."""
        for some, days in ((True, self._ttl.neighbours), (False, self._ttl.nothing)):
            values = {
                f"{self._key} {entity.value}": encode(_CachedPresence.of(presence))
                for entity, presence in presences.items()
                if bool(presence.known or presence.links) == some
            }
            if values:
                await keep(self._store, NAMESPACE, values, days * DAY)


class _CachedPresence(msgspec.Struct, array_like=True):
    """What is known of an entity as it is kept: which endpoint stated it is left out."""

    known: bool
    links: list[Edge]

    @classmethod
    def of(cls, heard: EntityPresence) -> "_CachedPresence":
        return cls(heard.known, [msgspec.structs.replace(link, endpoint="") for link in heard.links])

    def read(self, name: str) -> EntityPresence:
        return EntityPresence(self.known, tuple(msgspec.structs.replace(link, endpoint=name) for link in self.links))


def _sort_key(link: Edge) -> tuple[bool, str, str, str]:
    """Links between IRIs before those by identifiers."""
    return link.identifies is not None, link.relation.value, link.end.text, link.direction
