"""How many entities share a request: what is learned from replies, within one process and by the next one."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Limits, Mediators, Profile, Shape
from fedkg.core.meter import Meter
from fedkg.core.terms import Iri
from fedkg.graph.base import EndpointSource
from fedkg.graph.batch_size import NAMESPACE, SMALL, BatchSize
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.client import EndpointClient

Wire = Callable[..., SparqlGraph]
NOTHING = EndpointReply(
    200, {"content-type": "application/sparql-results+json"}, b'{"head": {}, "results": {"bindings": []}}'
)
TIMEOUT = EndpointReply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
TEXT = " ".join(f":a{number} r:p :b ." for number in range(200))
WANTED = [Iri(f"http://x/a{number}") for number in range(200)]


async def learned(*lessons: tuple[int, bool], most: int = 50) -> list[int]:
    """The size after each lesson: entities asked for, and whether that many were answered."""
    size = BatchSize(MemoryStore(), "k", most)
    sizes = []
    for asked, fits in lessons:
        await size.learn(asked, fits=fits)
        sizes.append(size.now)
    return sizes


async def test_half_after_too_much_a_quarter_more_after_success() -> None:
    """Never more than the profile allows, never less than one."""
    assert await learned((50, False), (25, True), (31, True), (38, True), (47, True), (50, True)) == [
        25,
        31,
        38,
        47,
        50,
        50,
    ]
    assert await learned((4, False), (2, False), (1, False), (1, True), (2, True), most=4) == [2, 1, 1, 2, 3]


async def test_a_small_batch_proves_little() -> None:
    """Three entities that were answered say nothing of fifty; one that was too much alone is no matter of batches."""
    assert await learned((50, False), (3, True), (1, False)) == [25, 25, 25]


async def test_an_unknown_engine_is_asked_for_few_and_then_for_what_takes_two_seconds() -> None:
    """One entity in a tenth of a second makes twenty; after too much it grows by quarters only, and while quick."""
    size = BatchSize(MemoryStore(), "k", 50, slow=15)
    await size.load(small=True)
    assert size.now == SMALL
    await size.learn(1, fits=True, seconds=0.1)
    assert size.now == 20
    await size.learn(20, fits=True, seconds=8)
    assert size.now == 20
    await size.learn(20, fits=False)
    await size.learn(1, fits=True, seconds=0.001)
    assert size.now == 10
    await size.learn(10, fits=True, seconds=16)
    assert size.now == 10
    await size.learn(10, fits=True, seconds=14)
    assert size.now == 12


async def test_few_at_first_say_little_of_an_engine_that_is_known_afterwards() -> None:
    """It is asked for as many as its profile allows; what was too much for it is remembered apart from small begins."""
    store = MemoryStore()
    size = BatchSize(store, "k", 50)
    await size.load(small=True)
    await size.learn(4, fits=True, seconds=1)
    assert size.now == 8
    await size.load()
    assert size.now == 50
    await size.learn(50, fits=False)
    for small, kept in ((True, 8), (False, 25)):
        await (later := BatchSize(store, "k", 50)).load(small=small)
        assert later.now == kept


@pytest.mark.parametrize(("engine", "batches"), [("generic", [4, 40]), ("rdflib", [4, 40]), ("oxigraph", [40, 4])])
async def test_the_first_batch_is_as_large_as_the_engine_is_known_for(engine: str, batches: list[int]) -> None:
    """An engine that is not known, or is simple, is asked for four entities, then for as many as it takes quickly."""
    transport = FakeTransport(lambda _: NOTHING, "http://127.0.0.1:9/sparql")
    limits, check = Limits(batch=40, concurrency=1), partial(accept, endpoint="e")
    client = EndpointClient([transport], check, endpoint="e", limits=limits, engine=engine, detects=False)
    profile = Profile("e", limits=limits, shape=Shape(mediators=Mediators(blank=False)))

    async def believed() -> list[str]:
        return [engine]

    source = EndpointSource("e", "e", profile, client, MemoryStore(), engines=believed)
    await SparqlGraph(source).neighbours([Iri(f"http://x/n{number}") for number in range(44)], "out")
    # an entity stands once in a list, or as a constant and once more in a list of its own
    assert [len(set(re.findall(r"<http://x/n\d+>", query))) for query in transport.queries] == batches


async def test_what_timed_out_is_remembered_before_the_halves_are_asked(
    make: Wire, faults: list[Callable[[str], EndpointReply | None]]
) -> None:
    """Whatever becomes of the question after its first time-out, the next process asks for half as many."""
    store = MemoryStore()
    kept: list[int] = []

    def answer(query: str) -> EndpointReply | None:
        kept.append(store.count().get(NAMESPACE, 0))
        return TIMEOUT if query.split(".", maxsplit=1)[0].count("<http://x/a") > 25 else None

    faults.append(answer)
    await make(TEXT, store=store, limits=Limits(retries=0, concurrency=1)).neighbours(WANTED[:50], "out")
    assert kept[:2] == [0, 1]


async def test_the_next_process_starts_where_this_one_ended() -> None:
    """The size is kept by endpoint and direction; what cannot be read, or is more than allowed now, is not taken."""
    store = MemoryStore()
    await BatchSize(store, "k", 50).learn(50, fits=False)
    sizes = {key: BatchSize(store, key, 50) for key in ("k", "other")}
    for size in sizes.values():
        await size.load()
    assert [size.now for size in sizes.values()] == [25, 50]
    for kept, now in ((b"90", 50), (b"0", 1), (b"-3", 1), (b"many", 50), (b"\xff", 50)):
        store.put_many(NAMESPACE, {"k": kept})
        await (size := BatchSize(store, "k", 50)).load()
        assert size.now == now


@given(st.lists(st.tuples(st.integers(1, 60), st.booleans())), st.integers(1, 60))
async def test_the_size_stays_in_bounds(lessons: list[tuple[int, bool]], most: int) -> None:
    """Whatever the endpoint does."""
    assert all(1 <= size <= most for size in await learned(*lessons, most=most))


@pytest.mark.parametrize("can", [7, 10, 40])
async def test_an_endpoint_is_not_asked_for_too_much_again(
    make: Wire, meter: Meter, faults: list[Callable[[str], EndpointReply | None]], asked: list[str], can: int
) -> None:
    """It times out over so many entities at once: all are answered, and a fresh process begins with what works."""
    store, limits = MemoryStore(), Limits(retries=0, concurrency=1)
    faults.append(lambda query: TIMEOUT if query.split(".")[0].count("<http://x/a") > can else None)
    neighbourhoods = []
    for part in (WANTED[:100], WANTED[100:]):
        asked.clear()
        neighbourhoods += await make(TEXT, store=store, limits=limits).neighbours(part, "out")
    assert [near.failed for near in neighbourhoods if near.failed] == []
    most = [query.split("}")[0].count("<http://x/a") for query in asked]
    assert most[0] <= 2 * can, "the second process has learned from the first"


async def test_a_batch_that_was_given_up_teaches_the_most(
    make: Wire, faults: list[Callable[[str], EndpointReply | None]]
) -> None:
    """Where not even the smallest parts were answered, the next batch begins below them.

    It does not fail in the same way.
    """
    faults.append(lambda query: TIMEOUT if query.split(".")[0].count("<http://x/a") > 3 else None)
    graph = make(TEXT, store=MemoryStore(), limits=Limits(retries=0, concurrency=1))
    neighbourhoods = await graph.neighbours(WANTED, "out")
    assert [bool(near.failed) for near in neighbourhoods] == [number < 50 for number in range(200)]
