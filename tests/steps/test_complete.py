"""Answer-set completion on a small real graph."""

from collections.abc import Callable

import pytest

from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.surroundings import Surroundings
from fedkg.meter import Meter
from fedkg.records import Beam, Candidate
from fedkg.steps.complete import complete
from fedkg.terms import DirectedRelation, Edge, Iri

A = Iri("http://x/a")
CHILD = DirectedRelation(Iri("http://x/r/child"), "out")
PARENT = DirectedRelation(Iri("http://x/r/parent"), "out")


def one(start: str, end: str, relation: DirectedRelation = CHILD) -> Candidate:
    """A step with a single edge, as a walk over pairs leaves it."""
    edge = Edge(Iri(f"http://x/{start}"), relation.relation, Iri(f"http://x/{end}"), relation.direction, "test")
    return Candidate(0, relation, (edge,), complete=False)


async def test_all_tails_of_the_chain_are_found(make_graph: Callable[..., SparqlGraph]) -> None:
    """A walk that saw one child and one grandchild returns all grandchildren."""
    graph = make_graph(":a r:child :b, :c . :b r:child :d, :e . :c r:child :f . :b r:friend :g .")
    beam = Beam(A).extend(one("a", "b")).extend(one("b", "d"))
    (whole,) = await complete(Surroundings(graph), [beam])
    assert [tail.text[-2] for tail in whole.tails] == ["d", "e", "f"]
    assert whole.complete


async def test_a_complete_chain_costs_no_request_again(make_graph: Callable[..., SparqlGraph], meter: Meter) -> None:
    """What the walk has fetched is not asked for again, and only the chain's direction is."""
    graph = make_graph(":a r:child :b, :c .")
    around = Surroundings(graph)
    await around.fetch([A])
    before = meter.usage().requests
    await complete(around, [Beam(A).extend(one("a", "b"))])
    assert meter.usage().requests == before


async def test_beams_wait_for_each_others_requests_only_once(
    make_graph: Callable[..., SparqlGraph], meter: Meter
) -> None:
    """Each step of all beams is one wave of requests, whatever their directions and lengths."""
    graph = make_graph(":a r:child :b . :b r:child :c, :d . :e r:child :a, :f . :f r:child :g .")
    up = DirectedRelation(CHILD.relation, "in")
    parent = Candidate(0, up, (Edge(Iri("http://x/e"), up.relation, A, "in", "test"),))
    beams = [Beam(A).extend(one("a", "b")).extend(one("b", "c")), Beam(A).extend(parent).extend(one("e", "f")), Beam(A)]
    wholes = await complete(Surroundings(graph), beams)
    assert [[tail.text[-2] for tail in whole.tails] for whole in wholes] == [["c", "d"], ["f"], ["a"]]
    assert meter.usage().round_trips == 2


async def test_siblings_do_not_include_the_one_that_was_asked_for(make_graph: Callable[..., SparqlGraph]) -> None:
    """Up to the parent and down again leads to the siblings, never back to the start."""
    graph = make_graph(":p r:child :a, :b, :c .")
    up = DirectedRelation(CHILD.relation, "in")
    parent = Edge(Iri("http://x/p"), up.relation, A, "in", "test")
    beam = Beam(A).extend(Candidate(0, up, (parent,))).extend(one("p", "b"))
    (whole,) = await complete(Surroundings(graph), [beam])
    assert [tail.text[-2] for tail in whole.tails] == ["b", "c"]


@pytest.mark.parametrize(
    ("own", "ends"), [(["b"], ["b", "c"]), (["a"], ["a"]), (["a", "b"], ["b", "c", "a"]), ([], ["b", "c"])]
)
async def test_a_chain_is_completed_with_what_leads_on_or_back_as_its_own_edges_do(
    make_graph: Callable[..., SparqlGraph], own: list[str], ends: list[str]
) -> None:
    """Brothers and sisters do not become oneself, oneself not a brother; a step without edges leads on."""
    graph = make_graph(":a r:parent :p . :p r:child :a, :b, :c .")
    edges = tuple(edge for end in own for edge in one("p", end).edges)
    beam = Beam(A).extend(one("a", "p", PARENT)).extend(Candidate(0, CHILD, edges))
    (whole,) = await complete(Surroundings(graph), [beam])
    assert [tail.text[-2] for tail in whole.tails] == ends


async def test_the_walk_s_own_edges_come_first(make_graph: Callable[..., SparqlGraph]) -> None:
    """The model's tail numbers stay true after completion."""
    graph = make_graph(":a r:child :b, :c, :d .")
    around = Surroundings(graph)
    await around.fetch([A])
    seen = next(edge for edge in around.edges(A) if edge.end == Iri("http://x/d"))
    (whole,) = await complete(around, [Beam(A).extend(Candidate(0, CHILD, (seen,)))])
    assert [tail.text[-2] for tail in whole.tails] == ["d", "b", "c"]


async def test_a_cut_neighbourhood_marks_the_beam(make_graph: Callable[..., SparqlGraph]) -> None:
    """A hub's tails are bounded, and the completed beam says that they are not all."""
    graph = make_graph(":a r:child " + ", ".join(f":n{number}" for number in range(2_100)) + " .")
    (whole,) = await complete(Surroundings(graph), [Beam(A).extend(one("a", "n1"))])
    assert not whole.complete
    assert len(whole.tails) == graph.profile.limits.relation
