"""What a question has fetched so far: once each, in both directions, with the gaps told apart."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.profiles import Limits
from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Literal, Term
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ENOUGH, IDLE, ExploredGraph, closed, frontier, spread
from fedkg.sparql.reply import EndpointReply

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], EndpointReply | None]]
BROKEN = EndpointReply(503, {"content-type": "text/plain"}, b"no backend")
A, B, C = (Iri(f"http://x/{name}") for name in "abc")
P = Iri("http://x/r/p")
FACTS = ':a r:p :b, "1" ; r:q :c . :c r:p :a . :b r:p :c .'


async def test_nothing_is_fetched_twice(make: Wire, meter: Meter) -> None:
    """A node is asked for once per direction, whoever wants it; literals are not asked for."""
    around = ExploredGraph(make(FACTS))
    await around.fetch([A, Literal("1"), A], ["out"])
    assert (around.known(A), around.complete(A, "out"), around.complete(A, "in")) == (False, True, False)
    await around.fetch([A, B])
    await around.fetch([A, B])
    assert meter.usage().by_kind == {"neighbours": 3}
    assert (around.known(A), around.known(B), around.known(C)) == (True, True, False)
    assert around.complete(Literal("1"), "out")
    assert len(around.all()) == 4


async def test_edges_by_relation_and_direction(make: Wire) -> None:
    """All edges of a node, or those of one relation as it is walked."""
    around = ExploredGraph(make(FACTS))
    await around.fetch([A])
    assert len(around.edges(A)) == 4
    assert [edge.end for edge in around.along(A, DirectedRelation(P, "out"))] == [Literal("1"), B]
    assert [edge.end for edge in around.along(A, DirectedRelation(P, "in"))] == [C]
    assert around.along(A, DirectedRelation(P, "out", P)) == around.edges(B) == []


async def test_what_was_fetched_has_an_order_of_its_own(make: Wire, faults: Faults) -> None:
    """Which direction fails first is chance; the document says it in one order."""
    faults.append(lambda query: BROKEN)
    around = ExploredGraph(make(FACTS))
    await around.fetch([A], ["in"])
    await around.fetch([A], ["out"])
    assert [near.direction for near in around.all()] == ["out", "in"]
    assert around.gaps(set())[0].asked == "http://x/a (out), http://x/a (in)"


async def test_gaps_name_who_what_and_why(make: Wire, faults: Faults) -> None:
    """A failure is a gap wherever it was; a cut only where the walk went through; equal reasons stand together."""
    text = " ".join(f":a r:p :t{number} ." for number in range(9))
    around = ExploredGraph(make(text, limits=Limits(entity=4, relation=4, retries=0)))
    await around.fetch([A])
    faults.append(lambda query: BROKEN)
    await around.fetch([Iri(f"http://x/f{number}") for number in range(5)], ["in"])
    (failed,) = around.gaps(set())
    assert (failed.endpoint, "503" in failed.reason) == ("test", True)
    assert around.failures() == (failed.reason,)
    assert failed.asked == "http://x/f0 (in), http://x/f1 (in), http://x/f2 (in) and 2 more"
    cut, _ = around.gaps({A})
    assert (cut.asked, cut.reason) == (
        "http://x/a (out)",
        "a hub: at most 4 edges a relation; 1 of 1 relations have more",
    )
    assert not around.complete(A, "out")


async def test_the_frontier_is_shared(make: Wire) -> None:
    """PartialPaths share the budget; literals are never expanded."""
    around, beam, nodes = ExploredGraph(make(FACTS)), *fan(6)
    assert frontier([beam, PartialPath(B)], 6, around) == [nodes[:3], [B]]
    assert frontier([], 6, around) == []


async def test_fetched_tails_stand_for_a_beam_where_they_are_enough(make: Wire) -> None:
    """No further ones are asked for, however many there are and wherever they stand.

    So the hop has no second wave.
    """
    around, beam, nodes = ExploredGraph(make(FACTS)), *fan(40)
    await around.fetch([A, B, *nodes[10 : 10 + ENOUGH]])
    assert frontier([beam, PartialPath(B)], 60, around) == [nodes[10 : 10 + ENOUGH], [B]]
    few, ends = fan(2)
    await around.fetch(ends)
    assert frontier([few], 60, around) == [ends]


async def test_a_tail_that_happens_to_be_known_does_not_stand_for_the_others(make: Wire) -> None:
    """Where one beam has too few, the wave is due, and each beam gets its share with what is there already."""
    around, beam, nodes = ExploredGraph(make(FACTS)), *fan(40)
    await around.fetch([nodes[39]])
    assert frontier([beam, PartialPath(C)], 10, around) == [[*nodes[:4], nodes[39]], [C]]
    await around.fetch(nodes[10 : 10 + ENOUGH])
    assert frontier([beam, PartialPath(C)], 40, around) == [[*nodes[:19], nodes[39]], [C]]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=4), st.integers(1, 60))
def test_every_beam_with_a_node_is_expanded(sizes: list[tuple[int, int]], budget: int) -> None:
    """Each at its own tails, once each; beyond what is known already within the budget, or one a beam."""
    around = Known({node for _, many in sizes for node in fan(many)[1]})
    beams = [fan(size)[0] for size, _ in sizes]
    chosen = frontier(beams, budget, around)
    for beam, nodes in zip(beams, chosen, strict=True):
        assert (bool(nodes), len(nodes)) == (any(isinstance(tail, Iri) for tail in beam.tails), len(set(nodes)))
        assert set(nodes) <= set(beam.tails)
    fresh = sum(not around.known(node) for nodes in chosen for node in nodes)
    assert fresh <= max(budget, len(beams))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_circle_is_walked_round_but_not_for_ever(size: int) -> None:
    """Once IDLE steps have led to nothing new, none goes to what was seen; new nodes stay open."""
    ring = [Iri(f"http://x/n{number}") for number in range(size)]
    beam = PartialPath(ring[0])
    for number in range(size - 1 + IDLE):
        assert closed(beam) == set()
        beam = beam.extend(step_to(beam.tails[0], ring[(number + 1) % size]))
    assert closed(beam) == set(ring)
    assert closed(beam.extend(step_to(beam.tails[0], C))) == {*ring, C}


class Known(ExploredGraph):
    """ExploredGraph of which only is said whether a node is known."""

    def __init__(self, nodes: set[Iri]) -> None:
        self._nodes = nodes

    def known(self, node: Term) -> bool:
        """Whether it is one of the nodes."""
        return node in self._nodes


def fan(size: int) -> tuple[PartialPath, list[Iri]]:
    """A beam of one step to so many nodes and a literal, and the nodes."""
    nodes = [Iri(f"http://x/n{number}") for number in range(size)]
    return PartialPath(A, (step_to(A, *nodes, Literal("1")),)), nodes


def step_to(start: Term, *ends: Term) -> Step:
    """A step from there to these."""
    return Step(0, DirectedRelation(P, "out"), tuple(Edge(start, P, end, "out", "x") for end in ends))


def test_a_budget_is_spread_over_the_beams_in_turns() -> None:
    """Each beam gets its first end before any gets its second.

    Literals lead nowhere, and what is left goes to who has more.
    """
    many = tuple(Edge(A, P, Iri(f"http://x/n{number}"), "out", "e") for number in range(4))
    beams = [
        PartialPath(A, (Step(0, DirectedRelation(P, "out"), many),)),
        PartialPath(A, (Step(0, DirectedRelation(P, "out"), (Edge(A, P, Literal("1"), "out", "e"),)),)),
        PartialPath(C),
    ]
    assert [[len(nodes) for nodes in spread(beams, budget)] for budget in (0, 2, 3, 9)] == [
        [0, 0, 0],
        [1, 0, 1],
        [2, 0, 1],
        [4, 0, 1],
    ]
    assert spread(beams, 9)[0] == [edge.end for edge in many]
    assert spread([], 9) == []
