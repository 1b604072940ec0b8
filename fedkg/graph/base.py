"""The protocol of a graph: all that the steps of a walk know of endpoints; and how a batch becomes smaller ones."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from fedkg.cache.store import Store
from fedkg.common.concurrency import concurrently
from fedkg.config.profiles import Profile
from fedkg.config.settings import Ttl
from fedkg.core import deadline
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import Direction, Edge, Iri, Term
from fedkg.errors import Action, EndpointError, QueryRejectedError
from fedkg.transport.base import SparqlClient

__all__ = [
    "FAILURES",
    "EndpointSource",
    "Graph",
    "Patience",
    "all_in_halves",
    "chunks",
    "halves",
    "in_halves",
    "no_engines",
    "now",
]

FAILURES = 8
"""Requests of one batch that may fail: enough to find the one of fifty that is too much, too few to wear out a host."""

SHARE = 1 / 3

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def now() -> str:
    """The time as edges carry it: UTC, ISO 8601, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in pieces of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]


async def no_engines() -> Iterable[str]:
    """What answers in this process, or not at all."""
    return ()


@dataclass(frozen=True, slots=True)
class EndpointSource:
    """Where a graph's data comes from: what is asked (`select`), what it is like (`profile`), where replies are kept.

    `name` is what a proof calls the endpoint; `identity` distinguishes its content in the cache: a URL, or a file's
    digest; `ttl` says for how many days replies are fresh; `lookup` is asked for entities by words, where that is
    another service. `engines` returns which engines are believed to answer over the network, as far as any process
    remembers; none for what is in this process.
    """

    name: str
    identity: str
    profile: Profile
    select: SparqlClient
    store: Store
    ttl: Ttl = field(default_factory=Ttl)
    lookup: SparqlClient | None = None
    engines: Callable[[], Awaitable[Iterable[str]]] = no_engines


class Graph(Protocol):
    """One endpoint, or several as one."""

    name: str

    async def neighbours(self, entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        """The edges of each entity in one direction: one record per entity and endpoint, failures included."""
        ...

    async def labels(self, terms: Iterable[Term]) -> dict[Term, str]:
        """A name for every term: its label, else its local name, else a literal's own text."""
        ...

    async def search(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """For each text the entities with that label or alias, the best first. Raises EndpointError."""
        ...

    async def lookup(self, texts: Sequence[str], limit: int = 10) -> Mapping[str, list[Match]]:
        """For each text the entities that a search by its words finds, the best first.

        None where there is no such search.
        """
        ...

    async def describe(self, matches: Sequence[Match]) -> list[Match]:
        """The matches with what they are in words: description and type, as far as these can be had."""
        ...

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """Entities with a similar label, among the labels that can be had without asking much."""
        ...

    async def links(self, entities: Sequence[Iri]) -> list[Edge]:
        """The identity links from one of these entities to another: which of them are one thing."""
        ...

    async def holds(self, edges: Sequence[Edge]) -> list[bool | None]:
        """Whether the endpoint still holds each edge; None where that could not be asked. Raises EndpointError."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...


class Patience:
    """How many more requests of one batch may fail, and until when, before the rest of the batch is given up.

    A batch may take a third of what is left of the question: one endpoint that fails slowly must not use up the time
    for all. `reshaped` is whether the batch was too much at once, `most` how many items at once were answered, in how
    many `seconds`, `fewest` how many were too much (0: none).
    """

    def __init__(self, failures: int = FAILURES) -> None:
        self.left = failures
        self._least = (1 - SHARE) * deadline.left()
        self.reshaped = False
        self.most = self.fewest = 0
        self.seconds = 0.0

    def fits(self, count: int, seconds: float = 0.0) -> None:
        """Notes that so many items at once were answered, and the seconds that it took."""
        if count >= self.most:
            self.most, self.seconds = count, seconds

    def lasts(self, error: EndpointError, count: int) -> bool:
        """Whether to ask for less after this error for so many items, which it counts.

        A rejected query may have been rejected for one of its terms: engines differ in what they take for an IRI.
        """
        self.left -= 1
        if error.action is Action.RESHAPE:
            self.reshaped, self.fewest = True, min(count, self.fewest or count)
        lasts = self.left > 0 and deadline.left() >= self._least
        return lasts and (error.action is Action.RESHAPE or isinstance(error, QueryRejectedError))


def halves(items: Sequence[K]) -> list[Sequence[K]]:
    """Two or more items in two parts."""
    middle = len(items) // 2
    return [items[:middle], items[middle:]]


async def in_halves(
    items: Sequence[K], ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], patience: Patience | None = None
) -> tuple[dict[K, V], dict[K, EndpointError]]:
    """What `ask` says of the items, asked at once or, where that is too much, in parts.

    And the errors of the others.
    """
    patience = patience or Patience()
    try:
        return dict(await ask(items)), {}
    except EndpointError as error:
        if not patience.lasts(error, len(items)) or len(items) < 2:
            return {}, dict.fromkeys(items, error)
    parts = await concurrently(*(in_halves(part, ask, patience) for part in halves(items)))
    return parts[0][0] | parts[1][0], parts[0][1] | parts[1][1]


async def all_in_halves(
    items: Sequence[K], ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], patience: Patience | None = None
) -> dict[K, V]:
    """What `ask` returns for all items, like `in_halves`. Raises the first EndpointError that stayed."""
    results, failed = await in_halves(items, ask, patience)
    for error in failed.values():
        raise error
    return results
