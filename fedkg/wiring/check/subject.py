"""The endpoint that is examined: how it is asked, and what the findings so far have shown of it."""

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from fedkg.cache.memory import MemoryStore
from fedkg.config.dialects import Query
from fedkg.config.profiles import Profile
from fedkg.core.answer import PathEdge
from fedkg.core.question import Match
from fedkg.core.terms import Edge, Iri, Literal
from fedkg.errors import EndpointError, InputError, RefusedError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import Rows
from fedkg.transport.client import EndpointClient
from fedkg.transport.offline import OfflineClient
from fedkg.wiring.endpoints import ConnectedEndpoint

__all__ = ["GENERIC", "Subject", "subject_of"]

GENERIC = "generic"


@dataclass
class Subject:
    """One endpoint under examination; nothing that it is asked comes from the cache or goes into it.

    `times` are the seconds of small requests, `media` the format of results. `entities` were seen as subjects; `named`
    have a label in a wanted language, and `terms` has labels as the graph has them, with their predicate. `pool` are
    those that are no predicates, `chosen` entities with edges, those with most first; `edges` those of one of them,
    `sample` some of these. `cause` is the last error that was more than a pause.
    """

    select: EndpointClient
    graph: SparqlGraph
    languages: Sequence[str]
    known: Sequence[Profile]
    contact: str = ""
    times: list[float] = field(default_factory=list)
    media: str = ""
    entities: list[Iri] = field(default_factory=list)
    named: list[Match] = field(default_factory=list)
    terms: dict[Iri, tuple[str, Literal]] = field(default_factory=dict)
    pool: list[Iri] = field(default_factory=list)
    chosen: list[Iri] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    sample: tuple[PathEdge, ...] = ()
    cause: EndpointError | None = None

    @property
    def name(self) -> str:
        """What the endpoint is called."""
        return self.graph.name

    @property
    def profile(self) -> Profile:
        """The profile that it is asked by."""
        return self.graph.profile

    @property
    def engine(self) -> str:
        """The engine that is believed to answer."""
        return next(iter(self.select.engines.values()), GENERIC)

    async def ask(self, query: Query) -> Rows:
        """The rows of one request of the check itself. Raises EndpointError, and remembers the first one."""
        try:
            return await self.select.select(query, "check")
        except EndpointError as error:
            self.note(error)
            raise

    async def timed(self, query: Query) -> tuple[Rows, float]:
        """The rows, and the seconds that they took. Raises EndpointError."""
        started = time.monotonic()
        return await self.ask(query), time.monotonic() - started

    def note(self, error: EndpointError) -> None:
        """Remembers what is wrong: the last error that is more than a pause."""
        if not (isinstance(error, RefusedError) and not error.status):
            self.cause = error

    def labelled(self, entities: Sequence[Iri]) -> list[Match]:
        """Those of the entities that have a label, in their order."""
        matches = {match.iri: match for match in self.named}
        return [matches[entity] for entity in entities if entity in matches]


def subject_of(
    member: ConnectedEndpoint, languages: Sequence[str], known: Sequence[Profile], contact: str = ""
) -> Subject:
    """The endpoint as it is examined, with a cache of its own. Raises InputError in offline mode."""
    if isinstance(member.select, OfflineClient):
        raise InputError("offline mode sends no request", hint="leave out --mode offline to examine an endpoint")
    graph = SparqlGraph(dataclasses.replace(member.graph.source, store=MemoryStore()), languages)
    return Subject(member.select, graph, languages, [profile for profile in known if profile.shape.marker], contact)
