"""Entities with more edges than an entity may have: some edges of each relation, and a note of what was left out."""

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Direction, Edge, Iri, Term
from fedkg.graph.base import EndpointSource, Patience, all_in_halves, chunks
from fedkg.sparql import build, edges
from fedkg.sparql.reply import Rows

__all__ = ["HUB_BRANCHES", "Hubs"]

HUB_RELATIONS = 500
HUB_BRANCHES = 40


class Hubs:
    """Asks one endpoint for hubs, and cuts what it gave whole."""

    def __init__(self, source: EndpointSource) -> None:
        self._name = source.name
        self._select = source.select
        self._shape = source.profile.shape
        self._limits = source.profile.limits

    async def get(self, entity: Iri, direction: Direction, at: str) -> Neighbourhood:
        """The relations, then some tails of each; mediators are not looked into. Raises EndpointError.

        One tail more than is shown is asked for, so that it is known which relations have more. Without any relation it
        is still cut: those that were found may all be technical, and others lie behind what was looked at.
        """
        relations = await self._relations(entity, direction)
        per = self._per(len(relations))
        ends = await self._ends(entity, relations, direction, per + 1)
        near = Neighbourhood(entity, direction, (), self._name, at)
        shown = itertools.chain.from_iterable(
            self._edges(near, relation, ends[relation][:per]) for relation in relations
        )
        more = sum(len(tails) > per for tails in ends.values())
        return self._cut(near, sorted(shown, key=edges.sort_key), per, len(relations), more)

    def bounded(self, whole: Neighbourhood) -> Neighbourhood:
        """The neighbourhood, cut where it has more edges than an entity may have; its edges are sorted by relation."""
        if len(whole.edges) <= self._limits.entity:
            return whole
        relations = [list(group) for _, group in itertools.groupby(whole.edges, key=attrgetter("walked"))]
        per = self._per(len(relations))
        kept = [edge for group in relations for edge in group[:per]]
        return self._cut(whole, kept, per, len(relations), sum(len(group) > per for group in relations))

    async def _relations(self, entity: Iri, direction: Direction) -> list[Iri]:
        most = min(HUB_RELATIONS, self._limits.rows)
        query = partial(build.hub_relations, entity, direction, self._shape, most)
        rows = (await self._select.select(query, "neighbours")).rows
        return sorted({term for row in rows if isinstance(term := row.get("p"), Iri) and term.queryable})

    async def _ends(
        self, entity: Iri, relations: Sequence[Iri], direction: Direction, most: int
    ) -> Mapping[Iri, list[Term]]:
        """At most so many ends of each relation."""

        async def ask(part: Sequence[Iri]) -> dict[Iri, list[Term]]:
            return _ends(part, await self._select.select(build.hub_tails(entity, part, direction, most), "neighbours"))

        patience = Patience()
        branches = max(1, min(HUB_BRANCHES, self._limits.rows // most))
        parts = await concurrently(*(all_in_halves(part, ask, patience) for part in chunks(relations, branches)))
        return {relation: ends for part in parts for relation, ends in part.items()}

    def _edges(self, near: Neighbourhood, relation: Iri, ends: Sequence[Term]) -> list[Edge]:
        known, far = ("s", "o") if near.direction == "out" else ("o", "s")
        rows = [{known: near.entity, "p": relation, far: end} for end in ends]
        origin = near.direction, self._name, near.retrieved_at
        return edges.from_rows(rows, origin, self._shape).get(near.entity, [])

    def _per(self, relations: int) -> int:
        """The most edges of each of so many relations; one more of them all fits into a reply."""
        limits = self._limits
        return max(1, min(limits.relation, limits.entity // max(1, relations), limits.rows - 1))

    def _cut(self, near: Neighbourhood, kept: Sequence[Edge], per: int, relations: int, more: int) -> Neighbourhood:
        cut = f"a hub: at most {per} edges a relation; {more} of {relations} relations have more"
        return msgspec.structs.replace(near, edges=tuple(kept[: self._limits.entity]), complete=False, cut=cut)


def _ends(relations: Sequence[Iri], reply: Rows) -> dict[Iri, list[Term]]:
    """The ends of each relation in a reply to `build.hub_tails`."""
    return {
        relation: [row[f"x{number}"] for row in reply.rows if f"x{number}" in row]
        for number, relation in enumerate(relations)
    }
