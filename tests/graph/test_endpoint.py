"""One endpoint as a graph: re-asked edges, the marker of a shape, batches in halves."""

from collections.abc import Callable, Sequence

import pytest

from fedkg.config import profiles
from fedkg.config.dialects import Query
from fedkg.core import deadline
from fedkg.core.meter import Meter
from fedkg.core.terms import Blank, Edge, Iri, Literal, Through
from fedkg.errors import EndpointError, EndpointTimeoutError, QueryRejectedError, UnreachableError
from fedkg.graph.base import FAILURES, all_in_halves, chunks, in_halves
from fedkg.graph.endpoint import SparqlGraph, has_shape
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.transport.embedded import EmbeddedTransport

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], EndpointReply | None]]
TIMEOUT = EndpointReply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
REJECTED = EndpointReply(400, {"content-type": "text/plain"}, b"Virtuoso 37000 Error SP030: syntax error")
A, B, M = (Iri(f"http://x/{name}") for name in "abm")
P, Q = Iri("http://x/r/p"), Iri("http://x/r/q")
FACTS = ':a r:p :b, "1"^^xsd:integer, :m ; r:q [ r:q :b ] . :m r:q :b .'


def edge(subject: object, relation: object, target: object, through: Through | None = None) -> Edge:
    """An edge, also one that no honest endpoint says."""
    return Edge(subject, relation, target, "out", "test", through=through)  # type: ignore[arg-type]  # documents are hostile


async def test_edges_are_asked_for_again(make: Wire, meter: Meter) -> None:
    """Plain, literal and mediated edges in one request; what is not there does not hold."""
    integer = Literal("1", "http://www.w3.org/2001/XMLSchema#integer")
    present = [edge(A, P, B), edge(A, P, integer), edge(A, P, B, Through(M, Q)), edge(A, Q, B, Through(Blank("x"), Q))]
    absent = [
        edge(B, P, A),
        edge(A, P, Literal("1")),
        edge(A, P, B, Through(B, Q)),
        edge(A, P, A, Through(Blank("x"), Q)),
    ]
    graph = make(FACTS)
    assert await graph.holds([*present, *absent, present[0]]) == [True] * 4 + [False] * 4 + [True]
    assert meter.usage().by_kind == {"verify": 1}
    assert await graph.holds([]) == []


async def test_what_was_fetched_holds(make: Wire, meter: Meter) -> None:
    """Every fetched edge is confirmed, twenty-five to a request."""
    graph = make(FACTS + " ".join(f":a r:p :b{number} ." for number in range(60)))
    edges = (await graph.neighbours([A], "out"))[0].edges
    assert await graph.holds(edges) == [True] * 64
    assert meter.usage().by_kind == {"neighbours": 1, "verify": 3}


async def test_an_edge_that_no_query_can_say_is_not_asked_for(make: Wire, meter: Meter) -> None:
    """A document from anywhere may hold anything: it is not sent, and it harms no honest edge beside it."""
    odd = Iri('http://x/"odd"> ?p ?o } #')
    hostile = [
        edge(odd, P, B),
        edge(A, odd, B),
        edge(A, P, odd),
        edge(Literal("x"), P, B),
        edge(Blank("x"), P, B),
        edge(A, P, Blank("x")),
        edge(A, P, Literal("x", language="no tag")),
        edge(A, P, B, Through(Blank("x"), odd)),
        edge(A, P, B, Through(Literal("x"), Q)),
    ]
    assert await make(FACTS).holds([*hostile, edge(A, P, B)]) == [None] * len(hostile) + [True]
    assert meter.usage().requests == 1


async def test_an_edge_that_only_the_engine_rejects(make: Wire, faults: Faults) -> None:
    """It is not known whether it holds; the honest edges beside it are asked for again without it."""
    evil = edge(A, P, Iri("http://x/evil"))
    faults.append(lambda query: REJECTED if "evil" in query else None)
    gone = edge(A, P, A)
    assert await make(FACTS).holds([edge(A, P, B), evil, gone]) == [True, None, False]


async def test_an_endpoint_that_rejects_everything_has_said_nothing(make: Wire, faults: Faults) -> None:
    """That is the endpoint's failure, not the edges'."""
    faults.append(lambda query: REJECTED)
    with pytest.raises(QueryRejectedError):
        await make(FACTS).holds([edge(A, P, B), edge(A, P, A)])


async def test_verification_that_fails_says_so(make: Wire, faults: Faults) -> None:
    """Not to know is not the same as not to hold."""
    faults.append(lambda query: TIMEOUT)
    with pytest.raises(EndpointError, match="S1T00"):
        await make(FACTS).holds([edge(A, P, B)])


@pytest.mark.parametrize(("name", "marked"), [("wikidata", True), ("freebase", False), ("generic", False)])
async def test_a_shape_is_known_by_its_marker(
    turtle: Callable[[str], EmbeddedTransport], wire: Wire, name: str, marked: bool
) -> None:
    """The predicate that gives a shape away is looked for in the graph.

    A profile without one fits nothing by itself.
    """
    graph = wire(turtle("wd:P1 wikibase:directClaim wdt:P1 ."))
    assert await has_shape(graph._select, profiles.find(name)) is marked


async def test_a_marker_is_seen_in_the_rows_of_any_engine() -> None:
    """Virtuoso answers ASK with a row of its own making, so the question is a SELECT."""

    class Says:
        """A Select that gives these rows."""

        def __init__(self, rows: Rows) -> None:
            self.rows = rows

        async def select(self, query: Query, kind: str = "") -> Rows:
            assert str(query).startswith("SELECT")
            return self.rows

    assert await has_shape(Says(Rows(({"s": A},))), profiles.find("wikidata"))
    assert not await has_shape(Says(Rows()), profiles.find("wikidata"))


def test_chunks_keep_everything_in_order() -> None:
    """Pieces of at most the size, nothing lost, nothing for nothing."""
    assert chunks([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
    assert chunks([], 2) == []


class Endpoint:
    """Answers for numbers, but fails for requests with some of them."""

    def __init__(self, error: EndpointError, *bad: int) -> None:
        self.error, self.bad, self.requests = error, set(bad), 0

    async def ask(self, items: Sequence[int]) -> dict[int, str]:
        """Their texts. Raises the error where a bad one is among them."""
        self.requests += 1
        if self.bad & set(items):
            raise self.error
        return {item: str(item) for item in items}


@pytest.mark.parametrize("error", [EndpointTimeoutError("slow"), QueryRejectedError("odd")])
async def test_one_bad_item_is_found_in_halves(error: EndpointError) -> None:
    """All others are answered; of fifty, one bad item costs a dozen requests."""
    endpoint = Endpoint(error, 17)
    answers, failed = await in_halves(range(50), endpoint.ask)
    assert (set(range(50)) - set(answers), failed) == ({17}, {17: error})
    assert endpoint.requests <= 13


async def test_patience_ends() -> None:
    """An endpoint that fails always is asked a bounded number of times, one that is down once."""
    slow, down = Endpoint(EndpointTimeoutError("slow"), *range(400)), Endpoint(UnreachableError("down"), 3)
    for endpoint, most in ((slow, 2 * FAILURES), (down, 1)):
        answers, failed = await in_halves(range(400), endpoint.ask)
        assert (answers, len(failed), endpoint.requests <= most) == ({}, 400, True)


async def test_patience_ends_with_a_third_of_the_questions_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each failure may take long: a batch is not cut up further once its share of the time is gone."""
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    class Slow(Endpoint):
        async def ask(self, items: Sequence[int]) -> dict[int, str]:
            now[0] += 20
            return await super().ask(items)

    endpoint = Slow(EndpointTimeoutError("slow"), *range(50))
    with deadline.within(100):
        await in_halves(range(50), endpoint.ask)
    assert endpoint.requests == 3


async def test_all_or_an_error() -> None:
    """Who needs everything gets everything, or the error."""
    assert await all_in_halves([1, 2], Endpoint(UnreachableError("down")).ask) == {1: "1", 2: "2"}
    with pytest.raises(EndpointTimeoutError, match="slow"):
        await all_in_halves([1, 2], Endpoint(EndpointTimeoutError("slow"), 2).ask)
