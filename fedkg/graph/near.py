"""Neighbourhoods of one endpoint: batched, bounded, and cached one by one.

A batch whose reply is cut off is asked again without the entities that filled it, and those by themselves; one that is too
much for the endpoint is asked again in halves. An entity that is too large even alone is asked for its relations, then for
some tails of each. What cannot be had becomes a marked gap, never an exception and never a loop.

What an entity's neighbourhood is does not depend on the batch that it came in.
"""

import asyncio
import contextlib
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from fedkg.errors import Action, EndpointError, TermError
from fedkg.fetch.base import Rows
from fedkg.graph.base import Patience, Source, all_in_halves, chunks, halves
from fedkg.records import Neighbourhood, decode, encode
from fedkg.sparql import build, edges
from fedkg.terms import DirectedRelation, Direction, Edge, Iri, Qualifier, Term, Through

__all__ = ["Neighbours"]

NAMESPACE = "neighbours"
SECONDS = 7 * 86_400.0
HUB_RELATIONS = 500
HUB_BRANCHES = 40
NO_QUERY = "no query can carry this IRI"


class Neighbours:
    """Fetches and keeps the neighbourhoods of one endpoint; `hits` counts those that needed no request."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.hits = 0
        self._select = source.select
        self._shape = shape = source.profile.shape
        self._limits = limits = source.profile.limits
        self._store = source.store
        bounds = (limits.rows, limits.relation, limits.entity)
        what = (source.identity, build.DIALECT_VERSION, shape.edges, shape.mediators, bounds)
        self._key = hashlib.blake2s(encode(what), digest_size=12).hexdigest()

    async def get(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The neighbourhood of each entity, in their order; at most one request per `batch` entities that are new."""
        wanted = list(dict.fromkeys(entities))
        kept = await self._load(wanted, direction)
        missing = [entity for entity in wanted if entity not in kept and entity.queryable]
        self.hits += len(kept)
        parts = await asyncio.gather(*(self._fetch(part, direction) for part in chunks(missing, self._limits.batch)))
        fetched = {near.entity: near for part in parts for near in part}
        known = kept | fetched
        return [known.get(entity) or self._gap(entity, direction, NO_QUERY) for entity in wanted]

    async def _fetch(self, batch: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """One batch; it is kept at once, so that an interrupted walk does not ask for it again."""
        found = await self._ask(batch, direction, Patience())
        await self._save(found)
        return found

    async def _ask(self, batch: Sequence[Iri], direction: Direction, patience: Patience) -> list[Neighbourhood]:
        query = build.neighbours(batch, direction, self._shape, self._limits.rows + 1)
        try:
            reply = await self._select.select(query, "neighbours")
            if len(reply.rows) <= self._limits.rows:
                return self._read(batch, direction, reply)
            parts = self._apart(batch, direction, reply)
        except EndpointError as error:
            alone = len(batch) == 1 and error.action is not Action.RESHAPE
            if not patience.lasts(error) or alone:
                return [self._gap(entity, direction, str(error)) for entity in batch]
            parts = halves(batch)
        if len(batch) == 1:
            return [await self._hub(batch[0], direction)]
        found = await asyncio.gather(*(self._ask(part, direction, patience) for part in parts))
        return [near for part in found for near in part]

    def _read(self, batch: Sequence[Iri], direction: Direction, reply: Rows) -> list[Neighbourhood]:
        at = _now()
        found = edges.from_rows(reply.rows, (direction, self.name, at), self._shape.mediators)
        whole = [Neighbourhood(entity, direction, tuple(found.get(entity, ())), self.name, at) for entity in batch]
        return [self._bounded(near) for near in whole]

    def _apart(self, batch: Sequence[Iri], direction: Direction, reply: Rows) -> list[Sequence[Iri]]:
        """The parts to ask for after an overflow: each entity that filled the reply alone, the others together."""
        counts = Counter(row.get("s" if direction == "out" else "o") for row in reply.rows)
        most = min(self._limits.entity, self._limits.rows // 2)
        crowded = [entity for entity in batch if counts[entity] > most]
        rest = [entity for entity in batch if counts[entity] <= most]
        return [*([entity] for entity in crowded), *([rest] if rest else [])] if crowded else halves(batch)

    async def _hub(self, entity: Iri, direction: Direction) -> Neighbourhood:
        """Relations first, then at most `per` tails of each; mediators of a hub are not looked into."""
        query = build.hub_relations(entity, direction, self._shape, min(HUB_RELATIONS, self._limits.rows))
        try:
            rows = (await self._select.select(query, "neighbours")).rows
            relations = sorted({term for row in rows if isinstance(term := row.get("p"), Iri) and term.queryable})
            per = self._per(len(relations))
            found = await self._tails(entity, relations, direction, per)
        except EndpointError as error:
            return self._gap(entity, direction, str(error))
        near = Neighbourhood(entity, direction, (), self.name, _now())
        kept = sorted(itertools.chain.from_iterable(found.values()), key=edges.sort_key)
        return self._cut(near, kept, per, len(relations)) if relations else near

    async def _tails(
        self, entity: Iri, relations: Sequence[Iri], direction: Direction, per: int
    ) -> dict[Iri, list[Edge]]:
        """At most `per` edges of each relation."""

        async def ask(part: Sequence[Iri]) -> dict[Iri, list[Edge]]:
            reply = await self._select.select(build.hub_tails(entity, part, direction, per), "neighbours")
            return {relation: self._tail(entity, relation, direction, ends) for relation, ends in _ends(part, reply)}

        patience = Patience()
        branches = max(1, min(HUB_BRANCHES, self._limits.rows // per))
        parts = await asyncio.gather(*(all_in_halves(part, ask, patience) for part in chunks(relations, branches)))
        return {relation: found for part in parts for relation, found in part.items()}

    def _tail(self, entity: Iri, relation: Iri, direction: Direction, ends: Iterable[Term]) -> list[Edge]:
        known, far = ("s", "o") if direction == "out" else ("o", "s")
        rows = [{known: entity, "p": relation, far: end} for end in ends]
        return edges.from_rows(rows, (direction, self.name, _now()), self._shape.mediators).get(entity, [])

    def _bounded(self, whole: Neighbourhood) -> Neighbourhood:
        """The neighbourhood, cut where it has more edges than an entity may have."""
        if len(whole.edges) <= self._limits.entity:
            return whole
        per = self._per(relations := len({edge.walked for edge in whole.edges}))
        seen: Counter[DirectedRelation] = Counter()
        kept = []
        for edge in whole.edges:
            seen[edge.walked] += 1
            if seen[edge.walked] <= per:
                kept.append(edge)
        return self._cut(whole, kept, per, relations)

    def _per(self, relations: int) -> int:
        """The most edges of each of so many relations."""
        return max(1, min(self._limits.relation, self._limits.entity // max(1, relations), self._limits.rows))

    def _cut(self, near: Neighbourhood, kept: Sequence[Edge], per: int, relations: int) -> Neighbourhood:
        cut = f"a hub: at most {per} edges of each of its {relations} relations"
        return msgspec.structs.replace(near, edges=tuple(kept[: self._limits.entity]), complete=False, cut=cut)

    def _gap(self, entity: Iri, direction: Direction, reason: str) -> Neighbourhood:
        return Neighbourhood(entity, direction, (), self.name, _now(), complete=False, failed=reason)

    async def _load(self, entities: Sequence[Iri], direction: Direction) -> dict[Iri, Neighbourhood]:
        keys = {f"{self._key} {direction} {entity.value}": entity for entity in entities}
        values = await asyncio.to_thread(self._store.get_many, NAMESPACE, list(keys))
        found = {}
        for key, value in values.items():
            # what the cache holds and nobody can read is a miss
            with contextlib.suppress(msgspec.MsgspecError, TermError):
                found[keys[key]] = _unpack(value, keys[key], direction, self.name)
        return found

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


def _ends(relations: Sequence[Iri], reply: Rows) -> list[tuple[Iri, list[Term]]]:
    """The tails of each relation in a reply to `build.hub_tails`."""
    return [
        (relation, [row[f"x{number}"] for row in reply.rows if f"x{number}" in row])
        for number, relation in enumerate(relations)
    ]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
