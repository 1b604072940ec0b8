"""Source selection: which endpoint is asked for what.

A member whose profile declares authorities is asked for the IRIs below them and for no others. Any other one is asked
first which entities it knows: one grouped query, whose replies are remembered, brings along the identity links of those
entities too.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fedkg.common.concurrency import concurrently
from fedkg.common.single_flight import SingleFlight
from fedkg.core.gaps import miss
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Direction, Edge, Iri
from fedkg.core.usage import Gap
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.identity import Identity
from fedkg.graph.presence import EntityPresence

__all__ = ["FederationMember", "MemberPresence"]


@dataclass(frozen=True, slots=True)
class MemberPresence:
    """What one member returns for an entity at first.

    known: whether it is asked for the entity's edges. links: the links to copies that it says. near: the edges that
    came along, by direction. failed: the member's error, where it could not say which copies there are.
    """

    known: bool
    links: tuple[Edge, ...] = ()
    near: Mapping[Direction, Neighbourhood] = field(default_factory=dict)
    failed: str = ""


class FederationMember:
    """One endpoint of a federation."""

    def __init__(self, graph: SparqlGraph, identity: Identity) -> None:
        self.graph = graph
        self.declared = bool(graph.profile.authorities)
        self._identity = identity
        self._known: SingleFlight[Iri, EntityPresence] = SingleFlight()

    def claims(self, iri: Iri) -> bool:
        """Whether the profile declares that the endpoint has the IRI."""
        return iri.value.startswith(self.graph.profile.authorities)

    def may_know(self, iri: Iri) -> bool:
        """Whether the endpoint would be asked for the IRI."""
        return not self.declared or self.claims(iri)

    async def hear(self, entities: Sequence[Iri]) -> dict[Iri, MemberPresence]:
        """The first replies: the edges at once where all entities are its own, else which of them it knows.

        Edges hold the links, so that no other request is needed. Where some entities are strangers, copies of these may
        be the endpoint's own: the edges of all are then asked for together, once the copies are known.
        """
        if self.declared and all(map(self.claims, entities)):
            return await self._at_home(entities)
        presences = await self._known.get(entities, self.graph.known)
        return {
            entity: MemberPresence(
                self.claims(entity) if self.declared else presence.known, presence.links, failed=presence.failed
            )
            for entity, presence in presences.items()
        }

    async def links(self, entities: Sequence[Iri]) -> list[Edge]:
        """The links from the entities to copies; where the endpoint fails to return them, that is noted as missing."""
        presences = await self._known.get(entities, self.graph.known)
        for reason, number in Counter(presence.failed for presence in presences.values() if presence.failed).items():
            miss(Gap(self.graph.name, f"whether {number} answers are copies of others", reason))
        return [link for presence in presences.values() for link in presence.links]

    async def choose(self, copies: Sequence[Iri], room: int) -> list[Iri]:
        """The copies that the endpoint is asked for; where they do not fit into one batch, those that it knows."""
        if self.declared:
            return [copy for copy in copies if self.claims(copy)]
        if len(copies) <= room:
            return list(copies)
        return [
            copy
            for copy, presence in (await self._known.get(copies, self.graph.known)).items()
            if presence.known or presence.failed
        ]

    async def _at_home(self, entities: Sequence[Iri]) -> dict[Iri, MemberPresence]:
        out, into = await concurrently(self.graph.neighbours(entities, "out"), self.graph.neighbours(entities, "in"))
        return {
            entity: MemberPresence(
                True,
                self._links((*going.edges, *coming.edges)),
                {"out": going, "in": coming},
                going.failed or coming.failed,
            )
            for entity, going, coming in zip(entities, out, into, strict=True)
        }

    def _links(self, edges: Sequence[Edge]) -> tuple[Edge, ...]:
        return tuple(link for edge in edges for link in self._identity.links(edge))
