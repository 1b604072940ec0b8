"""One walk for each path that stands for several: as a model that writes paths is shown it."""

from collections.abc import Iterable, Sequence

import msgspec

from fedkg.core.path import PartialPath
from fedkg.core.terms import Edge, Term

__all__ = ["representatives"]


def representatives(paths: Sequence[PartialPath]) -> list[PartialPath]:
    """A walk for each path, over the same nodes as those of the others as far as there are such, in their order.

    So what is written of one is the beginning of many: the longest choose their nodes first.
    """
    used: set[tuple[Term, ...]] = set()
    longest = sorted(range(len(paths)), key=lambda place: -len(paths[place].steps))
    walks = {place: _walk(paths[place], used) for place in longest}
    return [walks[place] for place in range(len(paths))]


def _walk(path: PartialPath, used: set[tuple[Term, ...]]) -> PartialPath:
    """One walk along the path's steps, which adds its nodes to those that are used; itself where none connects."""
    leading = _leading(path)
    nodes: tuple[Term, ...] = (path.topic,)
    steps = []
    for step, edges in zip(path.steps, leading, strict=True):
        onward = [edge for edge in edges if edge.start == nodes[-1]]
        fresh = [edge for edge in onward if edge.end not in nodes] or onward
        edge = next((edge for edge in fresh if (*nodes, edge.end) in used), next(iter(fresh), None))
        if edge is None:
            return path
        nodes = (*nodes, edge.end)
        used.add(nodes)
        steps.append(msgspec.structs.replace(step, edges=(edge,)))
    return PartialPath(path.topic, tuple(steps), path.score)


def _leading(path: PartialPath) -> list[tuple[Edge, ...]]:
    """Of each step the edges from which the path goes on to its end."""
    leading: list[tuple[Edge, ...]] = []
    ends: Iterable[Term] | None = None
    for step in reversed(path.steps):
        edges = step.edges if ends is None else tuple(edge for edge in step.edges if edge.end in ends)
        leading.insert(0, edges)
        ends = {edge.start for edge in edges}
    return leading
