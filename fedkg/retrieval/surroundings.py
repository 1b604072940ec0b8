"""What lies around entities, by how similar its relations are to the keywords: for plans and scores of entities."""

import itertools
from collections.abc import Iterable, Sequence

from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Term, relation_text
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.candidates import expand, shown_terms, sorted_by

__all__ = ["MOST_RELATIONS", "NEAR", "relations_within", "surroundings"]

MOST_RELATIONS = 30
"""Relations that a plan may be made of."""
NEAR = 4
"""Relations that are shown around an entity: as many as in the example of EPERM, appendix A.4."""
SHOWN_NEAR = 3
"""Ends that each of them shows."""


async def relations_within(
    topics: Sequence[Iri], depth: int, context: RetrievalContext
) -> tuple[DirectedRelation, ...]:
    """The relations within `depth` steps of the topics, the most similar to K first, at most MOST_RELATIONS.

    Each hop expands at most the frontier's number of nodes, so that it costs one batch. Raises EndpointError.
    """
    explored = context.explored
    nodes, seen = list(topics), set(topics)
    relations: dict[DirectedRelation, None] = {}
    for _ in range(depth):
        await explored.fetch(nodes)
        edges = [edge for node in nodes for edge in explored.edges(node)]
        relations.update(dict.fromkeys(edge.walked for edge in edges))
        nodes = [end for end in _spread(edges) if end not in seen][: context.search.frontier]
        seen.update(nodes)
    similarity, _ = await _similarity(relations, topics, context)
    return tuple(sorted(similarity, key=lambda relation: -similarity[relation])[:MOST_RELATIONS])


async def surroundings(
    paths: Sequence[PartialPath], context: RetrievalContext
) -> tuple[dict[int, list[Step]], dict[Term, str]]:
    """What the graph has around each path's ends: NEAR of its next steps, by how similar their relations are to K.

    By the paths' indices, and the labels that they show. The ends' edges cost one batch, and so do the labels. Raises
    EndpointError.
    """
    await context.explored.fetch(tail for path in paths for tail in path.tails)
    steps = [
        step
        for number, path in enumerate(paths)
        for step in expand(context.explored, "groups", number, path, path.tails)
    ]
    relations = dict.fromkeys(step.relation for step in steps)
    similarity, labels = await _similarity(relations, [path.topic for path in paths], context)
    near: dict[int, list[Step]] = {}
    for step in sorted_by(steps, [similarity[step.relation] for step in steps]):
        near.setdefault(step.path_index, []).append(step)
    near = {number: nearest[:NEAR] for number, nearest in near.items()}
    shown = shown_terms([step for nearest in near.values() for step in nearest], SHOWN_NEAR)
    return near, labels | await context.labels(shown)


async def _similarity(
    relations: Iterable[DirectedRelation], topics: Sequence[Term], context: RetrievalContext
) -> tuple[dict[DirectedRelation, float], dict[Term, str]]:
    """How similar each relation's name is to K, and the labels that this took."""
    relations = list(relations)
    terms = dict.fromkeys(term for relation in relations for term in (relation.relation, relation.via) if term)
    labels = await context.labels([*topics, *terms])
    texts = {relation: relation_text(relation, labels) for relation in relations}
    cosines = await context.similarities(context.query(labels), texts.values())
    return {relation: cosines[text] for relation, text in texts.items()}, labels


def _spread(edges: Sequence[Edge]) -> list[Iri]:
    """Where the edges lead to, one end of each relation first: the first few then lead on in every way there is."""
    ends: dict[DirectedRelation, list[Iri]] = {}
    for edge in edges:
        if isinstance(edge.end, Iri):
            ends.setdefault(edge.walked, []).append(edge.end)
    tiers = itertools.zip_longest(*ends.values())
    return list(dict.fromkeys(end for tier in tiers for end in tier if end is not None))
