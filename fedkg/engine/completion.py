"""Answer-set completion: all tails along a chain of relations, so that a question with nine answers returns nine."""

import asyncio
import itertools
from collections.abc import Sequence

import msgspec

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Direction, Edge, Iri, Term
from fedkg.graph.explored import BOTH, ExploredGraph, onward

__all__ = ["MOST_TAILS", "complete"]

MOST_TAILS = 1_000
"""Most nodes that a chain is followed through at one step; more mark the step as incomplete."""


async def complete(around: ExploredGraph, beams: Sequence[PartialPath]) -> tuple[PartialPath, ...]:
    """Each beam with every edge that its chain of relations has from its topic on, as far as endpoints say.

    All beams take a step at a time together: what they need for it is one wave of requests.
    """
    wholes = [PartialPath(beam.topic, score=beam.score) for beam in beams]
    for steps in itertools.zip_longest(*(beam.steps for beam in beams)):
        further = list(zip(wholes, steps, strict=True))
        wanted: dict[Direction, list[Iri]] = {way: [] for way in BOTH}
        for whole, step in further:
            if step:
                wanted[step.relation.direction] += _nodes(whole)[:MOST_TAILS]
        await asyncio.gather(*(around.fetch(nodes, [way]) for way, nodes in wanted.items()))
        wholes = [_extended(around, whole, step) if step else whole for whole, step in further]
    return tuple(wholes)


def _extended(around: ExploredGraph, whole: PartialPath, step: Step) -> PartialPath:
    """The beam with all edges of one more step."""
    nodes = _nodes(whole)
    asked = nodes[:MOST_TAILS]
    said = len(asked) == len(nodes) and all(around.complete(node, step.relation.direction) for node in asked)
    return whole.extend(msgspec.structs.replace(step, edges=_edges(around, whole, asked, step), complete=said))


def _nodes(beam: PartialPath) -> list[Iri]:
    return [node for node in beam.tails if isinstance(node, Iri)]


def _edges(around: ExploredGraph, beam: PartialPath, nodes: Sequence[Iri], step: Step) -> tuple[Edge, ...]:
    """The step's own edges first, then the others of its relation: those that lead on, back, or both, as its own do.

    A step without edges of its own leads back only where the relation does not lead on.
    """
    here = set(nodes)
    own = [(edge.start, edge) for edge in step.edges if edge.start in here]
    others: list[tuple[Term, Edge]] = [(node, edge) for node in nodes for edge in around.along(node, step.relation)]
    ahead, back = (groups.get(step.relation, []) for groups in onward(around, beam, own + others))
    sides = [side for side in (ahead, back) if any(edge in step.edges for edge in side)] or [ahead or back]
    return tuple(dict.fromkeys(edge for side in sides for edge in side))
