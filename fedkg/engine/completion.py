"""Answer-set completion: all tails along a chain of relations, so that a question with nine answers returns nine."""

import itertools
from collections.abc import Collection, Sequence

import msgspec

from fedkg.common.concurrency import concurrently
from fedkg.core.dates import repeated
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import BOTH, Direction, Edge, Iri, Literal, Term
from fedkg.graph.explored import ExploredGraph, onward
from fedkg.retrieval.first_page import dated_once

__all__ = ["MOST_TAILS", "complete"]

MOST_TAILS = 1_000
"""Most nodes that a chain is followed through at one step; more mark the step as incomplete."""


async def complete(
    explored: ExploredGraph, paths: Sequence[PartialPath], back: Collection[int] = ()
) -> tuple[PartialPath, ...]:
    """Each path with every edge that its chain of relations has from its topic on, as far as endpoints return them.

    All paths take a step at a time together: what they need for it is one wave of requests. The last step of the paths
    numbered in `back`, from 0, keeps edges that lead back to what was walked over.
    """
    wholes = [PartialPath(path.topic, score=path.score) for path in paths]
    for depth, steps in enumerate(itertools.zip_longest(*(path.steps for path in paths)), 1):
        further = list(zip(wholes, steps, strict=True))
        wanted: dict[Direction, list[Iri]] = {way: [] for way in BOTH}
        for whole, step in further:
            if step:
                wanted[step.relation.direction] += _nodes(whole)[:MOST_TAILS]
        await concurrently(*(explored.fetch(nodes, [way], walked=True) for way, nodes in wanted.items()))
        returns = [number in back and depth == len(path.steps) for number, path in enumerate(paths)]
        wholes = [
            _extended(explored, whole, step, back=every) if step else whole
            for (whole, step), every in zip(further, returns, strict=True)
        ]
    return tuple(wholes)


def _extended(explored: ExploredGraph, whole: PartialPath, step: Step, *, back: bool) -> PartialPath:
    """The path with all edges of one more step, with `back` those that lead back, too."""
    nodes = _nodes(whole)
    asked = nodes[:MOST_TAILS]
    followed = len(asked) == len(nodes) and all(explored.complete(node, step.relation.direction) for node in asked)
    edges = _edges(explored, whole, asked, step, back=back)
    return whole.extend(msgspec.structs.replace(step, edges=_dates_once(step, edges), complete=followed))


def _nodes(path: PartialPath) -> list[Iri]:
    return [node for node in path.tails if isinstance(node, Iri)]


def _edges(
    explored: ExploredGraph, path: PartialPath, nodes: Sequence[Iri], step: Step, *, back: bool
) -> tuple[Edge, ...]:
    """The step's edges first, then the others of its relation: those that lead on, back, or both, as the step's do.

    A step without edges leads back only where the relation does not lead on, or with `back`.
    """
    here = set(nodes)
    known = [(edge.start, edge) for edge in step.edges if edge.start in here]
    others: list[tuple[Term, Edge]] = [(node, edge) for node in nodes for edge in explored.along(node, step.relation)]
    ahead, returning = (groups.get(step.relation, []) for groups in onward(explored, path, known + others))
    if back:
        return tuple(dict.fromkeys((*ahead, *returning)))
    sides = [side for side in (ahead, returning) if any(edge in step.edges for edge in side)] or [ahead or returning]
    return tuple(dict.fromkeys(edge for side in sides for edge in side))


def _dates_once(step: Step, edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """The edges without those beyond the step's own that state a date again: it was offered once, and is one answer."""
    kept = set(dated_once(msgspec.structs.replace(step, edges=edges)).edges)
    given = dict.fromkeys(step.edges)
    return tuple(edge for edge in edges if edge in given or (edge in kept and not _restates(edge, step.edges)))


def _restates(edge: Edge, given: Sequence[Edge]) -> bool:
    """Whether the edge states a date that one of the given edges from the same node states."""
    if not isinstance(edge.end, Literal):
        return False
    ends = [other.end for other in given if other.start == edge.start]
    return len(repeated([*ends, edge.end])) > len(repeated(ends))
