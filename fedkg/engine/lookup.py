"""Looking around in a graph without a question: entities by name, their edges, and whether edges still hold."""

import contextlib
from collections.abc import Mapping, Sequence

import msgspec

from fedkg.core.answer import Answer
from fedkg.core.conversation import KnownEntity
from fedkg.core.path import Neighbourhood
from fedkg.core.question import Match
from fedkg.core.terms import Direction, Edge, Iri, Term
from fedkg.engine import linking
from fedkg.errors import EndpointError, InputError, OfflineError
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.hidden_edges import CountsHiddenEdges, HiddenEdges
from fedkg.graph.shortest_paths import Bounds, Shortest, shortest

__all__ = ["Checked", "candidates", "connected", "hidden", "surroundings", "verified", "with_types"]


class Checked(msgspec.Struct, frozen=True):
    """One edge that was asked for again, and whether its endpoint still says it; None where it could not be asked."""

    path: int
    edge: Edge
    holds: bool | None


async def candidates(graph: Graph, text: str, limit: int) -> list[Match]:
    """At most `limit` entities for that text, the best first, with what they are: description and type.

    First those with that label or alias, then those that a look-up by words finds; where there are none, those with a
    similar label. Raises EndpointError.
    """
    exact, alike = (await graph.search([text], limit))[text], (await graph.lookup([text], limit))[text]
    known = {match.iri for match in exact}
    matches = [*exact, *(match for match in alike if match.iri not in known)][:limit]
    return await graph.describe(matches or await graph.nearest(text, limit))


async def with_types(graph: Graph, entities: Sequence[KnownEntity]) -> list[KnownEntity]:
    """The entities of a conversation with what they are, where the graph tells and it is not known yet."""
    asked = [entity for entity in entities if entity.role != "path" and not entity.type]
    matches: Sequence[Match] = ()
    with contextlib.suppress(EndpointError, OfflineError):
        matches = await graph.describe([Match(entity.iri, entity.label, 1.0) for entity in asked])
    types = {match.iri: match.type for match in matches}
    return [msgspec.structs.replace(entity, type=entity.type or types.get(entity.iri, "")) for entity in entities]


async def surroundings(
    graph: Graph, entity: str, directions: Sequence[Direction]
) -> tuple[Match, list[Neighbourhood], Mapping[Term, str]]:
    """The entity of that IRI or label, its edges, and the labels of all that stands on them. Raises TopicError."""
    match = (await linking.given(graph, [entity]))[0]
    near = [near for direction in directions for near in await graph.neighbours([match.iri], direction)]
    terms = (term for part in near for edge in part.edges for term in edge.terms)
    names = await graph.labels(dict.fromkeys([match.iri, *terms]))
    return msgspec.structs.replace(match, label=names[match.iri]), near, names


async def connected(
    graph: Graph, start: str, end: str, bounds: Bounds
) -> tuple[tuple[Match, Match], Shortest, Mapping[Term, str]]:
    """The two entities, the shortest walks from one to the other, and the labels of all that stands on them.

    Raises TopicError for a label that nothing has, and InputError where both are one entity.
    """
    first, last = [(await linking.given(graph, [entity]))[0] for entity in (start, end)]
    if first.iri == last.iri:
        raise InputError(f"{start[:100]!r} and {end[:100]!r} are one entity: {first.iri.value}")
    walks = await shortest(ExploredGraph(graph), [first.iri], [last.iri], bounds)
    terms = (term for path in walks.paths for edge in path.edges for leg in edge.walk for term in leg.terms)
    names = await graph.labels(dict.fromkeys([first.iri, last.iri, *terms]))
    return (first, last), walks, names


async def hidden(
    graph: Graph, entities: Sequence[Iri], directions: Sequence[Direction], *, always: bool = True
) -> list[HiddenEdges]:
    """What each endpoint has and its profile hides of each entity; none where that cannot be told.

    Without `always` endpoints whose profiles hide nothing are not asked.
    """
    with contextlib.suppress(EndpointError, OfflineError):
        return await graph.hidden(entities, directions, always=always) if isinstance(graph, CountsHiddenEdges) else []
    return []


async def verified(graph: Graph, answer: Answer) -> list[Checked]:
    """Every edge of every path of the answer, asked for again. Raises EndpointError."""
    edges = [(number, shown.edge) for number, path in enumerate(answer.paths) for shown in path.edges]
    holds = await graph.holds([edge for _, edge in edges])
    return [Checked(number, edge, verdict) for (number, edge), verdict in zip(edges, holds, strict=True)]
