"""Overflow: which entities to ask for together after the reply to a batch was cut off."""

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from fedkg.common.concurrency import concurrently
from fedkg.core import deadline
from fedkg.core.terms import Direction, Iri, Term
from fedkg.errors import EndpointError
from fedkg.graph.base import EndpointSource, chunks
from fedkg.sparql import build
from fedkg.sparql.reply import Rows, counted

__all__ = ["Groups", "Origin", "Overflow"]

Origin = Literal["new", "rest", "counted"]
"""Where a batch comes from: nothing was cut off yet, it is left of one that was, or its edges were counted."""

COUNTED = 40
"""Entities whose edges one query counts."""
SECONDS = 15.0
"""For counting, of which one request may take a third (`EndpointClient.select`)."""
PAUSE = 600.0
"""Seconds without counts after one that failed: the endpoint answers other queries meanwhile."""

log = logging.getLogger(__name__)


class Groups(NamedTuple):
    """What to ask for anew: hubs, and entities that share a request."""

    hubs: Sequence[Iri]
    together: Sequence[Sequence[Iri]]
    origin: Origin


class Overflow:
    """Sorts the entities of a batch into hubs and groups that fit into a reply, by the rows that did come.

    Where what is left of the batch will not fit either, or did not, the endpoint counts the edges of all but the hubs,
    up to one more than a reply takes: one request in place of one after another that each find one more entity with
    very many. An endpoint that cannot count is asked as if there were no counts.
    """

    def __init__(self, source: EndpointSource) -> None:
        self._select = source.select
        self._shape = source.profile.shape
        limits = source.profile.limits
        self._rows = limits.rows
        self._crowd = min(limits.entity, limits.rows // 2)
        self._name = source.name
        self._counts = False
        self._not_before = 0.0

    async def groups(self, batch: Sequence[Iri], direction: Direction, reply: Rows, origin: Origin) -> Groups:
        """Nothing at all where no entity has many more rows than the others.

        A batch that was counted may still overflow, since edges are counted and not the rows that they take; it is not
        counted once more.
        """
        seen = Counter(row.get("s" if direction == "out" else "o") for row in reply.rows)
        hubs = [entity for entity in batch if seen[entity] > self._rows or len(batch) == 1]
        crowded = [entity for entity in batch if seen[entity] > self._crowd and entity not in hubs]
        if not hubs and not crowded:
            return Groups([], [], origin)
        rest = [entity for entity in batch if entity not in hubs and entity not in crowded]
        again = origin == "rest" or (origin == "new" and self._too_many(rest, seen))
        if rest and again and (edges := await self._edges([*crowded, *rest], direction)):
            hubs += [entity for entity in edges if edges[entity] > self._rows]
            fitting = {entity: max(size, seen[entity]) for entity, size in edges.items() if size <= self._rows}
            return Groups(hubs, _packed(fitting, self._rows), "counted")
        together = [*([entity] for entity in crowded), *([rest] if rest else [])]
        return Groups(hubs, together, "rest" if origin == "new" else origin)

    def _too_many(self, rest: Sequence[Iri], seen: Mapping[Term | None, int]) -> bool:
        """Whether these are likely to overflow, too: all of them would have as many rows as those have that came."""
        came = [seen[entity] for entity in rest if seen[entity]]
        return sum(came) * len(rest) > self._rows * len(came)

    async def _edges(self, entities: Sequence[Iri], direction: Direction) -> dict[Iri, int]:
        """How many edges each has, up to one more than a reply takes; nothing where that cannot be had now.

        The first count is a trial: nothing else is counted meanwhile, nor for a while after one that failed. Failures
        side by side, one for each batch, would shut an endpoint that answers all else.
        """
        if time.monotonic() < self._not_before:
            return {}
        parts, edges = chunks(entities, COUNTED), dict[Iri, int]()
        try:
            with deadline.within(SECONDS):
                if not self._counts:
                    self._not_before = time.monotonic() + PAUSE
                    edges |= await self._count(parts[0], direction)
                    self._counts, self._not_before = True, 0.0
                for more in await concurrently(
                    *(self._count(part, direction) for part in parts if part[0] not in edges)
                ):
                    edges |= more
        except EndpointError as error:
            log.info("%s: edges are not counted for %.0f s: %s", self._name, PAUSE, error)
            self._not_before = time.monotonic() + PAUSE
            return {}
        return edges

    async def _count(self, entities: Sequence[Iri], direction: Direction) -> dict[Iri, int]:
        """What the endpoint counts, in one request; what it does not say is as much as fits. Raises EndpointError."""
        query = build.edge_counts(entities, direction, self._shape, self._rows + 1)
        rows = (await self._select.select(query, "neighbours")).rows
        counts = {name: counted(term, self._rows) for row in rows for name, term in row.items()}
        return {entity: counts.get(f"n{place}", self._rows) for place, entity in enumerate(entities)}


def _packed(sizes: Mapping[Iri, int], room: int) -> list[Sequence[Iri]]:
    """The entities in groups of at most that size in all, by first fit, the largest first."""
    groups: list[list[Iri]] = []
    left: list[int] = []
    for entity in sorted(sizes, key=lambda entity: -sizes[entity]):
        place = next((place for place, space in enumerate(left) if sizes[entity] <= space), len(groups))
        if place == len(groups):
            groups.append([])
            left.append(room)
        groups[place].append(entity)
        left[place] -= sizes[entity]
    return list(groups)
