"""Answer-set completion: all tails along a chain of relations, so that a question with nine answers returns nine."""

from collections.abc import Sequence

import msgspec

from fedkg.graph.surroundings import Surroundings
from fedkg.records import Beam, Candidate
from fedkg.terms import Edge, Iri

__all__ = ["MOST_TAILS", "complete"]

MOST_TAILS = 1_000
"""Most nodes that a chain is followed through at one step; more mark the step as incomplete."""


async def complete(around: Surroundings, beams: Sequence[Beam]) -> tuple[Beam, ...]:
    """Each beam with every edge that its chain of relations has from its topic on, as far as endpoints say."""
    return tuple([await _complete(around, beam) for beam in beams])


async def _complete(around: Surroundings, beam: Beam) -> Beam:
    whole = Beam(beam.topic, score=beam.score)
    for step in beam.steps:
        nodes = [node for node in whole.tails if isinstance(node, Iri)]
        asked = nodes[:MOST_TAILS]
        await around.fetch(asked, [step.relation.direction])
        said = len(asked) == len(nodes) and all(around.complete(node, step.relation.direction) for node in asked)
        whole = whole.extend(msgspec.structs.replace(step, edges=_edges(around, whole, asked, step), complete=said))
    return whole


def _edges(around: Surroundings, beam: Beam, nodes: Sequence[Iri], step: Candidate) -> tuple[Edge, ...]:
    """The step's own edges first, then the others of its relation; none leads back, under whatever name."""
    back = {node: around.alike({node, *before}) for node, before in beam.ancestors().items()}
    own = [edge for edge in step.edges if edge.start in set(nodes)]
    others = [edge for node in nodes for edge in around.along(node, step.relation)]
    forward = (edge for edge in own + others if edge.end not in back[edge.start])
    return tuple(dict.fromkeys(forward))
