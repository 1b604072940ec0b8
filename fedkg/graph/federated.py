"""Several endpoints as one Graph: their replies are put side by side, each edge with the endpoint that returned it.

A hop takes two waves at most. First every member returns what it can about the new entities: its edges where they are
its own, else which of them it knows; either way with the copies of them that there are. Then the members are asked for
what they have not returned yet, copies included. An endpoint that fails leaves a marked gap; the others go on.

Copies of an entity are joined one link deep, never further: what a copy's copy is called is for the next hop to find
out. Which answers are copies of one another is asked at the end, of those that several members returned.
"""

import asyncio
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from fedkg.common.bounded import BoundedDict
from fedkg.common.concurrency import concurrently
from fedkg.common.single_flight import SingleFlight
from fedkg.core.gaps import miss
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import BOTH, Direction, Edge, Iri, Term, own_name
from fedkg.core.usage import Gap
from fedkg.errors import EndpointError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.hidden_edges import HiddenEdges
from fedkg.graph.identity import Identity
from fedkg.graph.source_selection import FederationMember, MemberPresence

__all__ = ["FederatedGraph"]

MOST_COPIES = 50
"""Most copies of one entity that are joined; more are a hub of links, and marked as cut."""
MOST_KNOWN = 50_000
"""Entities whose copies are remembered."""
MOST_LABELS = 400
"""IRIs of one request for labels; what is left of it is filled with copies."""


@dataclass(frozen=True, slots=True)
class JoinedPresence:
    """What all members return for an entity at first: `heard` by member, and one link to each of its copies."""

    heard: tuple[MemberPresence, ...]
    links: tuple[Edge, ...]
    cut: str


class KnownCopies:
    """The copies of the entities that were met of late, at most MOST_KNOWN entities: what is forgotten is met again."""

    def __init__(self) -> None:
        self._copies: BoundedDict[Term, tuple[Iri, ...]] = BoundedDict(MOST_KNOWN)

    def of(self, term: Term) -> tuple[Iri, ...]:
        """The known copies of a term."""
        return self._copies.get(term, ())

    def join(self, entity: Iri, copy: Iri) -> None:
        """Remembers each as a copy of the other."""
        for start, end in ((entity, copy), (copy, entity)):
            self._copies[start] = tuple(dict.fromkeys((*self.of(start), end)))


class _FirstWave:
    """What each member returns for entities by itself.

    Apart from the graph, so that what is under way keeps no graph alive.
    """

    def __init__(self, sources: Sequence[FederationMember], copies: KnownCopies) -> None:
        self._sources = sources
        self._copies = copies

    async def meet(self, entities: Sequence[Iri]) -> dict[Iri, JoinedPresence]:
        """The presence of each entity; the copies that this shows are known from now on."""
        parts = await concurrently(*(source.hear(entities) for source in self._sources))
        presences = {entity: self._heard(tuple(part[entity] for part in parts)) for entity in entities}
        for entity, presence in presences.items():
            for link in presence.links:
                self._copies.join(entity, _copy(link))
        return presences

    def _heard(self, heard: tuple[MemberPresence, ...]) -> JoinedPresence:
        """One link to each copy, of several the one between IRIs, then the first member's.

        First those that can be asked for.
        """
        every = sorted(
            (link for presence in heard for link in presence.links), key=lambda link: link.identifies is not None
        )
        links: dict[Iri, Edge] = {}
        for link in every:
            links.setdefault(_copy(link), link)
        foreign = {copy: not any(source.may_know(copy) for source in self._sources) for copy in links}
        most, asked = sorted(links, key=foreign.__getitem__)[:MOST_COPIES], len(links) - sum(foreign.values())
        cut = f"only {MOST_COPIES} of its {asked:,} copies were looked at" if asked > MOST_COPIES else ""
        return JoinedPresence(heard, tuple(links[copy] for copy in most), cut)


class FederatedGraph:
    """A Graph over several graphs with distinct names, joined by the table of identities."""

    def __init__(self, members: Sequence[SparqlGraph], identity: Identity | None = None) -> None:
        self.members = tuple(members)
        self.name = " + ".join(member.name for member in members)
        self._identity = identity or Identity()
        self._met: SingleFlight[Iri, JoinedPresence] = SingleFlight()
        self._copies = KnownCopies()

    async def neighbours(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """One record per entity and member: its edges, and those of its copies, each with the link that leads there."""
        wanted = list(dict.fromkeys(entities))
        met, technical_predicates = await concurrently(
            self._met.get(wanted, self._first_wave.meet), self._technical_predicates()
        )
        asked = [self._ask(number, met, direction) for number in range(len(self.members))]
        parts = await concurrently(*asked)
        return [
            self._joined(number, entity, presence, (near, direction), technical_predicates)
            for number, near in enumerate(parts)
            for entity, presence in met.items()
        ]

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """The first member's label that is more than the term's own name, else such a label of a copy that is known."""
        wanted = dict.fromkeys(terms)
        copies = (copy for term in wanted for copy in self._copies.of(term))
        every = dict.fromkeys((*wanted, *itertools.islice(copies, max(0, MOST_LABELS - len(wanted)))))
        names = {term: own_name(term) for term in every}
        asked = [self._speaks_of(member, every) for member in self._sources]
        parts = (member.labels(member_terms) for member, member_terms in zip(self.members, asked, strict=True))
        for labels in await concurrently(*parts):
            names |= {term: label for term, label in labels.items() if names[term] == own_name(term)}
        return {term: self._named(term, names) for term in wanted}

    async def search(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """The members' matches together, the best first; a member that fails is noted as missing.

        Raises its EndpointError where nothing is found: what it would have returned is not known.
        """
        parts = await asyncio.gather(*(member.search(texts, limit) for member in self.members), return_exceptions=True)
        replies = [part for part in parts if not isinstance(part, BaseException)]
        matches = {text: self._merge([part[text] for part in replies], limit) for text in texts}
        for member, part in zip(self.members, parts, strict=True):
            if isinstance(part, EndpointError) and any(matches.values()):
                miss(Gap(member.name, f"the search for {len(texts)} names", str(part)))
            elif isinstance(part, BaseException):
                raise part
        return matches

    async def lookup(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """The members' candidates together, the best first."""
        parts = await concurrently(*(member.lookup(texts, limit) for member in self.members))
        return {text: self._merge([part[text] for part in parts], limit) for text in texts}

    async def describe(self, matches: Sequence[Match]) -> list[Match]:
        """The matches with the description of the first member that knows them."""
        parts = await concurrently(*(member.describe(matches) for member in self.members))
        return [max(descriptions, key=_described) for descriptions in zip(*parts, strict=True)]

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """The members' suggestions together, the best first."""
        return self._merge(await concurrently(*(member.nearest(text, limit) for member in self.members)), limit)

    async def links(self, entities: Sequence[Iri]) -> list[Edge]:
        """The identity links from one of these entities to another, as far as the members return them."""
        parts, wanted = await concurrently(*(source.links(entities) for source in self._sources)), set(entities)
        return [link for part in parts for link in part if link.end in wanted]

    async def hidden(
        self, entities: Sequence[Iri], directions: Sequence[Direction] = BOTH, *, always: bool = True
    ) -> list[HiddenEdges]:
        """What each member has and hides of each entity. Raises EndpointError."""
        asked = (member.hidden(entities, directions, always=always) for member in self.members)
        return list(itertools.chain.from_iterable(await concurrently(*asked)))

    async def holds(self, edges: Sequence[Edge]) -> list[bool | None]:
        """Whether the member that returned an edge still holds it.

        Edges of unknown members do not hold, None as a member returns it.

        Nor does one whose literal identifies something else than the edge claims. Raises EndpointError where a member
        fails: what it would return is not known.
        """
        parts = await concurrently(*(self._holds(member, edges) for member in self.members))
        verdicts = {edge: holds for part in parts for edge, holds in part.items()}
        return [verdicts.get(edge, False) if self._identity.allows(edge) else False for edge in edges]

    async def close(self) -> None:
        """Closes all members."""
        await concurrently(*(member.close() for member in self.members))

    @cached_property
    def _sources(self) -> list[FederationMember]:
        return [FederationMember(member, self._identity) for member in self.members]

    @cached_property
    def _first_wave(self) -> _FirstWave:
        return _FirstWave(self._sources, self._copies)

    async def _technical_predicates(self) -> frozenset[Iri]:
        """A predicate that is technical for one member is technical for all.

        Only one of them may have the catalogue of relations.
        """
        parts = await concurrently(*(member.technical_predicates() for member in self.members))
        return self._identity.relations.union(*parts)

    async def _ask(
        self, number: int, met: Mapping[Iri, JoinedPresence], direction: Direction
    ) -> dict[Iri, Neighbourhood]:
        """The second wave: the edges of one member, those of the first wave among them."""
        source = self._sources[number]
        heard = {entity: presence.heard[number] for entity, presence in met.items()}
        near = {entity: record.near[direction] for entity, record in heard.items() if direction in record.near}
        if all(record.failed for record in heard.values()):
            return near
        direct = [entity for entity, record in heard.items() if record.known and entity not in near]
        copies = dict.fromkeys(_copy(link) for presence in met.values() for link in presence.links)
        others = [copy for copy in copies if copy not in heard]
        asked = direct + await source.choose(others, source.graph.profile.limits.batch - len(direct))
        neighbourhoods = await source.graph.neighbours(asked, direction) if asked else []
        return near | {part.entity: part for part in neighbourhoods}

    def _joined(
        self,
        number: int,
        entity: Iri,
        met: JoinedPresence,
        fetched: tuple[Mapping[Iri, Neighbourhood], Direction],
        technical_predicates: frozenset[Iri],
    ) -> Neighbourhood:
        """One member's record of an entity: what it returns for the entity itself, then for each copy."""
        near, direction = fetched
        links = [None, *(link for link in met.links if _copy(link) in near)]
        parts = [near[_copy(link)] if link else near.get(entity) for link in links]
        same = {entity, *map(_copy, met.links)}
        edges = [
            msgspec.structs.replace(edge, same=link) if link else edge
            for link, part in zip(links, parts, strict=True)
            for edge in (part.edges if part else ())
            if edge.relation not in technical_predicates and (edge.end not in same or edge.subject == edge.object)
        ]
        heard = [part for part in parts if part]
        failed = next(filter(None, (met.heard[number].failed, *(part.failed for part in heard))), "")
        cut = next(filter(None, (met.cut, *(part.cut for part in heard))), "")
        return Neighbourhood(
            entity,
            direction,
            tuple(edges),
            self.members[number].name,
            max((part.retrieved_at for part in heard), default=""),
            complete=not failed and not cut and all(part.complete for part in heard),
            cut=cut,
            failed=failed,
            links=met.links,
        )

    def _speaks_of(self, source: FederationMember, terms: Iterable[Term]) -> list[Term]:
        """The terms whose labels a member is asked for: not those that only others declare to be theirs."""
        declared = [other for other in self._sources if other.declared]
        return [
            term
            for term in terms
            if not isinstance(term, Iri)
            or not source.declared
            or source.claims(term)
            or not any(other.claims(term) for other in declared)
        ]

    def _named(self, term: Term, names: Mapping[Term, str]) -> str:
        """The term's label, else that of its first copy that has one."""
        alike = (same for same in (term, *self._copies.of(term)) if same in names)
        return names[next((same for same in alike if names[same] != own_name(same)), term)]

    def _merge(self, parts: Iterable[Iterable[Match]], limit: int) -> list[Match]:
        """The best matches, one for each entity and its copies, as far as these are known.

        Of equal ones the shortest IRI first.
        """
        best: dict[Term, Match] = {}
        for match in sorted((match for part in parts for match in part), key=_worth):
            if not any(copy in best for copy in self._copies.of(match.iri)):
                best.setdefault(match.iri, match)
        return list(best.values())[:limit]

    @staticmethod
    async def _holds(member: SparqlGraph, edges: Sequence[Edge]) -> dict[Edge, bool | None]:
        stated = [edge for edge in edges if edge.endpoint == member.name]
        return dict(zip(stated, await member.holds(stated) if stated else [], strict=True))


def _copy(link: Edge) -> Iri:
    """The copy that a link leads to."""
    assert isinstance(link.end, Iri), "a link leads from an IRI to another"
    return link.end


def _worth(match: Match) -> tuple[float, int, str]:
    return -match.score, len(match.iri.value), match.iri.value


def _described(match: Match) -> tuple[bool, bool]:
    return bool(match.type), bool(match.description)
