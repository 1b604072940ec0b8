"""Several real graphs in process as one: side by side, each edge with who said it, and nobody stopped by a failure."""

import asyncio
from collections.abc import Callable

import pytest

from fedkg.dialects import Query
from fedkg.errors import EndpointError, UnreachableError
from fedkg.federation.graph import FederatedGraph
from fedkg.fetch.base import Rows
from fedkg.graph.base import Graph, Source
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.surroundings import Surroundings
from fedkg.profiles import Limits, Profile
from fedkg.store import MemoryStore
from fedkg.terms import Edge, Iri, Literal, Term

MakeGraph = Callable[..., SparqlGraph]
A, B, C = (Iri(f"http://x/{name}") for name in "abc")
P = Iri("http://x/r/p")


class Down:
    """A Select of an endpoint that cannot be reached."""

    async def select(self, query: Query, kind: str = "") -> Rows:
        """Nothing. Raises UnreachableError always."""
        raise UnreachableError("no connection", endpoint="down")


@pytest.fixture
def down() -> SparqlGraph:
    """An endpoint that cannot be reached."""
    return SparqlGraph(Source("down", "down", Profile("down", limits=Limits()), Down(), MemoryStore()))


@pytest.fixture
def pair(make_graph: MakeGraph) -> FederatedGraph:
    """Two graphs that share an entity."""
    left = make_graph(':a r:p :b ; rdfs:label "Ada"@en . :b rdfs:label "Bob"@en .', name="left")
    right = make_graph(':a r:p :c, :b . :c rdfs:label "Cid"@en . :d rdfs:label "Ada"@en .', name="right")
    return FederatedGraph([left, right])


async def test_neighbourhoods_stand_side_by_side(pair: FederatedGraph) -> None:
    """One record per entity and member; each edge says who said it, also where both say the same."""
    found = await pair.neighbours([A, B], "out")
    assert [(near.endpoint, near.entity, len(near.edges)) for near in found] == [
        ("left", A, 1),
        ("left", B, 0),
        ("right", A, 2),
        ("right", B, 0),
    ]
    assert [edge.endpoint for near in found for edge in near.edges] == ["left", "right", "right"]
    assert pair.name == "left + right"


async def test_the_first_label_that_says_something_wins(pair: FederatedGraph) -> None:
    """A local name is no label where another member has one."""
    terms: list[Term] = [A, B, C, P, Literal("x")]
    assert list((await pair.labels(terms)).values()) == ["Ada", "Bob", "Cid", "p", "x"]
    assert await FederatedGraph(pair.members[::-1]).labels(terms) == await pair.labels(terms)


async def test_search_and_suggestions_are_merged(pair: FederatedGraph) -> None:
    """Each entity once, the best first, of equal ones the first member's; no more than the limit."""
    found = await pair.search(["Ada", "Cid", "nobody"])
    assert [match.iri.local_name for match in found["Ada"]] == ["a", "d"]
    assert [match.iri.local_name for match in found["Cid"]] == ["c"]
    assert found["nobody"] == []
    assert len((await pair.search(["Ada"], 1))["Ada"]) == 1
    assert {match.label for match in await pair.nearest("Adda")} == {"Ada"}


async def test_each_member_vouches_for_its_own_edges(pair: FederatedGraph) -> None:
    """An edge holds where the member that said it still says it, not where another one does."""
    edges = [Edge(A, P, B, "out", "left"), Edge(A, P, C, "out", "left"), Edge(A, P, C, "out", "right")]
    assert await pair.holds([*edges, Edge(A, P, B, "out", "stranger")]) == [True, False, True, False]


async def test_a_failing_member_stops_nobody(pair: FederatedGraph, down: SparqlGraph) -> None:
    """Its gaps are marked; edges, labels, search and suggestions of the others come all the same."""
    graph = FederatedGraph([down, *pair.members])
    around = Surroundings(graph)
    await around.fetch([A])
    assert {edge.endpoint for edge in around.edges(A)} == {"left", "right"}
    (gap,) = around.gaps(set())
    assert (gap.endpoint, gap.reason) == ("down", "no connection")
    assert not around.complete(A, "out")
    assert (await graph.labels([A]))[A] == "Ada"
    assert len((await graph.search(["Ada"]))["Ada"]) == 2
    assert await graph.nearest("Adda")


async def test_what_nobody_can_say_is_an_error(down: SparqlGraph, pair: FederatedGraph) -> None:
    """Where all members fail, search fails; an edge of a failing member is not called false."""
    with pytest.raises(EndpointError, match="no connection"):
        await FederatedGraph([down, down]).search(["Ada"])
    with pytest.raises(EndpointError, match="no connection"):
        await FederatedGraph([down, *pair.members]).holds([Edge(A, P, B, "out", "down")])
    own = FederatedGraph([down, *pair.members])
    assert await own.holds([Edge(A, P, B, "out", "left")]) == [True], "who is not asked cannot fail"


async def test_a_mistake_of_our_own_is_not_swallowed(pair: FederatedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only an endpoint's failure is borne."""

    async def wrong(texts: object, limit: int = 10) -> None:
        """Raises."""
        raise ZeroDivisionError

    monkeypatch.setattr(pair.members[0], "search", wrong)
    with pytest.raises(ZeroDivisionError):
        await pair.search(["Ada"])


async def test_members_are_asked_at_the_same_time() -> None:
    """A slow member costs its own time only: all are asked before any has answered."""
    waiting: list[str] = []
    all_there = asyncio.Event()

    class Slow:
        """A graph that answers when both have been asked."""

        def __init__(self, name: str) -> None:
            self.name = name

        async def holds(self, edges: object) -> list[bool]:
            """True, in the end."""
            waiting.append(self.name)
            if len(waiting) == 2:
                all_there.set()
            await asyncio.wait_for(all_there.wait(), 5)
            return [True]

        async def close(self) -> None:
            """Notes it."""
            waiting.append(f"{self.name} closed")

    members: list[Graph] = [Slow("one"), Slow("two")]  # type: ignore[list-item]  # only what is asked here
    graph = FederatedGraph(members)
    assert await graph.holds([Edge(A, P, B, "out", name) for name in ("one", "two")]) == [True, True]
    await graph.close()
    assert waiting[2:] == ["one closed", "two closed"]
