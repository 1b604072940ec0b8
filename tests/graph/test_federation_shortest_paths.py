"""Shortest paths that cross from one endpoint to another."""

import itertools

import pytest

from fedkg.core.terms import Iri
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.federated import FederatedGraph
from fedkg.graph.shortest_paths import Bounds, shortest
from tests.support.federation import SAME, TABLE, MakeMember

A, P, Q = Iri("http://x/a"), Iri("http://x/r/p"), Iri("http://x/r/q")


@pytest.mark.parametrize("answer", ["y/e", "y/f", "y/b"])
@pytest.mark.parametrize("hops", [2, 3])
async def test_paths_cross_over_copies(member: MakeMember, answer: str, hops: int) -> None:
    """Over the link between two copies of an entity, from whichever end it is seen, each walk is without a gap."""
    first = member(":a r:p :b .", "one", "http://x/")
    second = member("y:b owl:sameAs :b ; r:q y:e . y:e r:q y:f .", "two", "http://y/")
    around = ExploredGraph(FederatedGraph((first, second), TABLE))
    shortest_paths = await shortest(around, [A], [Iri(f"http://{answer}")], Bounds(hops, 100))
    wanted = {"y/b": [P], "y/e": [P, Q], "y/f": [P, Q, Q]}[answer]
    assert [[step.relation.relation for step in path.steps] for path in shortest_paths.paths] == [wanted][
        : hops >= len(wanted)
    ]
    assert shortest_paths.cut == ()
    for path in shortest_paths.paths:
        walk = path.walks(path.tails[0])
        assert all(before.end == after.start for before, after in itertools.pairwise(walk))
        assert walk[0].start == A
        assert path.tails[0] in around.alike([Iri(f"http://{answer}")])
        assert [edge.relation.value for edge in walk].count(SAME) == (answer != "y/b")
