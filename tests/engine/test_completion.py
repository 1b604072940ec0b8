"""Answer-set completion on a small real graph."""

import asyncio
from collections.abc import Callable

import pytest

from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Literal
from fedkg.engine.completion import complete
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport

A = Iri("http://x/a")
CHILD = DirectedRelation(Iri("http://x/r/child"), "out")
PARENT = DirectedRelation(Iri("http://x/r/parent"), "out")


def step_of(start: str, end: str, relation: DirectedRelation = CHILD) -> Step:
    """A step with a single edge, as a walk over pairs leaves it."""
    edge = Edge(Iri(f"http://x/{start}"), relation.relation, Iri(f"http://x/{end}"), relation.direction, "test")
    return Step(0, relation, (edge,), complete=False)


async def _when_all_have_asked(transport: EmbeddedTransport, query: str) -> EndpointReply:
    """The reply, once whatever else can be asked was asked: in a thread it may come before the next request is made."""
    for _ in range(100):
        await asyncio.sleep(0)
    return transport._run(query)


async def _at_once(function: Callable[..., object], *arguments: object) -> object:
    """Reads and writes of the cache, without a thread."""
    return function(*arguments)


async def test_all_tails_of_the_chain_are_found(make_graph: Callable[..., SparqlGraph]) -> None:
    """A walk that saw one child and one grandchild returns all grandchildren."""
    graph = make_graph(":a r:child :b, :c . :b r:child :d, :e . :c r:child :f . :b r:friend :g .")
    path = PartialPath(A).extend(step_of("a", "b")).extend(step_of("b", "d"))
    (whole,) = await complete(ExploredGraph(graph), [path])
    assert [tail.text[-2] for tail in whole.tails] == ["d", "e", "f"]
    assert whole.complete


async def test_a_complete_chain_costs_no_request_again(make_graph: Callable[..., SparqlGraph], meter: Meter) -> None:
    """What the walk has fetched is not asked for again, and only the chain's direction is."""
    graph = make_graph(":a r:child :b, :c .")
    explored = ExploredGraph(graph)
    await explored.fetch([A])
    before = meter.usage().requests
    await complete(explored, [PartialPath(A).extend(step_of("a", "b"))])
    assert meter.usage().requests == before


async def test_beams_wait_for_each_others_requests_only_once(
    make_graph: Callable[..., SparqlGraph], meter: Meter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of all beams is one wave of requests, whatever their directions and lengths."""
    monkeypatch.setattr(EmbeddedTransport, "send", _when_all_have_asked)
    monkeypatch.setattr(asyncio, "to_thread", _at_once)
    graph = make_graph(":a r:child :b . :b r:child :c, :d . :e r:child :a, :f . :f r:child :g .")
    up = DirectedRelation(CHILD.relation, "in")
    parent = Step(0, up, (Edge(Iri("http://x/e"), up.relation, A, "in", "test"),))
    paths = [
        PartialPath(A).extend(step_of("a", "b")).extend(step_of("b", "c")),
        PartialPath(A).extend(parent).extend(step_of("e", "f")),
        PartialPath(A),
    ]
    wholes = await complete(ExploredGraph(graph), paths)
    assert [[tail.text[-2] for tail in whole.tails] for whole in wholes] == [["c", "d"], ["f"], ["a"]]
    assert meter.usage().round_trips == 2


async def test_siblings_do_not_include_the_one_that_was_asked_for(make_graph: Callable[..., SparqlGraph]) -> None:
    """Up to the parent and down again leads to the siblings, never back to the start."""
    graph = make_graph(":p r:child :a, :b, :c .")
    up = DirectedRelation(CHILD.relation, "in")
    parent = Edge(Iri("http://x/p"), up.relation, A, "in", "test")
    path = PartialPath(A).extend(Step(0, up, (parent,))).extend(step_of("p", "b"))
    (whole,) = await complete(ExploredGraph(graph), [path])
    assert [tail.text[-2] for tail in whole.tails] == ["b", "c"]


async def test_a_step_may_lead_back(make_graph: Callable[..., SparqlGraph]) -> None:
    """Of a path that is said to, the last step keeps what leads back to the topic; of the other it does not."""
    graph = make_graph(":f r:director :a ; r:cast :a , :b .")
    directed = Step(0, DirectedRelation(Iri("http://x/r/director"), "in"), ())
    cast = Step(0, DirectedRelation(Iri("http://x/r/cast"), "out"), ())
    path = PartialPath(A).extend(directed).extend(cast)
    wholes = await complete(ExploredGraph(graph), [path, path], {1})
    assert [[tail.text[-2] for tail in whole.tails] for whole in wholes] == [["b"], ["b", "a"]]


@pytest.mark.parametrize(
    ("chosen", "ends"), [(["b"], ["b", "c"]), (["a"], ["a"]), (["a", "b"], ["b", "c", "a"]), ([], ["b", "c"])]
)
async def test_a_chain_is_completed_with_what_leads_on_or_back_as_its_own_edges_do(
    make_graph: Callable[..., SparqlGraph], chosen: list[str], ends: list[str]
) -> None:
    """Brothers and sisters do not become oneself, oneself not a brother; a step without edges leads on."""
    graph = make_graph(":a r:parent :p . :p r:child :a, :b, :c .")
    edges = tuple(edge for end in chosen for edge in step_of("p", end).edges)
    path = PartialPath(A).extend(step_of("a", "p", PARENT)).extend(Step(0, CHILD, edges))
    (whole,) = await complete(ExploredGraph(graph), [path])
    assert [tail.text[-2] for tail in whole.tails] == ends


async def test_the_walk_s_own_edges_come_first(make_graph: Callable[..., SparqlGraph]) -> None:
    """The model's tail numbers stay true after completion."""
    graph = make_graph(":a r:child :b, :c, :d .")
    explored = ExploredGraph(graph)
    await explored.fetch([A])
    seen = next(edge for edge in explored.edges(A) if edge.end == Iri("http://x/d"))
    (whole,) = await complete(explored, [PartialPath(A).extend(Step(0, CHILD, (seen,)))])
    assert [tail.text[-2] for tail in whole.tails] == ["d", "b", "c"]


async def test_a_cut_neighbourhood_marks_the_beam(make_graph: Callable[..., SparqlGraph]) -> None:
    """A hub's tails are bounded, and the completed beam says that they are not all."""
    graph = make_graph(":a r:child " + ", ".join(f":n{number}" for number in range(2_100)) + " .")
    (whole,) = await complete(ExploredGraph(graph), [PartialPath(A).extend(step_of("a", "n1"))])
    assert not whole.complete
    assert len(whole.tails) == graph.profile.limits.relation


async def test_a_date_that_was_offered_once_stays_one(make_graph: Callable[..., SparqlGraph]) -> None:
    """The same date in words, or as a year filled up, is not added to the one that was offered."""
    xsd = "<http://www.w3.org/2001/XMLSchema#date>"
    graph = make_graph(f':a r:born "17 December 1994", "1994-12-17"^^{xsd}, "1999-02-03"^^{xsd} .')
    born = DirectedRelation(Iri("http://x/r/born"), "out")
    worded = Edge(A, born.relation, Literal("17 December 1994"), "out", "test")
    (whole,) = await complete(ExploredGraph(graph), [PartialPath(A).extend(Step(0, born, (worded,)))])
    values = [tail.value for tail in whole.tails if isinstance(tail, Literal)]
    assert values == ["17 December 1994", "1999-02-03"]
    (bare,) = await complete(ExploredGraph(graph), [PartialPath(A).extend(Step(0, born, ()))])
    assert {tail.value for tail in bare.tails if isinstance(tail, Literal)} == {"1994-12-17", "1999-02-03"}
