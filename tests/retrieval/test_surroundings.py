"""What lies around an entity: relations within some steps, and those most like the keywords."""

from collections.abc import Callable

from fedkg.config.settings import SearchSettings
from fedkg.core.meter import Meter
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Literal
from fedkg.embed.lazy import LazySimilarity
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.explored import ExploredGraph
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.surroundings import MOST_RELATIONS, NEAR, relations_within, surroundings
from tests.support.ranking import KONG, Exact


async def relations(graph: SparqlGraph, depth: int, worth: dict[str, float], **search: int) -> list[str]:
    """The relations within some steps of King Kong, in order, with an arrow for the direction."""
    context = RetrievalContext(ExploredGraph(graph), Exact(worth), lambda _names: "", SearchSettings(**search))  # type: ignore[arg-type]  # ints
    directed = await relations_within([KONG], depth, context)
    return [{"out": ">", "in": "<"}[relation.direction] + relation.relation.local_name for relation in directed]


async def test_relations_within_reach_are_ranked(films: SparqlGraph) -> None:
    """One step reaches three, two steps all that the director has, and the way back; the most similar come first."""
    assert set(await relations(films, 1, {})) == {">directed by", ">starring", ">year"}
    worth = {"place of birth": 0.9, "starring": 0.8}
    ranking = await relations(films, 2, worth)
    assert (ranking[0], set(ranking[1:3])) == (">born in", {">starring", "<starring"})
    assert set(ranking) == {
        ">directed by",
        "<directed by",
        ">starring",
        "<starring",
        ">year",
        ">spouse",
        "<spouse",
        ">born in",
    }


async def test_a_small_frontier_follows_every_relation(make_graph: Callable[..., SparqlGraph]) -> None:
    """Of two relations that lead on each is gone once before one of them is gone twice."""
    graph = make_graph(":kong r:cast :x, :y, :z ; r:maker :m . :m r:spouse :w .", name="fan")
    assert ">spouse" in await relations(graph, 2, {}, frontier=2)


async def test_no_node_takes_the_place_of_another_twice(make_graph: Callable[..., SparqlGraph], meter: Meter) -> None:
    """Two names point back at each node: a frontier of one goes on all the same, and ends where nothing is new."""
    graph = make_graph(":kong r:a :b . :b r:a :kong ; r:b :c . :c r:a :b ; r:c :d .", name="chain")
    assert ">c" in await relations(graph, 50, {}, frontier=1)
    assert meter.usage().by_kind["neighbours"] == 2 * 4


async def test_a_plan_has_a_bounded_number_of_relations(make_graph: Callable[..., SparqlGraph]) -> None:
    """The best of many, without those that the question has nothing of."""
    hub = make_graph("".join(f":kong r:r{n} :n{n} .\n" for n in range(MOST_RELATIONS + 20)), name="hub")
    ranking = await relations(hub, 1, {f"r{MOST_RELATIONS + 10}": 1.0})
    assert (len(ranking), ranking[0]) == (MOST_RELATIONS, f">r{MOST_RELATIONS + 10}")


async def test_the_surroundings_of_an_entity_are_the_relations_most_like_the_keywords(
    make_graph: Callable[..., SparqlGraph], hashing: LazySimilarity, meter: Meter
) -> None:
    """A few of each path's end, without the way back; edges and labels cost one batch each, however many paths."""
    details = " ; ".join(f"r:detail{number} :x{number}" for number in range(8))
    facts = f'{details} ; r:award :oscar . r:award rdfs:label "award won"@en . :oscar rdfs:label "Oscar"@en .'
    graph = make_graph(f':kong r:by :a, :b . :a {facts} :b r:award "1994" .')
    a, b, by = Iri("http://x/a"), Iri("http://x/b"), Iri("http://x/r/by")
    steps = [Step(0, DirectedRelation(by, "out"), (Edge(KONG, by, end, "out", "test"),)) for end in (a, b)]
    context = RetrievalContext(ExploredGraph(graph), hashing, lambda _names: "award won", SearchSettings())
    near, labels = await surroundings([PartialPath(KONG).extend(step) for step in steps], context)
    assert [near[number][0].relation.relation.local_name for number in (0, 1)] == ["award", "award"]
    assert [len(near[number]) for number in (0, 1)] == [NEAR, 1]
    assert labels[Iri("http://x/oscar")] == "Oscar"
    assert meter.usage().by_kind == {"neighbours": 2, "labels": 2}


async def test_nothing_is_around_a_literal(films: SparqlGraph) -> None:
    """It costs no request for its edges, and is in no list."""
    step = Step(0, DirectedRelation(KONG, "out"), (Edge(KONG, KONG, Literal("2005"), "out", "test"),))
    context = RetrievalContext(ExploredGraph(films), Exact({}), lambda _names: "", SearchSettings())
    near, _ = await surroundings([PartialPath(KONG).extend(step)], context)
    assert near == {}
