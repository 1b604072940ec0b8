"""Chains of relations as a graph has them: walks from some of its entities, each over what was walked least so far."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import msgspec

from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.engine.presentation import safe
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.reasoner.local.chain_texts import label_of
from fedkg.training.chain_records import ChainRecipe, ChainRecord, named, relations_around
from fedkg.training.made_questions import question

__all__ = ["ChainSampler", "steps_of"]

LENGTHS = (1, 1, 1, 2, 2, 3)
"""How long chains are, one as likely as the other."""
TRIES = 4
"""Chains that are drawn from one entity at most."""


class ChainSampler:
    """Records of questions made by templates, of chains of one graph; the same seed and edges give the same ones."""

    def __init__(self, graph: Graph, recipe: ChainRecipe, seed: int) -> None:
        self._graph, self._recipe = graph, recipe
        self._draw = random.Random(seed)  # noqa: S311  # reproducible, not a secret
        self._walked: Counter[DirectedRelation] = Counter()

    async def records(self, entities: Sequence[Iri], number: int) -> AsyncIterator[ChainRecord]:
        """At most `number`, of chains that start at these entities. Raises EndpointError."""
        order = sorted(entities, key=lambda entity: entity.value)
        self._draw.shuffle(order)
        made = 0
        for entity in order * TRIES:
            explored = ExploredGraph(self._graph)
            if made < number and (chain := await self._chain(explored, entity)):
                yield await self._record(explored, entity, chain, f"made-{made:05}")
                made += 1

    async def _chain(self, explored: ExploredGraph, entity: Iri) -> list[DirectedRelation]:
        """The relations of a walk, each the one walked least so far; none where the entity has no edges."""
        node, chain = entity, list[DirectedRelation]()
        for _ in range(min(self._draw.choice(LENGTHS), self._recipe.hops)):
            await explored.fetch([node])
            edges = steps_of(explored.edges(node), chain)
            if not edges:
                break
            chain.append(min(edges, key=lambda relation: (self._walked[relation], self._draw.random())))
            self._walked[chain[-1]] += 1
            ends = [edge.end for edge in edges[chain[-1]] if isinstance(edge.end, Iri)]
            if not ends:
                break
            node = self._draw.choice(ends)
        return chain

    async def _record(
        self, explored: ExploredGraph, entity: Iri, chain: Sequence[DirectedRelation], name: str
    ) -> ChainRecord:
        offers = await relations_around(explored, entity, chain)
        relations = {relation for offered in (*offers, chain) for relation in offered}
        terms = {part for relation in relations for part in (relation.relation, relation.via) if part}
        names = await explored.graph.labels({entity, *terms})
        steps, topic = named(chain, names), str(safe(names[entity]))
        text = question([(label_of(name), way) for name, way in steps], topic, self._draw)
        record = ChainRecord(name, text, self._recipe, topic, entity.value, steps)
        return msgspec.structs.replace(
            record, offers=tuple(tuple(dict.fromkeys(named(part, names))) for part in offers)
        )


def steps_of(edges: Sequence[Edge], chain: Sequence[DirectedRelation]) -> dict[DirectedRelation, list[Edge]]:
    """The edges by relation, without those that lead back by the relation just walked."""
    groups: dict[DirectedRelation, list[Edge]] = {}
    for edge in edges:
        if not chain or edge.walked != chain[-1].inverse:
            groups.setdefault(edge.walked, []).append(edge)
    return groups
