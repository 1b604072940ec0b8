from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.cache.memory import MemoryStore
from fedkg.config import profiles
from fedkg.config.profiles import Limits
from fedkg.core.terms import BOTH, Direction, Edge, Iri, Literal, Term
from fedkg.graph.base import chunks
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.statements import NONE, SOME, StatementNodes
from fedkg.sparql import edges
from fedkg.transport.embedded import EmbeddedTransport

Wire = Callable[..., SparqlGraph]

WD = "http://www.wikidata.org/entity/"
BARE, STATED, CITED = (Iri(f"{WD}Q{number}") for number in (1, 2, 3))
GRAPH = """
wd:Q1 wdt:P1 wd:Q3 .
wd:Q2 wdt:P1 wd:Q4 ; p:P1 wds:s .
wds:s ps:P1 wd:Q4 ; pq:P2 "1990" .
wd:Q5 wdt:P1 wd:Q6 ; p:P1 wds:t .
wds:t ps:P1 wd:Q6 .
"""
QUALIFIED = Iri(f"{WD}Q4")
SHAPE = profiles.find("wikidata").shape


def qualifiers(edge: Edge) -> list[str]:
    """The texts that the edge's statement says besides."""
    return [leg.value.value for leg in edge.qualifiers if isinstance(leg.value, Literal)]


def hops(asked: list[str]) -> list[str]:
    """The queries for neighbourhoods, among all that were asked."""
    return [query for query in asked if query.startswith("SELECT ?s ?p ?o")]


async def test_where_none_were_seen_none_are_looked_for(make: Wire, asked: list[str]) -> None:
    """After a reply with edges and no statement, the next query asks for edges alone, in either direction."""
    graph = make(GRAPH, profile="wikidata")
    await graph.neighbours([BARE], "out")
    assert "qualifier" in hops(asked)[-1]
    for way in BOTH:
        await graph.neighbours([CITED], way)
        assert "qualifier" not in hops(asked)[-1]
        assert hops(asked)[-1].startswith("SELECT ?s ?p ?o WHERE")


@pytest.mark.parametrize(("entity", "way"), [(STATED, "out"), (QUALIFIED, "in")])
async def test_a_statement_that_shows_is_asked_for(make: Wire, asked: list[str], entity: Iri, way: Direction) -> None:
    """An entity that has statements is asked for once more, with them, and so are all after it."""
    graph = make(GRAPH, profile="wikidata")
    await graph.neighbours([BARE], "out")
    before = len(hops(asked))
    (near,) = await graph.neighbours([entity], way)
    assert [qualifiers(edge) for edge in near.edges] == [["1990"]]
    assert ["qualifier" in query for query in hops(asked)[before:]] == [False, True]
    await graph.neighbours([Iri(f"{WD}Q5")], "out")
    assert "qualifier" in hops(asked)[-1]


async def test_a_statement_without_qualifiers_is_one(make: Wire, asked: list[str]) -> None:
    """It has nothing to add to its edge, but others may."""
    graph = make(GRAPH, profile="wikidata")
    for entity in (BARE, Iri(f"{WD}Q5"), STATED):
        (near,) = await graph.neighbours([entity], "out")
        assert len(near.edges) == 1
    assert "qualifier" in hops(asked)[-1]


async def test_what_was_seen_is_kept(make: Wire, asked: list[str]) -> None:
    """The next session begins where this one ended, and an empty reply shows nothing."""
    store = MemoryStore()
    for entity in (Iri(f"{WD}Q99"), BARE, CITED, STATED, Iri(f"{WD}Q5")):
        await make(GRAPH, profile="wikidata", store=store).neighbours([entity], "out")
    assert ["qualifier" in query for query in hops(asked)] == [True, True, False, False, True, True]


async def test_other_shapes_have_none(make: Wire, asked: list[str]) -> None:
    """A graph whose shape has no statements is asked for edges and mediators, whatever it replies."""
    store = MemoryStore()
    graph = make(":a r:p :b . :b r:p :c .", store=store)
    for name in "ab":
        await graph.neighbours([Iri(f"http://x/{name}")], "out")
    assert len({query.replace("/b>", "/a>") for query in hops(asked)}) == 1
    assert not store.get_many("statements", [graph._near._key])


async def test_replies_under_way_do_not_undo_what_was_seen() -> None:
    """A reply without statements that comes after one with some changes nothing."""
    seen = StatementNodes(MemoryStore(), "k", SHAPE.mediators)
    edge: dict[str, Term] = {"s": BARE, "p": Iri("http://www.wikidata.org/prop/direct/P1"), "o": CITED}
    assert not await seen.learn([edge, {"s": STATED, "c": Iri("x")}], "out", asked=True)
    assert not await seen.learn([edge], "in", asked=True)
    assert seen.wanted
    assert not await seen.learn([edge], "out", asked=False)


async def test_what_is_no_relation_is_no_statement() -> None:
    """A hostile reply with a text in a predicate's place shows none."""
    seen = StatementNodes(MemoryStore(), "k", SHAPE.mediators)
    assert not await seen.learn([{"p": Literal("http://www.wikidata.org/prop/P1")}], "out", asked=False)


async def test_a_kept_value_that_is_none_of_ours() -> None:
    """What a strange cache holds is read as nothing seen."""
    store = MemoryStore()
    store.put_many("statements", {"k": b"\xff"})
    seen = StatementNodes(store, "k", SHAPE.mediators)
    await seen.load()
    assert seen.wanted
    assert (NONE, SOME) == (b"none", b"some")


async def test_edges_that_are_too_many_are_no_hub_where_their_statements_are_few(make: Wire) -> None:
    """An endpoint that cuts at a row count gives all edges of an entity, but not those to its statements as well."""
    many = "".join(f"wd:Q9 wdt:P1 wd:Q{n} ; p:P1 wds:n{n} . wds:n{n} ps:P1 wd:Q{n} . " for n in range(20, 28))
    limits = Limits(retries=0, rows=20, known_cap=12)
    graph = make(f'{GRAPH} {many} wds:n20 pq:P2 "1990" .', profile="wikidata", limits=limits)
    await graph.neighbours([BARE], "out")
    (near,) = await graph.neighbours([Iri(f"{WD}Q9")], "out")
    assert (near.complete, len(near.edges)) == (True, 8)
    assert sum(map(bool, map(qualifiers, near.edges))) == 1


FACTS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 7), st.booleans(), st.booleans()), max_size=12)
ENTITIES = [Iri(f"{WD}Q{number}") for number in range(1, 8)]
LIMITS = st.builds(
    partial(Limits, retries=0),
    rows=st.sampled_from([4, 6, 10, 9_998]),
    entity=st.sampled_from([3, 100]),
    relation=st.sampled_from([1, 10]),
    batch=st.sampled_from([1, 2, 5]),
    known_cap=st.sampled_from([0, 8]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(facts=FACTS, order=st.permutations(ENTITIES), size=st.integers(1, 3), limits=LIMITS)
async def test_neighbourhoods_do_not_depend_on_what_was_seen(
    turtle: Callable[[str], EmbeddedTransport],
    wire: Wire,
    *,
    facts: list[tuple[int, int, bool, bool]],
    order: list[Iri],
    size: int,
    limits: Limits,
) -> None:
    """Some entities after others, each neighbourhood is the one that a graph gives that has seen nothing before."""
    real = turtle("\n".join(map(_stated, range(len(facts)), facts)))

    async def near(graph: SparqlGraph, entities: Sequence[Iri]) -> list[object]:
        found = [each for way in BOTH for each in await graph.neighbours(entities, way)]
        return [(list(map(edges.sort_key, each.edges)), each.complete, each.cut, each.failed) for each in found]

    learned = wire(real, profile="wikidata", limits=limits)
    for some in chunks(order, size):
        fresh = wire(real, profile="wikidata", limits=limits)
        assert await near(learned, some) == await near(fresh, some)


def _stated(number: int, fact: tuple[int, int, bool, bool]) -> str:
    subject, target, stated, qualified = fact
    plain = f"wd:Q{subject} wdt:P1 wd:Q{target} ."
    statement = f"wd:Q{subject} p:P1 wds:n{number} . wds:n{number} ps:P1 wd:Q{target} ."
    return plain + (statement if stated else "") + (f'wds:n{number} pq:P2 "{number}" .' if stated and qualified else "")
