"""The protocol of a graph: all that the steps of a walk know of endpoints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from fedkg.fetch.base import Select
from fedkg.profiles import Profile
from fedkg.records import Match, Neighbourhood
from fedkg.store import Store
from fedkg.terms import Direction, Edge, Iri, Term

__all__ = ["Graph", "Source", "chunks"]

T = TypeVar("T")


def chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in pieces of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a graph's data comes from: who is asked (`select`), what it is like (`profile`), where replies are kept.

    `name` is what a proof calls the endpoint; `identity` tells its content apart in the cache: a URL, or a file's state.
    """

    name: str
    identity: str
    profile: Profile
    select: Select
    store: Store


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

    async def nearest(self, text: str, limit: int = 5) -> list[Match]:
        """Entities with a similar label, among the labels that can be had without asking much."""
        ...

    async def holds(self, edges: Sequence[Edge]) -> list[bool]:
        """Whether the endpoint still says each edge. Raises EndpointError."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...
