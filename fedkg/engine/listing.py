"""What endpoints list of themselves: entities that have a label, and relations. Small ones can; large ones may not."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from fedkg.common.concurrency import concurrently
from fedkg.core.terms import Iri
from fedkg.core.usage import Gap
from fedkg.errors import EndpointError, EndpointTimeoutError, RefusedError, TruncatedError, UnreachableError

__all__ = ["Listing", "ListsItself", "listed"]

HINT = (
    "large graphs cannot be listed over a public endpoint: ask for fewer entities (--limit), raise limits.timeout in "
    "the endpoint's profile, or name an RDF file of the graph"
)
TOO_MUCH = (EndpointTimeoutError, TruncatedError)
AWAY = (UnreachableError, RefusedError)


class ListsItself(Protocol):
    """A graph that can list what it holds, at most `limit` of each. Raises EndpointError."""

    name: str

    async def labelled(self, limit: int) -> list[Iri]:
        """Entities that have a label."""
        ...

    async def relations(self, limit: int) -> list[Iri]:
        """Relations, sorted."""
        ...


class Listing(NamedTuple):
    """What graphs have listed, each thing once, and what they could not list."""

    entities: list[Iri]
    relations: list[Iri]
    missing: tuple[Gap, ...]


async def listed(graphs: Sequence[ListsItself], limit: int) -> Listing:
    """At most `limit` entities of each graph, and its relations; one that is away is not asked for the second.

    Raises the first EndpointError where nothing was listed at all.
    """
    failures: dict[tuple[str, str], EndpointError] = {}

    async def ask(asked: str, name: str, listing: Callable[[], Awaitable[list[Iri]]]) -> list[Iri]:
        if isinstance(failures.get((name, "its entities")), AWAY):
            return []
        try:
            return await listing()
        except EndpointError as error:
            failures[name, asked] = error
            return []

    entities = await concurrently(
        *(ask("its entities", graph.name, partial(graph.labelled, limit)) for graph in graphs)
    )
    relations = await concurrently(
        *(ask("its relations", graph.name, partial(graph.relations, limit)) for graph in graphs)
    )
    if failures and not any((*entities, *relations)):
        raise _hinted(next(iter(failures.values())))
    missing = tuple(Gap(name, asked, error.message) for (name, asked), error in failures.items())
    return Listing(_distinct(entities), _distinct(relations), missing)


def _distinct(lists: Sequence[list[Iri]]) -> list[Iri]:
    return list(dict.fromkeys(iri for some in lists for iri in some))


def _hinted(error: EndpointError) -> EndpointError:
    if isinstance(error, TOO_MUCH):
        error.hint = HINT
    return error
