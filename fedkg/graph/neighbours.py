"""Neighbourhoods of one endpoint: batched, bounded, and cached one by one.

A batch whose reply is cut off is asked again without the entities that filled it, or in groups that fit (`overflow`);
one that is too much for the endpoint is asked again in halves, and those after it are smaller. An entity that is too
large even alone is a hub. What cannot be had becomes a marked gap, never an exception and never a loop.

What an entity's neighbourhood is does not depend on the batch that it came in.
"""

import logging
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from fedkg.cache.off_loop import keep
from fedkg.common.concurrency import concurrently
from fedkg.common.single_flight import SingleFlight
from fedkg.config.dialects import GENERIC, find
from fedkg.config.settings import DAY
from fedkg.core.encoding import decode, encode
from fedkg.core.meter import count
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import BOTH, Direction, Edge, Iri, Qualifier, Term, Through
from fedkg.errors import Action, EndpointError
from fedkg.graph.base import EndpointSource, Patience, halves, now
from fedkg.graph.batch_size import BatchSize
from fedkg.graph.cache_keys import digest, load
from fedkg.graph.hubs import Hubs
from fedkg.graph.overflow import Groups, Origin, Overflow
from fedkg.graph.statements import StatementNodes
from fedkg.sparql import build, edges
from fedkg.sparql.reply import Rows

__all__ = ["Neighbours"]

NAMESPACE = "neighbours"
NO_QUERY = "no query can carry this IRI"

log = logging.getLogger(__name__)


class Neighbours:
    """Fetches and keeps the neighbourhoods of one endpoint."""

    def __init__(self, source: EndpointSource) -> None:
        self.name = source.name
        self._select = source.select
        self._shape = shape = source.profile.shape
        self._limits = limits = source.profile.limits
        self._store = source.store
        self._hubs = Hubs(source)
        self._overflow = Overflow(source)
        self._ttl = source.ttl
        self._engines = source.engines
        bounds = (limits.rows, limits.relation, limits.entity)
        what = (source.identity, build.DIALECT_VERSION, shape.edges, shape.mediators, shape.unknown, bounds)
        self._key = digest(what)
        self._statements = StatementNodes(source.store, self._key, shape.mediators)
        most = min(limits.batch, build.room(shape))
        self._sizes = {way: BatchSize(source.store, f"{self._key} {way}", most, limits.timeout / 2) for way in BOTH}
        self._flights: dict[Direction, SingleFlight[Iri, Neighbourhood]] = {
            way: SingleFlight(_has_failed) for way in BOTH
        }

    async def get(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The neighbourhood of each entity, in their order; one request per `batch` entities that are new.

        More where the reply to one is too much, or is the first one to show a statement.
        What somebody else is asking for at this moment is waited for, not asked for twice.
        """
        wanted = list(dict.fromkeys(entities))
        kept = await self._load(wanted, direction)
        count("cache_hits", len(kept))
        missing = [entity for entity in wanted if entity not in kept and entity.queryable]
        asked: set[Iri] = set()

        async def fetch(entities: Sequence[Iri]) -> dict[Iri, Neighbourhood]:
            asked.update(entities)
            return await self._fetch(entities, direction)

        known = kept | await self._flights[direction].get(missing, fetch)
        count("cache_hits", len(missing) - len(asked))
        return [known.get(entity) or self._gap(entity, direction, NO_QUERY) for entity in wanted]

    async def _fetch(self, entities: Sequence[Iri], direction: Direction) -> dict[Iri, Neighbourhood]:
        """The neighbourhoods in batches, each as large as was learned until then."""
        waiting, size = deque(entities), self._sizes[direction]
        neighbourhoods: dict[Iri, Neighbourhood] = {}

        async def work() -> None:
            while waiting:
                batch = [waiting.popleft() for _ in range(min(size.now, len(waiting)))]
                neighbourhoods.update({near.entity: near for near in await self._batch(batch, direction)})

        if waiting:
            await size.load(small=any(map(_begins_small, await self._engines())))
            await self._statements.load()
            workers = 1 if len(waiting) <= size.now else self._limits.concurrency
            await concurrently(*(work() for _ in range(workers)))
        return neighbourhoods

    async def _batch(self, batch: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """One batch; it is kept at once, so that an interrupted walk does not ask for it again.

        A hub that is one because the endpoint failed over it alone may be none tomorrow, and is kept for a shorter
        time.
        """
        patience = Patience()
        neighbourhoods = await self._ask(batch, direction, patience)
        cut = [near for near in neighbourhoods if near.cut]
        await self._save([near for near in neighbourhoods if not near.cut], self._ttl.neighbours)
        await self._save(cut, self._ttl.nothing if patience.fewest == 1 else self._ttl.neighbours)
        if patience.reshaped or not all(near.failed for near in neighbourhoods):
            too_much = 2 * patience.most or patience.fewest or len(batch)
            await self._learn(direction, too_much if patience.reshaped else len(batch), patience)
        return neighbourhoods

    async def _learn(self, direction: Direction, asked: int, patience: Patience) -> None:
        """Adapts how many entities share a request."""
        size = self._sizes[direction]
        before = size.now
        await size.learn(asked, fits=not patience.reshaped, seconds=patience.seconds)
        if size.now != before:
            log.info("%s: %d entities in a request (%s) instead of %d", self.name, size.now, direction, before)

    async def _ask(
        self,
        batch: Sequence[Iri],
        direction: Direction,
        patience: Patience,
        *,
        stated: bool = False,
        origin: Origin = "new",
    ) -> list[Neighbourhood]:
        """Their neighbourhoods; `stated`: with statements, though none were seen so far."""
        most, statements = self._limits.rows + 1, stated or self._statements.wanted
        query = partial(build.neighbours, batch, direction, self._shape, most, statements=statements)
        try:
            reply = await self._select.select(query, "neighbours")
            if await self._statements.learn(reply.rows, direction, asked=statements):
                return await self._ask(batch, direction, patience, origin=origin)
            if len(reply.rows) <= self._limits.rows:
                patience.fits(len(batch), reply.seconds)
                return self._read(batch, direction, reply)
            groups = await self._overflow.groups(batch, direction, reply, origin)
            if not groups.hubs and not groups.together:
                patience.reshaped, groups = True, Groups([], halves(batch), origin)
        except EndpointError as error:
            alone, first = len(batch) == 1, not patience.reshaped
            lasts = patience.lasts(error, len(batch))
            if first and patience.reshaped:
                # at once: the halves may fail too, and then the endpoint is left alone or the question ends
                await self._learn(direction, len(batch), patience)
            if not lasts or (alone and error.action is not Action.RESHAPE):
                return [self._gap(entity, direction, str(error)) for entity in batch]
            if alone and not statements:  # edges to statements may be many more than statements that say something
                return await self._ask(batch, direction, patience, stated=True)
            groups = Groups(batch, [], origin) if alone else Groups([], halves(batch), origin)
        whole = (self._ask(group, direction, patience, origin=groups.origin) for group in groups.together)
        replies = await concurrently(*(self._hub(entity, direction) for entity in groups.hubs), *whole)
        return [near for part in replies for near in part]

    def _read(self, batch: Sequence[Iri], direction: Direction, reply: Rows) -> list[Neighbourhood]:
        at = now()
        edges_of = edges.from_rows(reply.rows, (direction, self.name, at), self._shape)
        whole = [Neighbourhood(entity, direction, tuple(edges_of.get(entity, ())), self.name, at) for entity in batch]
        return [self._hubs.bounded(near) for near in whole]

    async def _hub(self, entity: Iri, direction: Direction) -> list[Neighbourhood]:
        try:
            return [await self._hubs.get(entity, direction, now())]
        except EndpointError as error:
            return [self._gap(entity, direction, str(error))]

    def _gap(self, entity: Iri, direction: Direction, reason: str) -> Neighbourhood:
        return Neighbourhood(entity, direction, (), self.name, now(), complete=False, failed=reason)

    async def _load(self, entities: Sequence[Iri], direction: Direction) -> dict[Iri, Neighbourhood]:
        keys = {f"{self._key} {direction} {entity.value}": entity for entity in entities}
        return await load(
            self._store, NAMESPACE, keys, lambda value, entity: _unpack(value, entity, direction, self.name)
        )

    async def _save(self, neighbourhoods: Iterable[Neighbourhood], days: float) -> None:
        """Failures are never kept; a hub's bounded neighbourhood is, with its mark."""
        values = {
            f"{self._key} {near.direction} {near.entity.value}": _pack(near)
            for near in neighbourhoods
            if not near.failed
        }
        if values:
            await keep(self._store, NAMESPACE, values, days * DAY)


def _begins_small(engine: str) -> bool:
    """Whether nothing is known of what the engine can take, or that it is little."""
    return engine == GENERIC.engine or (find(engine) or GENERIC).simple


def _has_failed(near: Neighbourhood) -> bool:
    return bool(near.failed)


class _CachedNeighbourhood(msgspec.Struct, array_like=True):
    """A neighbourhood as it is kept: what its entity and direction already say is left out."""

    retrieved_at: str
    complete: bool
    cut: str
    edges: list[tuple[Iri, Term, tuple[Qualifier, ...], Through | None]]


def _pack(near: Neighbourhood) -> bytes:
    rows = [(edge.relation, edge.end, edge.qualifiers, edge.through) for edge in near.edges]
    return encode(_CachedNeighbourhood(near.retrieved_at, near.complete, near.cut, rows))


def _unpack(value: bytes, entity: Iri, direction: Direction, name: str) -> Neighbourhood:
    kept = decode(value, _CachedNeighbourhood)
    unpacked = []
    for relation, end, qualifiers, through in kept.edges:
        subject, target = (entity, end) if direction == "out" else (end, entity)
        unpacked.append(Edge(subject, relation, target, direction, name, kept.retrieved_at, qualifiers, through))
    return Neighbourhood(entity, direction, tuple(unpacked), name, kept.retrieved_at, kept.complete, kept.cut)
