"""All shortest paths between topics and answers: the same as by trying every path, and what was cut is said."""

import itertools
from collections.abc import Callable, Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.meter import Meter
from fedkg.core.path import Neighbourhood, PartialPath
from fedkg.core.terms import Direction, Edge, Iri, Literal, Term
from fedkg.graph import shortest_paths as module
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.shortest_paths import Bounds, Shortest, ShortestPathSearch, key, shortest

Make = Callable[..., SparqlGraph]
Triple = tuple[int, int, int]
XSD = "http://www.w3.org/2001/XMLSchema#"
SAME = Iri("http://www.w3.org/2002/07/owl#sameAs")
WIDE = Bounds(hops=4, frontier=100)


def n(name: object) -> Iri:
    """A node."""
    return Iri(f"http://x/{name}")


def r(name: object) -> Iri:
    """A relation."""
    return Iri(f"http://x/r/{name}")


class Known:
    """A graph of numbered nodes as it was fetched; of the nodes in `cut` only the first edge is known."""

    def __init__(self, triples: Iterable[Triple], cut: Iterable[int] = ()) -> None:
        self.triples, self.cut = list(dict.fromkeys(triples)), {n(node) for node in cut}
        self.asked: set[Term] = set()

    def edges(self, node: Term) -> list[Edge]:
        assert node in self.asked, "what was not fetched is not known"
        edges = [edge for triple in self.triples for edge in both_ways(triple) if edge.start == node]
        return edges[:1] if node in self.cut else edges

    def complete(self, node: Term, direction: Direction) -> bool:
        return node not in self.cut

    def alike(self, nodes: Iterable[Term]) -> set[Term]:
        return set(nodes)


def both_ways(triple: Triple) -> tuple[Edge, Edge]:
    """A triple as it is walked from its subject and from its object."""
    subject, relation, end = triple
    ways: tuple[Direction, Direction] = ("out", "in")
    out, back = (Edge(n(subject), r(relation), n(end), way, "test") for way in ways)
    return out, back


def searched(known: Known, topics: Sequence[int], answers: Sequence[int], bounds: Bounds) -> ShortestPathSearch:
    """The finished search, with what it asked for fetched before it went on."""
    search = ShortestPathSearch([n(topic) for topic in topics], [n(answer) for answer in answers], bounds, known)
    known.asked |= {n(root) for root in (*topics, *answers)}
    for nodes in search.waves():
        known.asked.update(nodes)
    return search


def by_trying(triples: Iterable[Triple], topic: int, answer: int, hops: int) -> set[tuple[Edge, ...]]:
    """Every shortest path of at most so many hops, found by walking everywhere."""
    edges = [edge for triple in dict.fromkeys(triples) for edge in both_ways(triple)]
    walks: list[tuple[Edge, ...]] = [()]
    for _ in range(hops if topic != answer else 0):
        ends = [(walk, walk[-1].end if walk else n(topic)) for walk in walks]
        walks = [(*walk, edge) for walk, end in ends for edge in edges if edge.start == end]
        if shortest_walks := {walk for walk in walks if walk[-1].end == n(answer)}:
            return shortest_walks
    return set()


def walked(paths: Iterable[PartialPath]) -> list[tuple[Edge, ...]]:
    """The edges of the paths."""
    return [path.walks(path.tails[0]) for path in paths]


NODE = st.integers(0, 6)
TRIPLES = st.lists(st.tuples(NODE, st.integers(0, 1), NODE), max_size=14)


@given(TRIPLES, st.lists(NODE, min_size=1, max_size=2), st.lists(NODE, min_size=1, max_size=2), st.integers(1, 4))
def test_the_paths_are_those_that_trying_everything_finds(
    triples: list[Triple], topics: list[int], answers: list[int], hops: int
) -> None:
    """For each pair all shortest paths, each once, and no other."""
    search = searched(Known(triples), topics, answers, Bounds(hops, 100))
    paths, cut = search.paths()
    pairs = itertools.product(set(topics), set(answers))
    wanted = [walk for topic, answer in pairs for walk in by_trying(triples, topic, answer, hops)]
    assert sorted(map(str, walked(paths))) == sorted(map(str, wanted))
    assert (search.settled, cut, search.unseen()) == (True, (), [])


@given(TRIPLES, NODE, NODE, st.sets(NODE, max_size=3), st.builds(Bounds, st.integers(1, 4), st.integers(1, 3)))
def test_what_was_cut_never_makes_up_a_path(
    triples: list[Triple], topic: int, answer: int, cut: set[int], bounds: Bounds
) -> None:
    """Every path connects, is real and short enough; where the search says that these are all, they are."""
    search = searched(Known(triples, cut), [topic], [answer], bounds)
    walks = walked(search.paths()[0])
    every = {edge for triple in triples for edge in both_ways(triple)}
    assert all(walk and set(walk) <= every and len(walk) <= bounds.hops for walk in walks)
    assert all((walk[0].start, walk[-1].end) == (n(topic), n(answer)) for walk in walks)
    if search.settled:
        assert set(walks) == by_trying(triples, topic, answer, bounds.hops)


async def shortest_from_a(graph: SparqlGraph, answers: Sequence[Term], bounds: Bounds = WIDE) -> Shortest:
    """What is found from `:a` to the answers."""
    return await shortest(ExploredGraph(graph), [n("a")], answers, bounds)


def shown(result: Shortest) -> list[str]:
    """The paths, by the letters of the nodes that they lead to."""
    return sorted("".join(step.tails[0].text[-2] for step in path.steps) for path in result.paths)


async def test_the_search_goes_on_from_both_ends(make_graph: Make, meter: Meter) -> None:
    """Four hops cost a batch for both ends and one more from each, in both directions.

    An edge may be walked either way.
    """
    graph = make_graph(":a r:p :b . :c r:p :b . :c r:q :d . :d r:p :e . :x r:p :a . :e r:p :y .")
    result = await shortest_from_a(graph, [n("e")])
    assert (shown(result), result.cut) == (["bcde"], ())
    (path,) = result.paths
    assert [step.relation.direction for step in path.steps] == ["out", "in", "out", "out"]
    assert meter.usage().requests == 6


async def test_nothing_is_looked_for_beyond_the_hops(make_graph: Make) -> None:
    """A path that is too long is none, and nothing was cut."""
    graph = make_graph(":a r:p :b . :b r:p :c . :c r:p :d .")
    for hops, wanted in ((2, []), (3, ["bcd"])):
        result = await shortest_from_a(graph, [n("d")], Bounds(hops, 100))
        assert (shown(result), result.cut) == (wanted, ())


async def test_a_literal_is_found_by_what_a_person_reads(make_graph: Make) -> None:
    """Data sets write a year without its datatype; that two things share one is no path between them."""
    graph = make_graph(':a r:p :b . :b r:year "1973"^^xsd:gYear ; r:born "1900" . :c r:born "1900" .')
    result = await shortest_from_a(graph, [Literal("1973"), n("c")])
    (path,) = result.paths
    assert (path.tails, result.cut) == ((Literal("1973", XSD + "gYear"),), ())
    assert key(path.tails[0]) == Literal("1973")


async def test_a_hub_is_made_up_for_from_the_other_end(make_graph: Make) -> None:
    """Of the answer's edges some are left out, but none of those that lead to it."""
    people = " ".join(f":p{number} r:gender :h ." for number in range(2_100))
    result = await shortest_from_a(make_graph(f":a r:friend :z . :z r:gender :h . {people}"), [n("h")], Bounds(2, 100))
    assert (shown(result), result.cut) == (["zh"], ())


async def test_what_was_cut_is_said(make_graph: Make) -> None:
    """The one path between two hubs leads over entities that are not expanded: nothing is found, and it is said why."""
    crowd = " ".join(f":p{number} r:in :a . :q{number} r:in :h ." for number in range(2_100))
    result = await shortest_from_a(make_graph(f"{crowd} :z1 r:in :a ; r:p :z2 . :z2 r:in :h ."), [n("h")], Bounds(3, 1))
    assert result.paths == ()
    assert any("a hub" in note for note in result.cut)
    assert any(note.endswith("entities around <http://x/a> were not expanded") for note in result.cut)
    assert result.failed == ()


async def test_no_more_paths_are_listed_than_fit(make_graph: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parallel ways multiply; how many were listed is said."""
    monkeypatch.setattr(module, "MOST_PATHS", 4)
    graph = make_graph(":a r:p :b ; r:q :b ; r:s :b . :b r:p :c ; r:q :c .")
    result = await shortest_from_a(graph, [n("c")])
    assert shown(result) == ["bc"] * 4
    assert result.cut == ("only 4 paths from <http://x/a> to <http://x/c>",)


async def test_a_failure_is_told_apart_from_nothing(make_graph: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that fails leaves open whether there is a path."""
    graph = make_graph(":a r:p :b .")

    async def failing(entities: Sequence[Iri], direction: Direction) -> list[Neighbourhood]:
        return [
            Neighbourhood(entity, direction, (), "test", "", complete=False, failed="no backend") for entity in entities
        ]

    monkeypatch.setattr(graph, "neighbours", failing)
    result = await shortest_from_a(graph, [n("b")])
    assert (result.paths, result.failed) == ((), ("no backend",))
    assert "test: http://x/a (out), http://x/b (out), http://x/a (in) and 1 more: no backend" in result.cut


def test_a_walk_over_copies_is_turned_link_by_link() -> None:
    """From the answer b over its copy d to c, and from c over its copy e to a: from a it is shown without a gap."""

    def link(start: str, copy: str) -> Edge:
        return Edge(n(start), SAME, n(copy), "out", "test")

    there = [
        Edge(n("c"), r("p"), n("d"), "in", "test", same=link("b", "d")),
        Edge(n("e"), r("q"), n("a"), "out", "test", same=link("c", "e")),
    ]
    turned = module._turned(there)
    walk = [edge for step in turned for edge in step.walk]
    assert [(str(edge.start)[-2], str(edge.end)[-2]) for edge in walk] == [("a", "e"), ("e", "c"), ("c", "d")]
    assert turned[1].start == turned[0].end, "the second step goes on from the copy"
