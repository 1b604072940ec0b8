"""Neighbourhoods over real graphs in process.

Batches, bounds, failures and the cache, each with its count of requests.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyoxigraph
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.config.profiles import Limits
from fedkg.config.settings import DAY
from fedkg.core.meter import Meter
from fedkg.core.terms import BOTH, Direction, Edge, Iri, Literal
from fedkg.graph.base import FAILURES
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.neighbours import NAMESPACE, NO_QUERY
from fedkg.sparql import build
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport
from tests.support.neighbourhoods import ends, iri, timeless

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], EndpointReply | None]]
JSON = {"content-type": "application/sparql-results+json"}
TIMEOUT = EndpointReply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
CUT = EndpointReply(200, JSON, b'{"head": {"vars": ["s"]}, "results": {"bindings": [{"s": {"type"')
BROKEN = EndpointReply(503, {"content-type": "text/html"}, b"<html><title>no backend</title></html>")
REJECTED = EndpointReply(400, {"content-type": "text/plain"}, b"syntax error")
SMALL = Limits(batch=4, rows=20, relation=3, entity=8, retries=0)


def hub(name: str, relations: int, tails: int) -> str:
    """Turtle of an entity with many edges of several relations, in both directions."""
    out = [f":{name} r:r{r} :{name}_{r}_{t} ." for r in range(relations) for t in range(tails)]
    into = [f":{name}_{r}_{t} r:back{r} :{name} ." for r in range(relations) for t in range(tails)]
    return "\n".join([*out, *into])


def rows(count: int, **values: str) -> EndpointReply:
    """A reply with that many equal rows."""
    row = {name: {"type": "uri", "value": value} for name, value in values.items()}
    return EndpointReply(
        200, JSON, json.dumps({"head": {"vars": list(row)}, "results": {"bindings": [row] * count}}).encode()
    )


async def test_both_directions_parallel_relations_and_literals(make: Wire, meter: Meter) -> None:
    """One request per direction brings everything, literals with datatype and language."""
    graph = make(':a r:p :b ; r:q :b ; r:born "1815-12-10"^^xsd:date ; r:motto "oui"@fr . :c r:p :a .')
    out = (await graph.neighbours([iri("a")], "out"))[0]
    into = (await graph.neighbours([iri("a")], "in"))[0]
    assert [edge.end for edge in out.edges] == [
        Literal("1815-12-10", "http://www.w3.org/2001/XMLSchema#date"),
        Literal("oui", language="fr"),
        iri("b"),
        iri("b"),
    ]
    assert (into.edges[0].subject, into.edges[0].object, into.edges[0].endpoint) == (iri("c"), iri("a"), "test")
    assert (out.complete, out.cut, out.failed) == (True, "", "")
    assert out.retrieved_at.endswith("Z")
    assert meter.usage().by_kind == {"neighbours": 2}


@pytest.mark.parametrize(("entities", "requests"), [(1, 1), (4, 1), (5, 2), (9, 3)])
async def test_a_request_takes_a_batch(make: Wire, meter: Meter, entities: int, requests: int) -> None:
    """`limits.batch` entities share one request, in the order in which they were asked for."""
    graph = make(" ".join(f":a{number} r:p :b ." for number in range(9)), limits=SMALL)
    wanted = [iri(f"a{number}") for number in range(entities)]
    neighbourhoods = await graph.neighbours([*wanted, wanted[0]], "out")
    assert [near.entity for near in neighbourhoods] == wanted
    assert meter.usage().requests == requests


async def test_a_cached_entity_costs_nothing(make: Wire, meter: Meter, tmp_path: Path) -> None:
    """Each entity and direction is kept by itself, for other batches and for a fresh process."""
    text, store = ":a r:p :b . :b r:p :c .", DiskStore(tmp_path)
    graph = make(text, store=store)
    first = [timeless(near) for near in await graph.neighbours([iri("a"), iri("nobody")], "out")]
    await graph.neighbours([iri("b"), iri("a")], "out")
    assert meter.usage().requests == 2
    store.close()
    fresh = make(text, store=(again := DiskStore(tmp_path)))
    with meter.own():
        kept = await fresh.neighbours([iri("a"), iri("nobody"), iri("b")], "out")
    assert [timeless(near) for near in kept[:2]] == first
    assert (meter.usage().requests, meter.usage().cache_hits) == (2, 3)
    await fresh.neighbours([iri("a")], "in")
    assert meter.usage().requests == 3
    again.close()


async def test_another_shape_or_bound_is_another_entry(make: Wire, meter: Meter) -> None:
    """What was fetched under other rules is not taken for the same neighbourhood."""
    store = MemoryStore()
    for profile, limits in (("generic", SMALL), ("dbpedia", SMALL), ("generic", Limits()), ("generic", SMALL)):
        await make(":a r:p :b .", store=store, profile=profile, limits=limits).neighbours([iri("a")], "out")
    assert meter.usage().requests == 3


async def test_an_unreadable_entry_is_asked_for_again(make: Wire, meter: Meter) -> None:
    """Foreign bytes in the cache are a miss, not a crash."""
    store = MemoryStore()
    graph = make(":a r:p :b .", store=store)
    await graph.neighbours([iri("a")], "out")
    for junk in (b"", b"{}", b"\xff\xfe", b'["now",true,"",[["no iri","x",[],null]]]'):
        store.put_many(NAMESPACE, dict.fromkeys((key for _, key in store._values), junk))
        assert ends((await graph.neighbours([iri("a")], "out"))[0]) == ["b"]
    assert meter.usage().requests == 5


async def test_an_iri_that_no_query_can_carry_is_a_marked_gap(make: Wire, meter: Meter) -> None:
    """It is not sent, it breaks no batch, and nothing is kept of it."""
    store = MemoryStore()
    graph = make(":a r:p :b .", store=store)
    neighbourhoods = await graph.neighbours([Iri('http://x/"odd"'), iri("a")], "out")
    assert [near.failed for near in neighbourhoods] == [NO_QUERY, ""]
    assert (ends(neighbourhoods[1]), neighbourhoods[0].complete, store.count()) == (["b"], False, {NAMESPACE: 1})
    await graph.neighbours([Iri("not an iri")], "out")
    assert meter.usage().requests == 1


async def test_two_who_want_the_same_ask_once(make: Wire, meter: Meter) -> None:
    """The second waits for the first, also for a part of it; what the first did not bring it asks for itself."""
    graph = make(":a r:p :b . :b r:p :c .")
    wanted = [[iri("a"), iri("b")], [iri("b"), iri("c")], [iri("a")]]
    neighbourhoods = await asyncio.gather(*(graph.neighbours(part, "out") for part in wanted))
    assert [[near.entity for near in part] for part in neighbourhoods] == wanted
    assert [ends(near) for part in neighbourhoods for near in part] == [["b"], ["c"], ["c"], [], ["b"]]
    assert meter.usage().requests == 2


async def test_who_waits_survives_who_gives_up(make: Wire, meter: Meter, faults: Faults) -> None:
    """The first is cancelled, or fails: the second asks, and nobody waits for ever."""
    graph = make(":a r:p :b .")
    first = asyncio.ensure_future(graph.neighbours([iri("a")], "out"))
    second = asyncio.ensure_future(graph.neighbours([iri("a")], "out"))
    for _ in range(50):
        await asyncio.sleep(0)
    first.cancel()
    assert ends((await second)[0]) == ["b"]
    replies = iter([BROKEN])
    faults.append(lambda query: next(replies, None))
    failed, asked = await asyncio.gather(*(graph.neighbours([iri("b")], "out") for _ in range(2)))
    assert ("503" in failed[0].failed, asked[0].failed) == (True, "")


# ---- hubs and overflows ----


@pytest.mark.parametrize("way", BOTH)
async def test_a_hub_that_comes_whole_is_bounded(make: Wire, meter: Meter, way: Direction) -> None:
    """More edges than an entity may have: so many of each relation, marked and explained."""
    graph = make(hub("h", 3, 5), limits=SMALL)
    near = (await graph.neighbours([iri("h")], way))[0]
    assert (near.complete, near.failed) == (False, "")
    assert near.cut == "a hub: at most 2 edges a relation; 3 of 3 relations have more"
    assert [edge.end for edge in near.edges] == [iri(f"h_{r}_{t}") for r in range(3) for t in range(2)]
    assert meter.usage().requests == 1


@pytest.mark.parametrize("way", BOTH)
async def test_a_hub_that_overflows_is_asked_for_its_relations(make: Wire, meter: Meter, way: Direction) -> None:
    """Three requests: all edges (too many), the relations, some tails of each."""
    graph = make(hub("h", 3, 10), limits=SMALL)
    near = (await graph.neighbours([iri("h")], way))[0]
    assert near.cut == "a hub: at most 2 edges a relation; 3 of 3 relations have more"
    assert (len(near.edges), near.complete) == (6, False)
    assert meter.usage().by_kind == {"neighbours": 3}


@pytest.mark.parametrize("tails", [5, 10])
async def test_a_hub_is_the_same_in_any_batch(make: Wire, meter: Meter, tails: int) -> None:
    """Alone, first, last, or beside another hub: one neighbourhood, and few requests."""
    text = hub("h", 3, tails) + hub("g", 2, 12) + ":a r:p :b . :b r:p :c . :c r:p :d ."
    batches = [["h"], ["h", "a", "b"], ["a", "b", "h"], ["g", "a", "h"], ["h", "g"]]
    seen, before = set(), 0
    for batch in batches:
        by_entity = {
            near.entity: near for near in await make(text, limits=SMALL).neighbours(list(map(iri, batch)), "out")
        }
        seen.add(timeless(by_entity[iri("h")]))
        assert all(by_entity[iri(name)].complete for name in batch if name in "abc")
        assert meter.usage().requests - before <= 2 + 4 * sum(name in "gh" for name in batch)
        before = meter.usage().requests
    assert len(seen) == 1


async def test_an_overflow_without_a_hub_is_split(make: Wire, meter: Meter) -> None:
    """Four ordinary entities that are too much together come whole in halves."""
    text = " ".join(f":a{number} r:p :b{tail} ." for number in range(4) for tail in range(7))
    neighbourhoods = await make(text, limits=SMALL).neighbours([iri(f"a{number}") for number in range(4)], "out")
    assert [(len(near.edges), near.complete) for near in neighbourhoods] == [(7, True)] * 4
    assert meter.usage().requests == 3


async def test_the_relations_of_a_hub_share_requests(make: Wire, meter: Meter) -> None:
    """Forty relations a request; a reply is never asked to be larger than its limit."""
    limits = Limits(rows=100, relation=200, entity=50, retries=0)
    near = (await make(hub("h", 90, 2), limits=limits).neighbours([iri("h")], "out"))[0]
    assert len(near.edges) == 50, "one of each relation, and no more than an entity may have"
    assert meter.usage().requests == 2 + 3
    few = Limits(rows=10, relation=8, entity=8, retries=0)
    near = (await make(hub("g", 2, 9), limits=few).neighbours([iri("g")], "out"))[0]
    assert (len(near.edges), meter.usage().requests) == (8, 5 + 2 + 1)


async def test_a_cap_that_is_not_announced_is_no_trap(make: Wire, meter: Meter) -> None:
    """An endpoint that cuts silently at a known count, as MeSH does, still gives a hub some of its edges."""
    capped = Limits(rows=19, known_cap=20, relation=15, entity=40, retries=0)
    neighbourhoods = await make(hub("h", 4, 10) + ":a r:p :b .", limits=capped).neighbours([iri("h"), iri("a")], "out")
    assert [(near.failed, near.complete) for near in neighbourhoods] == [("", False), ("", True)]
    assert len(neighbourhoods[0].edges) == 40
    assert meter.usage().requests <= 2 + 2 + 4


async def test_a_hub_whose_relations_do_not_show_is_not_whole(make: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the edges that are looked at for relations are all plumbing, there may be others behind them."""
    monkeypatch.setattr(build, "HUB_SAMPLE", 0)
    near = (await make(hub("h", 3, 10), limits=SMALL).neighbours([iri("h")], "in"))[0]
    assert (near.edges, near.complete, near.failed) == ((), False, "")
    assert "0 relations" in near.cut


async def test_a_hub_is_kept_with_its_mark(make: Wire, meter: Meter) -> None:
    """A bounded neighbourhood is a fact about the graph's size, and worth keeping."""
    store = MemoryStore()
    first = (await make(hub("h", 3, 10), limits=SMALL, store=store).neighbours([iri("h")], "in"))[0]
    again = (await make(hub("h", 3, 10), limits=SMALL, store=store).neighbours([iri("h")], "in"))[0]
    assert timeless(again) == timeless(first)
    assert meter.usage().requests == 3


async def test_a_hub_for_want_of_strength_is_kept_for_a_day(
    make: Wire, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint that was busy may give all edges tomorrow; a hub by its number of edges stays one for a week."""
    store, kept = MemoryStore(), {}

    def put_many(namespace: str, values: dict[str, bytes], seconds: float) -> None:
        """Notes how long."""
        kept.update({key.split()[-1]: seconds / DAY for key in values if namespace == NAMESPACE})

    monkeypatch.setattr(store, "put_many", put_many)
    faults.append(
        lambda query: TIMEOUT if "<http://x/a> ?p" in query and "?s ?p ?o" in query.partition("WHERE")[0] else None
    )
    graph = make(hub("h", 3, 10) + ":a r:p :b . :b r:p :c .", limits=SMALL, store=store)
    for name in ("a", "b", "h"):
        near = (await graph.neighbours([iri(name)], "out"))[0]
        assert (near.failed, bool(near.cut)) == ("", name != "b")
    assert kept == {"http://x/a": 1, "http://x/b": 7, "http://x/h": 7}


async def test_an_endpoint_that_ignores_limits_does_not_loop(make: Wire, meter: Meter, faults: Faults) -> None:
    """Every reply overflows, whatever is asked: the requests are bounded and all entities are answered for."""
    faults.append(lambda query: rows(30, s="http://x/a0", p="http://x/r/p", o="http://x/b"))
    neighbourhoods = await make(":a r:p :b .", limits=SMALL).neighbours(
        [iri(f"a{number}") for number in range(4)], "out"
    )
    assert [near.complete for near in neighbourhoods] == [False] * 4
    assert meter.usage().requests <= 2 * 4 + 2 * 4


# ---- failures ----


async def test_a_failure_is_a_marked_gap_and_is_not_kept(make: Wire, meter: Meter, faults: Faults) -> None:
    """An endpoint that is down gives marked neighbourhoods; when it is back, it is asked again."""
    graph = make(":a r:p :b .")
    faults.append(lambda query: BROKEN)
    for near in await graph.neighbours([iri("a"), iri("b")], "out"):
        assert (near.edges, near.complete) == ((), False)
        assert "503" in near.failed
    faults.clear()
    assert ends((await graph.neighbours([iri("a")], "out"))[0]) == ["b"]
    assert meter.usage().requests == 2


@pytest.mark.parametrize("reply", [TIMEOUT, CUT])
async def test_what_is_too_much_is_asked_for_in_halves(
    make: Wire, meter: Meter, faults: Faults, reply: EndpointReply
) -> None:
    """One entity of fifty that the endpoint cannot answer costs a dozen requests; the others come whole."""
    text = " ".join(f":a{number} r:p :b ." for number in range(50))
    faults.append(lambda query: reply if "<http://x/a17>" in query and "VALUES" in query else None)
    neighbourhoods = await make(text).neighbours([iri(f"a{number}") for number in range(50)], "out")
    assert {near.complete for near in neighbourhoods if near.entity != iri("a17")} == {True}
    assert ends(neighbourhoods[17]) == ["b"], "its relations, then their tails"
    assert neighbourhoods[17].cut
    assert meter.usage().requests <= 2 * 6 + 1 + 2


async def test_a_hub_that_fails_to_the_end_is_a_gap(make: Wire, meter: Meter, faults: Faults) -> None:
    """Neither all edges nor the relations: the entity is marked, the others are not harmed."""
    faults.append(lambda query: TIMEOUT if "<http://x/a>" in query else None)
    neighbourhoods = await make(":a r:p :b . :b r:p :c .").neighbours([iri("a"), iri("b")], "out")
    assert ["S1T00" in near.failed for near in neighbourhoods] == [True, False]
    assert meter.usage().requests == 1 + 2 + 1


async def test_a_heavy_relation_of_a_hub_is_found_apart(make: Wire, meter: Meter, faults: Faults) -> None:
    """Tails are asked for in halves too; where one relation stays too much, the hub is a gap."""
    heavy = ["<http://x/r/r1>", "<http://x/r/r2>"]
    faults.append(lambda query: TIMEOUT if all(relation in query for relation in heavy) else None)
    near = (await make(hub("h", 4, 10), limits=SMALL).neighbours([iri("h")], "out"))[0]
    assert ({edge.relation.value[-2:] for edge in near.edges}, near.failed) == ({"r0", "r1", "r2", "r3"}, "")
    assert meter.usage().requests == 2 + 3
    faults.append(lambda query: TIMEOUT if heavy[0] in query else None)
    assert "S1T00" in (await make(hub("h", 4, 10), limits=SMALL).neighbours([iri("h")], "out"))[0].failed


async def test_an_endpoint_that_times_out_always_is_left_alone(make: Wire, meter: Meter, faults: Faults) -> None:
    """Fifty entities, each request a timeout: after a few the whole batch is given up."""
    faults.append(lambda query: TIMEOUT)
    neighbourhoods = await make(":a r:p :b .").neighbours([iri(f"a{number}") for number in range(50)], "out")
    assert all("S1T00" in near.failed for near in neighbourhoods)
    assert FAILURES <= meter.usage().requests <= 2 * FAILURES


async def test_a_term_that_the_engine_rejects_does_not_spoil_a_batch(make: Wire, meter: Meter) -> None:
    """Engines differ in what they take for an IRI: this one wants closed percent signs. The rest of the batch comes."""
    names = [f"a{number}" for number in range(8)]
    neighbourhoods = await make(" ".join(f":{name} r:p :b ." for name in names)).neighbours(
        [*map(iri, names), iri("100%")], "out"
    )
    assert [ends(near) for near in neighbourhoods[:-1]] == [["b"]] * 8
    assert "400" in neighbourhoods[-1].failed
    assert meter.usage().requests <= 1 + 1 + 2 * 4, "the complaint shows the engine, which is asked once more"


async def test_a_wrong_reply_is_a_failure(make: Wire, faults: Faults) -> None:
    """Rows without the variables that were asked for are no empty neighbourhood."""
    faults.append(lambda query: rows(1, x="http://x/b"))
    near = (await make(":a r:p :b .").neighbours([iri("a")], "out"))[0]
    assert "without the variable" in near.failed


async def test_what_came_before_a_failure_is_kept(make: Wire, faults: Faults) -> None:
    """Each batch is kept when it is there: an interrupted walk does not ask for it again."""
    store = MemoryStore()
    faults.append(lambda query: BROKEN if "<http://x/a7>" in query else None)
    text = " ".join(f":a{number} r:p :b ." for number in range(8))
    await make(text, limits=SMALL, store=store).neighbours([iri(f"a{number}") for number in range(8)], "out")
    assert store.count() == {NAMESPACE: 4}


# ---- shapes ----


# ---- laws ----

NODES = [f":n{number}" for number in range(5)]
BLANKS = ["_:b0", "_:b1", "_:b2"]
TRIPLES = st.lists(
    st.tuples(
        st.sampled_from([*NODES, *BLANKS]),
        st.sampled_from(["r:p", "r:q"]),
        st.sampled_from([*NODES, *BLANKS, '"x"', '"x"@en']),
    ),
    max_size=30,
)
WANTED = [iri(name[1:]) for name in NODES]
LAW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)


def _faulty(real: EmbeddedTransport, answer: Callable[[str], EndpointReply | None]) -> EmbeddedTransport:
    """The graph, with another reply where there is one."""

    class Faulty(EmbeddedTransport):
        def _run(self, query: str) -> EndpointReply:
            return answer(query) or super()._run(query)

    return Faulty(real._store, real.name)


def text_of(triples: list[tuple[str, str, str]]) -> str:
    """The triples as Turtle, and one that is always there."""
    return " ".join(f"{s} {p} {o} ." for s, p, o in [*triples, (":n0", "r:p", ":n1")])


@LAW
@given(TRIPLES, st.sampled_from(BOTH), st.integers(2, 12))
async def test_a_neighbourhood_does_not_depend_on_its_batch(
    turtle: Callable[[str], EmbeddedTransport],
    wire: Wire,
    triples: list[tuple[str, str, str]],
    way: Direction,
    most: int,
) -> None:
    """Asked together or one by one, with room or without: the same edges, the same marks."""
    real, limits = turtle(text_of(triples)), Limits(rows=most, entity=4, relation=2, batch=5, retries=0)
    together = await wire(real, limits=limits).neighbours(WANTED, way)
    alone = [(await wire(real, limits=limits).neighbours([entity], way))[0] for entity in WANTED]
    assert list(map(timeless, together)) == list(map(timeless, alone))
    assert all(len(near.edges) <= 4 and not near.failed for near in together)


REPLIES = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from([TIMEOUT, CUT, BROKEN, REJECTED, EndpointReply(200, JSON, b"")]),
        st.integers(0, 30).map(lambda count: rows(count, s="http://x/n0", p="http://x/r/p", o="http://x/n1")),
        st.integers(0, 30).map(lambda count: rows(count, x0="http://x/n0")),
        st.just(rows(1, p="http://x/r/p")),
    ),
    min_size=1,
    max_size=12,
)


@LAW
@given(REPLIES, st.sampled_from(BOTH), st.integers(1, 8))
async def test_whatever_an_endpoint_answers_it_ends(
    turtle: Callable[[str], EmbeddedTransport],
    wire: Wire,
    replies: list[EndpointReply | None],
    way: Direction,
    count: int,
) -> None:
    """Any replies in any order, over and over: every entity is answered for, in a bounded number of requests."""
    asked: list[str] = []

    def answer(query: str) -> EndpointReply | None:
        asked.append(query)
        return replies[len(asked) % len(replies)]

    limits = Limits(batch=count, rows=20, relation=3, entity=8, retries=0, concurrency=1)
    wanted = [iri(f"n{number}") for number in range(count)]
    graph = wire(_faulty(turtle(":n0 r:p :n1 ."), answer), limits=limits)
    neighbourhoods = await graph.neighbours(wanted, way)
    assert [near.entity for near in neighbourhoods] == wanted
    assert all(near.complete != bool(near.failed or near.cut) for near in neighbourhoods)
    assert len(asked) <= 1 + 8 * count


@LAW
@given(TRIPLES)
async def test_both_directions_say_the_same(
    turtle: Callable[[str], EmbeddedTransport], wire: Wire, triples: list[tuple[str, str, str]]
) -> None:
    """An edge between two entities is there from either end, with its mediator and qualifiers.

    Plain ones are the graph's.
    """
    real = turtle(text_of(triples))
    by_direction: list[set[Edge]] = []
    for way in BOTH:
        neighbourhoods = [timeless(near) for near in await wire(real).neighbours(WANTED, way)]
        edges = [edge for near in neighbourhoods for edge in near.edges]
        by_direction.append(
            {msgspec.structs.replace(edge, direction="out") for edge in edges if isinstance(edge.end, Iri)}
        )
        assert await wire(real).holds(edges) == [True] * len(edges)
    assert by_direction[0] == by_direction[1]
    plain = {(edge.subject.text, edge.relation.text, edge.object.text) for edge in by_direction[0] if not edge.through}
    asked = "SELECT ?s ?p ?o { ?s ?p ?o FILTER(isIRI(?s) && isIRI(?o)) }"
    found_by_engine = real._store.query(asked)
    assert isinstance(found_by_engine, pyoxigraph.QuerySolutions)
    assert plain == {tuple(map(str, row)) for row in found_by_engine}


# ---- public graphs ----


async def test_a_walk_over_http_is_batched_and_kept(
    over_http: Callable[[Store], SparqlGraph], meter: Meter, tmp_path: Path
) -> None:
    """Against a real server: two neighbour requests, one for labels, one for the engine; a fresh process makes none."""
    wanted = [Iri(f"http://www.wikidata.org/entity/{name}") for name in ("Q937", "Q7186", "Q39", "Q5")]

    async def hop(graph: SparqlGraph) -> tuple[Any, ...]:
        near = [neighbourhood for way in BOTH for neighbourhood in await graph.neighbours(wanted, way)]
        terms = [term for neighbourhood in near for edge in neighbourhood.edges for term in (edge.end, edge.relation)]
        return (*map(timeless, near), await graph.labels(terms))

    store = DiskStore(tmp_path)
    first = await hop(over_http(store))
    assert meter.usage().by_kind == {"catalogue": 1, "engine": 1, "labels": 1, "neighbours": 2}
    store.close()
    store = DiskStore(tmp_path)
    assert await hop(over_http(store)) == first
    assert meter.usage().requests == 5
    assert any(edge.qualifiers for neighbourhood in first[:-1] for edge in neighbourhood.edges)
    store.close()
