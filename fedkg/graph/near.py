"""Neighbourhoods of one endpoint: batched, bounded, and cached one by one.

A batch that is cut off is asked again in halves; an entity that is too large by itself is asked for its relations first,
then for some tails of each. What cannot be had becomes a marked gap, never an exception and never a loop.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from fedkg.errors import Action, EndpointError
from fedkg.fetch.base import Rows
from fedkg.graph.base import Source, chunks
from fedkg.records import Neighbourhood, decode, encode
from fedkg.sparql import build, edges
from fedkg.terms import Direction, Edge, Iri, Qualifier, Term, Through

__all__ = ["Neighbours"]

NAMESPACE = "neighbours"
SECONDS = 7 * 86_400.0
HUB_RELATIONS = 500
HUB_BRANCHES = 20


class Neighbours:
    """Fetches and keeps the neighbourhoods of one endpoint; `hits` counts those that needed no request."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.hits = 0
        self._select = source.select
        self._shape = shape = source.profile.shape
        self._limits = limits = source.profile.limits
        self._store = source.store
        what = (source.identity, build.DIALECT_VERSION, shape.edges, shape.mediators, limits.relation, limits.entity)
        self._key = hashlib.blake2s(encode(what), digest_size=12).hexdigest()

    async def get(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The neighbourhood of each entity, in their order; at most one request per `batch` entities that are new."""
        wanted = list(dict.fromkeys(entities))
        kept = await self._load(wanted, direction)
        missing = [entity for entity in wanted if entity not in kept]
        self.hits += len(kept)
        parts = await asyncio.gather(*(self._fetch(part, direction) for part in chunks(missing, self._limits.batch)))
        fetched = {near.entity: near for part in parts for near in part}
        await self._save(fetched.values())
        return [kept.get(entity) or fetched[entity] for entity in wanted]

    async def _fetch(self, batch: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        askable = [entity for entity in batch if entity.queryable]
        odd = [self._gap(entity, direction, "no query can carry this IRI") for entity in batch if not entity.queryable]
        return odd + (await self._ask(askable, direction) if askable else [])

    async def _ask(self, batch: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        query = build.neighbours(batch, direction, self._shape, self._limits.rows + 1)
        try:
            rows = await self._select.select(query, "neighbours")
        except EndpointError as error:
            return await self._retry_smaller(batch, direction, error)
        if len(rows.rows) > self._limits.rows:
            return await self._split(batch, direction, rows)
        found = edges.from_rows(rows.rows, (direction, self.name, _now()), self._shape.mediators)
        return [self._bounded(entity, direction, found.get(entity, [])) for entity in batch]

    async def _retry_smaller(
        self, batch: Sequence[Iri], direction: Direction, error: EndpointError
    ) -> list[Neighbourhood]:
        if error.action is not Action.RESHAPE:
            return [self._gap(entity, direction, str(error)) for entity in batch]
        if len(batch) == 1:
            return [await self._hub(batch[0], direction)]
        return await self._both(batch[: len(batch) // 2], batch[len(batch) // 2 :], direction)

    async def _split(self, batch: Sequence[Iri], direction: Direction, rows: Rows) -> list[Neighbourhood]:
        """After an overflow: the hubs that the rows give away by themselves, the rest as one batch again."""
        counts = Counter(row.get("s" if direction == "out" else "o") for row in rows.rows)
        hubs = [entity for entity in batch if counts[entity] > self._limits.entity] or list(batch[:1])
        rest = [entity for entity in batch if entity not in set(hubs)]
        found = await asyncio.gather(*(self._hub(entity, direction) for entity in hubs))
        return list(found) + (await self._ask(rest, direction) if rest else [])

    async def _both(self, left: Sequence[Iri], right: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        first, second = await asyncio.gather(self._ask(left, direction), self._ask(right, direction))
        return first + second

    async def _hub(self, entity: Iri, direction: Direction) -> Neighbourhood:
        """Relations first, then at most `per` tails of each; mediators of a hub are not looked into."""
        try:
            query = build.hub_relations(entity, direction, self._shape, HUB_RELATIONS)
            relations = _iris(row["p"] for row in (await self._select.select(query, "neighbours")).rows)
            per = max(1, min(self._limits.relation, self._limits.entity // max(1, len(relations))))
            parts = await asyncio.gather(
                *(self._tails(entity, part, direction, per) for part in chunks(relations, HUB_BRANCHES))
            )
        except EndpointError as error:
            return self._gap(entity, direction, str(error))
        found = sorted((edge for part in parts for edge in part), key=edges.sort_key)
        cut = f"a hub: at most {per} edges of each of its {len(relations)} relations"
        return Neighbourhood(entity, direction, tuple(found), self.name, _now(), complete=False, cut=cut)

    async def _tails(self, entity: Iri, relations: Sequence[Iri], direction: Direction, per: int) -> list[Edge]:
        query = build.hub_tails(entity, relations, direction, per)
        found = (await self._select.select(query, "neighbours")).rows
        if direction == "out":
            rows = [
                {"s": entity, "p": relations[int(name[1:])], "o": end} for row in found for name, end in row.items()
            ]
        else:
            rows = [
                {"s": end, "p": relations[int(name[1:])], "o": entity} for row in found for name, end in row.items()
            ]
        return edges.from_rows(rows, (direction, self.name, _now()), self._shape.mediators).get(entity, [])

    def _bounded(self, entity: Iri, direction: Direction, found: list[Edge]) -> Neighbourhood:
        """A hub that came whole is cut the same way as one that did not, so that the batch makes no difference."""
        at = found[0].retrieved_at if found else _now()
        if len(found) <= self._limits.entity:
            return Neighbourhood(entity, direction, tuple(found), self.name, at)
        counts: Counter[Iri] = Counter()
        kept = []
        relations = len({edge.relation for edge in found})
        per = max(1, min(self._limits.relation, self._limits.entity // relations))
        for edge in found:
            counts[edge.relation] += 1
            if counts[edge.relation] <= per:
                kept.append(edge)
        cut = f"a hub: at most {per} edges of each of its {relations} relations"
        return Neighbourhood(entity, direction, tuple(kept), self.name, at, complete=False, cut=cut)

    def _gap(self, entity: Iri, direction: Direction, reason: str) -> Neighbourhood:
        return Neighbourhood(entity, direction, (), self.name, _now(), complete=False, failed=reason)

    async def _load(self, entities: Sequence[Iri], direction: Direction) -> dict[Iri, Neighbourhood]:
        keys = {f"{self._key} {direction} {entity.value}": entity for entity in entities}
        values = await asyncio.to_thread(self._store.get_many, NAMESPACE, list(keys))
        return {keys[key]: _unpack(value, keys[key], direction, self.name) for key, value in values.items()}

    async def _save(self, found: Iterable[Neighbourhood]) -> None:
        """Failures are never kept; a hub's bounded neighbourhood is, with its mark."""
        values = {f"{self._key} {near.direction} {near.entity.value}": _pack(near) for near in found if not near.failed}
        if values:
            await asyncio.to_thread(self._store.put_many, NAMESPACE, values, SECONDS)


class _Kept(msgspec.Struct, array_like=True):
    """A neighbourhood as it is kept: what its entity and direction already say is left out."""

    retrieved_at: str
    complete: bool
    cut: str
    edges: list[tuple[Iri, Term, tuple[Qualifier, ...], Through | None]]


def _pack(near: Neighbourhood) -> bytes:
    rows = [(edge.relation, edge.end, edge.qualifiers, edge.through) for edge in near.edges]
    return encode(_Kept(near.retrieved_at, near.complete, near.cut, rows))


def _unpack(value: bytes, entity: Iri, direction: Direction, name: str) -> Neighbourhood:
    kept = decode(value, _Kept)
    found = []
    for relation, end, qualifiers, through in kept.edges:
        subject, target = (entity, end) if direction == "out" else (end, entity)
        found.append(Edge(subject, relation, target, direction, name, kept.retrieved_at, qualifiers, through))
    return Neighbourhood(entity, direction, tuple(found), name, kept.retrieved_at, kept.complete, kept.cut)


def _iris(terms: Iterable[Term]) -> list[Iri]:
    return sorted({term for term in terms if isinstance(term, Iri) and term.queryable})


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
