"""All shortest paths between topic and answer entities, by breadth-first search from both ends at once.

They are what GCR is trained on (Luo et al. 2024, section 7, "Fine-tuning Datasets"); a path may walk an edge either
way. The search itself asks no endpoint: it names the nodes whose edges it needs next, and looks at what was fetched.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import BOTH, OPPOSITE, Direction, Edge, Iri, Literal, Term, own_name
from fedkg.graph.explored import ExploredGraph

__all__ = ["MOST_PATHS", "Bounds", "Near", "Shortest", "ShortestPathSearch", "key", "shortest"]

MOST_PATHS = 1_000
"""Most paths between one topic and one answer."""


class Bounds(msgspec.Struct, frozen=True):
    """How far is searched: `hops` a path may have, and entities of one hop that are expanded around one end."""

    hops: int
    frontier: int


class Shortest(msgspec.Struct, frozen=True):
    """The paths of each pair of a topic and an answer, each with one edge a step.

    `cut` says what was left out, so that there may be further or shorter paths; nothing where these are all. `failed`
    are the errors of endpoints, if they are a reason for that.
    """

    paths: tuple[PartialPath, ...]
    cut: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Near(Protocol):
    """What is known of the surroundings of a node that was fetched."""

    def edges(self, node: Term) -> Sequence[Edge]:
        """Its edges, each walked away from it."""
        ...

    def complete(self, node: Term, direction: Direction) -> bool:
        """Whether these are all edges of that direction."""
        ...

    def alike(self, nodes: Iterable[Term]) -> set[Term]:
        """The nodes and the copies of them."""
        ...


async def shortest(explored: ExploredGraph, topics: Sequence[Iri], answers: Sequence[Term], bounds: Bounds) -> Shortest:
    """The shortest paths from every topic to every answer; one wave of requests a hop for all of them together.

    An answer that is a literal is found by what a person reads, whatever its datatype; a path may end at a copy of the
    answer. An answer that is the topic has no path.
    """
    await explored.fetch([*topics, *answers])
    search = ShortestPathSearch(topics, answers, bounds, explored)
    for nodes in search.waves():
        await explored.fetch(nodes)
    paths, cut = search.paths()
    if search.settled:
        return Shortest(paths, cut)
    gaps = tuple(f"{gap.endpoint}: {gap.asked}: {gap.reason}" for gap in explored.gaps(search.expanded))
    return Shortest(paths, (*cut, *search.unseen(), *gaps), explored.failures())


def key(term: Term) -> Term:
    """What two terms are compared by: a literal's readable text, else the term itself."""
    return Literal(own_name(term)) if isinstance(term, Literal) else term


class Ball:
    """The nodes within some hops of a root, and of `copies` of it.

    `depth` tells how far each is away, `into` by which edges it was reached, walked away from the root, `rim` are the
    farthest. `grown` counts the hops, `sound` those before anything was left out: infinite once there is nothing
    further.
    """

    def __init__(self, root: Term, copies: Iterable[Term] = ()) -> None:
        self.root = key(root)
        self.roots = {self.root, *copies}
        self.depth: dict[Term, int] = dict.fromkeys(self.roots, 0)
        self.into: dict[Term, list[Edge]] = {}
        self.rim: list[Term] = [root] if isinstance(root, Iri) else []
        self.grown = 0
        self.sound: float = 0
        self.unseen = 0

    @property
    def whole(self) -> bool:
        """Whether nothing was left out until now."""
        return self.sound >= self.grown

    def grow(self, near: Near, most: int) -> None:
        """One hop further, over the edges of at most so many nodes."""
        nodes = self.rim[:most]
        self.unseen += len(self.rim) - len(nodes)
        whole = self.whole and nodes == self.rim
        whole = whole and all(near.complete(node, way) for node in nodes for way in BOTH)
        self.grown += 1
        self.rim = list(dict.fromkeys(end for node in nodes for end in self._reached(near.edges(node))))
        if whole:
            self.sound = self.grown if self.rim else math.inf

    def walks(self, node: Term) -> Iterator[tuple[Edge, ...]]:
        """Every shortest walk from the root to the node."""
        if node in self.roots:
            yield ()
        for edge in self.into.get(node, ()):
            yield from ((*before, edge) for before in self.walks(key(edge.start)))

    def _reached(self, edges: Iterable[Edge]) -> Iterator[Iri]:
        """The ends that no shorter way leads to and from which there may be a way on."""
        for edge in edges:
            end = key(edge.end)
            if self.depth.setdefault(end, self.grown) == self.grown:
                self.into.setdefault(end, []).append(edge)
                if isinstance(end, Iri):
                    yield end


class Pair:
    """A topic and an answer with what was seen around each of them; `hops` is how long a path may be."""

    def __init__(self, topic: Ball, answer: Ball, hops: int) -> None:
        self.topic, self.answer, self.hops = topic, answer, hops

    @property
    def length(self) -> int | None:
        """Steps of the shortest path that was seen; None where none is short enough."""
        least = min((self._through(node) for node in self._common()), default=self.hops + 1)
        return least if least <= self.hops else None

    @property
    def settled(self) -> bool:
        """Whether all shortest paths were seen: none can lie beyond what was left out."""
        return self.topic.sound + self.answer.sound >= (self.length or self.hops)

    def growing(self) -> Ball | None:
        """The end that is searched on from; None where that is of no use any more.

        The end with fewer nodes to expand, but first one of which nothing was left out: it can make up for the other.
        """
        ends = [ball for ball in (self.topic, self.answer) if ball.rim]
        whole = [ball for ball in ends if ball.whole]
        seen = self.topic.grown + self.answer.grown >= (self.length or self.hops)
        if self.settled or (seen and not whole):
            return None
        return min(whole or ends, key=lambda ball: len(ball.rim), default=None)

    def paths(self) -> Iterator[PartialPath]:
        """Every shortest path that was seen; one may come several times, once for each node where both ends meet."""
        length = self.length
        for node in self._common():
            if self._through(node) == length:
                for there in self.topic.walks(node):
                    yield from (self._beam((*there, *_turned(back))) for back in self.answer.walks(node))

    def _beam(self, edges: Sequence[Edge]) -> PartialPath:
        assert isinstance(self.topic.root, Iri)
        return PartialPath(self.topic.root, tuple(Step(0, edge.walked, (edge,)) for edge in edges))

    def _through(self, node: Term) -> int:
        return self.topic.depth[node] + self.answer.depth[node]

    def _common(self) -> Iterator[Term]:
        """Where both ends meet; in no literal, but for an answer that is one: a shared date is no way on."""
        near, far = sorted((self.topic.depth, self.answer.depth), key=len)
        return (node for node in near if node in far and (isinstance(node, Iri) or node in self.answer.roots))


class ShortestPathSearch:
    """The search between all topics and all answers; ends that several pairs share are searched from once."""

    def __init__(self, topics: Sequence[Iri], answers: Sequence[Term], bounds: Bounds, near: Near) -> None:
        starts = [Ball(topic) for topic in dict.fromkeys(topics)]
        ends = [Ball(answer, near.alike([answer])) for answer in {key(answer): answer for answer in answers}.values()]
        both = itertools.product(starts, ends)
        self._pairs = [Pair(start, end, bounds.hops) for start, end in both if start.root not in end.roots]
        self._bounds = bounds
        self._near = near
        self.expanded: set[Term] = set()

    @property
    def settled(self) -> bool:
        """Whether all shortest paths of all pairs were seen."""
        return all(pair.settled for pair in self._pairs)

    def waves(self) -> Iterator[list[Term]]:
        """The nodes whose edges are needed, hop by hop; they must be known when the next ones are asked for."""
        while balls := {id(ball): ball for pair in self._pairs if (ball := pair.growing())}:
            nodes = [node for ball in balls.values() for node in ball.rim[: self._bounds.frontier]]
            self.expanded.update(nodes)
            yield nodes
            for ball in balls.values():
                ball.grow(self._near, self._bounds.frontier)

    def paths(self) -> tuple[tuple[PartialPath, ...], tuple[str, ...]]:
        """The paths of all pairs, each once, and of which pairs there are more than are listed."""
        listed = [(pair, _distinct(pair.paths())) for pair in self._pairs]
        more = (pair for pair, paths in listed if len(paths) > MOST_PATHS)
        cut = (f"only {MOST_PATHS} paths from {pair.topic.root.text} to {pair.answer.root.text}" for pair in more)
        return tuple(path for _, paths in listed for path in paths[:MOST_PATHS]), tuple(cut)

    def unseen(self) -> list[str]:
        """Around which ends entities were not expanded, for there were too many."""
        open_ends = (ball for pair in self._pairs if not pair.settled for ball in (pair.topic, pair.answer))
        ends = {ball.root: ball.unseen for ball in open_ends if ball.unseen}
        return [f"{number} entities around {root.text} were not expanded" for root, number in ends.items()]


def _distinct(paths: Iterable[PartialPath]) -> list[PartialPath]:
    """The paths without those that say the same again, one more than are listed at most."""
    distinct: dict[tuple[object, ...], PartialPath] = {}
    for path in paths:
        distinct.setdefault(tuple((step.relation, step.tails) for step in path.steps), path)
        if len(distinct) > MOST_PATHS:
            break
    return list(distinct.values())


def _turned(edges: Sequence[Edge]) -> list[Edge]:
    """A walk in the other direction; the link to a copy then stands before the step after it."""
    turned: list[Edge] = []
    link: Edge | None = None
    for edge in reversed(edges):
        turned.append(msgspec.structs.replace(_back(edge), same=link))
        link = edge.same and _back(edge.same)
    return turned


def _back(edge: Edge) -> Edge:
    return msgspec.structs.replace(edge, direction=OPPOSITE[edge.direction], same=None)
