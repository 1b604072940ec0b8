"""Several endpoints as one Graph.

Every endpoint is asked for every entity and what they say is put side by side, each edge with the endpoint that said it.
An endpoint that fails leaves a marked gap and stops nobody else.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from fedkg.errors import EndpointError
from fedkg.graph.base import Graph
from fedkg.records import Match, Neighbourhood
from fedkg.terms import Direction, Edge, Iri, Term, own_name

__all__ = ["FederatedGraph"]


class FederatedGraph:
    """A Graph over several graphs with distinct names."""

    def __init__(self, members: Sequence[Graph]) -> None:
        self.members = tuple(members)
        self.name = " + ".join(member.name for member in members)

    async def neighbours(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """One record per entity and member."""
        parts = await asyncio.gather(*(member.neighbours(entities, direction) for member in self.members))
        return [near for part in parts for near in part]

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """The first member's label that is more than the term's own name."""
        wanted = list(terms)
        names = {term: own_name(term) for term in wanted}
        for found in await asyncio.gather(*(member.labels(wanted) for member in self.members)):
            names |= {term: label for term, label in found.items() if names[term] == own_name(term)}
        return names

    async def search(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """The members' matches together, the best first. Raises EndpointError only where all members fail."""
        parts = await asyncio.gather(*(member.search(texts, limit) for member in self.members), return_exceptions=True)
        found = [part for part in parts if not isinstance(part, BaseException)]
        for part in parts:
            if isinstance(part, BaseException) and (not found or not isinstance(part, EndpointError)):
                raise part
        return {text: _merge([part[text] for part in found], limit) for text in texts}

    async def lookup(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """The members' candidates together, the best first."""
        parts = await asyncio.gather(*(member.lookup(texts, limit) for member in self.members))
        return {text: _merge([part[text] for part in parts], limit) for text in texts}

    async def describe(self, matches: Sequence[Match]) -> list[Match]:
        """The matches with what the first member that knows them says they are."""
        parts = await asyncio.gather(*(member.describe(matches) for member in self.members))
        return [max(told, key=_described) for told in zip(*parts, strict=True)]

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """The members' suggestions together, the best first."""
        return _merge(await asyncio.gather(*(member.nearest(text, limit) for member in self.members)), limit)

    async def holds(self, edges: Sequence[Edge]) -> list[bool]:
        """Whether the member that said an edge still says it; edges of unknown members do not hold.

        Raises EndpointError where a member fails: what it would say is not known.
        """
        parts = await asyncio.gather(*(self._holds(member, edges) for member in self.members))
        said = {edge for part in parts for edge in part}
        return [edge in said for edge in edges]

    async def close(self) -> None:
        """Closes all members."""
        await asyncio.gather(*(member.close() for member in self.members))

    @staticmethod
    async def _holds(member: Graph, edges: Sequence[Edge]) -> list[Edge]:
        own = [edge for edge in edges if edge.endpoint == member.name]
        holds = await member.holds(own) if own else []
        return [edge for edge, said in zip(own, holds, strict=True) if said]


def _described(match: Match) -> tuple[bool, bool]:
    return bool(match.type), bool(match.description)


def _merge(parts: Iterable[Iterable[Match]], limit: int) -> list[Match]:
    best: dict[Iri, Match] = {}
    # the sort is stable: of equal matches the first member's come first
    for match in sorted((match for part in parts for match in part), key=lambda match: -match.score):
        best.setdefault(match.iri, match)
    return list(best.values())[:limit]
