"""What one question has fetched so far: neighbourhoods in both directions, and the gaps among them."""

import itertools
from collections.abc import Iterable, Sequence

from fedkg.common.concurrency import concurrently
from fedkg.core.path import Neighbourhood, PartialPath
from fedkg.core.terms import BOTH, DirectedRelation, Direction, Edge, Iri, Term
from fedkg.core.usage import Gap
from fedkg.graph.base import Graph

__all__ = ["ExploredGraph", "closed", "frontier", "onward", "spread"]

Groups = dict[DirectedRelation, list[Edge]]
IDLE = 3
"""Steps of a path that may lead to nothing new: as many as the longest questions ask for (PQL-3h: versions of
versions)."""
ENOUGH = 8
"""Fetched tails that stand for all of a path: the lookahead gets so many for each of the best candidates."""


class ExploredGraph:
    """The part of the graph that a walk has seen."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._near: dict[tuple[Term, Direction], list[Neighbourhood]] = {}
        self._copies: dict[Term, set[Term]] = {}
        self._walked: set[tuple[Term, Direction]] = set()

    async def fetch(
        self, nodes: Iterable[Term], directions: Sequence[Direction] = BOTH, *, walked: bool = False
    ) -> None:
        """Fetches what is not there yet: one wave of requests, both directions at once.

        `walked`: the nodes lie on the way that the search takes; those that are only looked at ahead do not.
        """
        wanted = list(dict.fromkeys(node for node in nodes if isinstance(node, Iri)))
        if walked:
            self._walked.update(itertools.product(wanted, directions))
        missing = {way: [node for node in wanted if (node, way) not in self._near] for way in directions}
        await concurrently(*(self._fetch(nodes, way) for way, nodes in missing.items() if nodes))

    def known(self, node: Term) -> bool:
        """Whether the node's edges are there, in both directions."""
        return all((node, direction) in self._near for direction in BOTH)

    def edges(self, node: Term) -> list[Edge]:
        """The node's edges, as far as they were fetched."""
        return [edge for direction in BOTH for near in self._near.get((node, direction), ()) for edge in near.edges]

    def along(self, node: Term, relation: DirectedRelation) -> list[Edge]:
        """The node's edges of one relation and direction."""
        near = self._near.get((node, relation.direction), ())
        return [edge for part in near for edge in part.edges if edge.walked == relation]

    def alike(self, nodes: Iterable[Term]) -> set[Term]:
        """The nodes, and the copies of those whose edges were fetched."""
        return {same for node in nodes for same in (node, *self._copies.get(node, ()))}

    def complete(self, node: Term, direction: Direction) -> bool:
        """Whether all edges of the node in that direction are there; a literal has none."""
        near = self._near.get((node, direction))
        return not isinstance(node, Iri) or (near is not None and all(part.complete for part in near))

    def all(self) -> list[Neighbourhood]:
        """Everything that was fetched, in an order that does not depend on which direction came first."""
        kept = sorted(self._near.items(), key=lambda item: BOTH.index(item[0][1]))
        return [near for _, parts in kept for near in parts]

    def gaps(self, walked: set[Term]) -> list[Gap]:
        """What endpoints failed to say, each reason once per endpoint, and what was cut of the nodes walked through."""
        return _gaps((near, near.failed or (near.cut if near.entity in walked else "")) for near in self.all())

    def missing(self) -> list[Gap]:
        """What endpoints failed to say of the nodes on the way: not of those that were only looked at ahead."""
        return _gaps((near, near.failed) for near in self.all() if (near.entity, near.direction) in self._walked)

    def failures(self) -> tuple[str, ...]:
        """What endpoints ended with instead of edges, each once."""
        return tuple(dict.fromkeys(near.failed for near in self.all() if near.failed))

    async def _fetch(self, nodes: Sequence[Iri], direction: Direction) -> None:
        for near in await self.graph.neighbours(nodes, direction):
            self._near.setdefault((near.entity, direction), []).append(near)
            self._copies.setdefault(near.entity, set()).update(link.end for link in near.links)


def onward(explored: ExploredGraph, path: PartialPath, edges: Iterable[tuple[Term, Edge]]) -> tuple[Groups, Groups]:
    """Edges of the path's ends, each with the end that it starts at, by relation.

    Those that lead on, and those that lead back.

    Who shares a parent with somebody is not that person again, but of the parents of somebody's children that person is
    one. Never is the last step walked again, against its direction.
    """
    ancestors = path.ancestors()
    behind = {node: explored.alike({node, *ancestors.get(node, ())}) for node in dict(edges)}
    ahead: Groups = {}
    back: Groups = {}
    for node, edge in edges:
        (back if edge.end in behind[node] else ahead).setdefault(edge.walked, []).append(edge)
    if path.steps:
        back.pop(path.chain[-1].inverse, None)
    return ahead, back


def closed(path: PartialPath) -> set[Term]:
    """Where the path may not go any more: all that it has seen, once IDLE of its steps have led to nothing else.

    A circle is so walked round, but not for as long as there are steps left.
    """
    seen: set[Term] = {path.topic}
    idle = 0
    for step in path.steps:
        idle += seen.issuperset(step.tails)
        seen.update(step.tails)
    return seen if idle >= IDLE else set()


def frontier(paths: Sequence[PartialPath], budget: int, explored: ExploredGraph) -> list[list[Iri]]:
    """The tails of each path that are expanded, at most about `budget` in all, so that a hop stays one batch.

    Tails that the lookahead has fetched already stand for their path, where they are enough: asking for more would cost
    a hop its second wave. Where a path has too few, that wave is due, and each path gets its share.
    """
    share = max(1, budget // max(1, len(paths)))
    tails = [[tail for tail in path.tails if isinstance(tail, Iri)] for path in paths]
    known = [[tail for tail in iris if explored.known(tail)] for iris in tails]
    if all(len(there) >= min(len(iris), share, ENOUGH) for iris, there in zip(tails, known, strict=True)):
        return known
    return [_filled(iris, there, share) for iris, there in zip(tails, known, strict=True)]


def spread(paths: Sequence[PartialPath], budget: int) -> list[list[Iri]]:
    """The tails of each path, at most `budget` in all: the first one of every path, then the second ones, and so on."""
    rows = [[(number, tail) for tail in path.tails if isinstance(tail, Iri)] for number, path in enumerate(paths)]
    turns = (entry for turn in itertools.zip_longest(*rows) for entry in turn if entry)
    chosen: list[list[Iri]] = [[] for _ in paths]
    for number, tail in itertools.islice(turns, budget):
        chosen[number].append(tail)
    return chosen


def _filled(tails: Sequence[Iri], known: Sequence[Iri], share: int) -> list[Iri]:
    """What is known, and of the others as many as there is room for; in the order of the tails."""
    room = max(0, share - len(known))
    wanted = {*known, *itertools.islice((tail for tail in tails if tail not in known), room)}
    return [tail for tail in tails if tail in wanted]


def _gaps(parts: Iterable[tuple[Neighbourhood, str]]) -> list[Gap]:
    """The neighbourhoods that have a reason to be missing, those of one endpoint and reason together."""
    gaps: dict[tuple[str, str], list[str]] = {}
    for near, reason in parts:
        if reason:
            gaps.setdefault((near.endpoint, reason), []).append(f"{near.entity.value} ({near.direction})")
    return [Gap(endpoint, _some(asked), reason) for (endpoint, reason), asked in gaps.items()]


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
