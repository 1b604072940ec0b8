"""What is asked for after a reply was cut off: counted first where it would be cut off again."""

import json
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.config.profiles import Limits
from fedkg.core.meter import Meter
from fedkg.core.terms import BOTH, Direction, Iri
from fedkg.graph import overflow
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.overflow import _packed
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport
from tests.support.neighbourhoods import iri, timeless

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], EndpointReply | None]]
LIMITS = Limits(batch=8, rows=20, relation=3, entity=8, retries=0)
JSON = {"content-type": "application/sparql-results+json"}
CROWDED = [5, 12, 12, 12, 2, 15]
FEW = [1, 1, 1, 12, 7, 1]
LATE = [1, 1, 1, 12, 1, 12, 15, 12]


def starred(sizes: Sequence[int]) -> str:
    """Turtle of entities with so many edges each, in both directions."""
    edges = [(f":a{number}", f":b{end}") for number, size in enumerate(sizes) for end in range(size)]
    return " ".join(f"{entity} r:p {end} . {end}x r:q {entity} ." for entity, end in edges)


def entities(sizes: Sequence[int]) -> list[Iri]:
    """The entities of `starred`."""
    return [iri(f"a{number}") for number in range(len(sizes))]


def counts(asked: Sequence[str]) -> list[str]:
    """The queries that count."""
    return [query for query in asked if "COUNT" in query]


def counting(count: str, entities: int) -> Callable[[str], EndpointReply | None]:
    """A fault: each of so many entities is said to have that many edges."""
    row = {f"n{number}": {"type": "literal", "value": count} for number in range(entities)}
    body = json.dumps({"head": {"vars": []}, "results": {"bindings": [row]}}).encode()
    return lambda query: EndpointReply(200, JSON, body) if "COUNT" in query else None


@pytest.mark.parametrize("way", BOTH)
async def test_what_would_overflow_again_is_counted(make: Wire, meter: Meter, asked: list[str], way: Direction) -> None:
    """One request for the numbers of edges, then as few as these fit into; each entity comes as if asked for alone."""
    wanted = entities(CROWDED)
    together = await make(starred(CROWDED), limits=LIMITS).neighbours(wanted, way)
    assert (len(counts(asked)), meter.usage().by_kind) == (1, {"neighbours": 1 + 1 + 4})
    alone = [(await make(starred(CROWDED), limits=LIMITS).neighbours([entity], way))[0] for entity in wanted]
    assert list(map(timeless, together)) == list(map(timeless, alone))


async def test_what_is_likely_to_fit_is_not_counted(make: Wire, meter: Meter, asked: list[str]) -> None:
    """One that fills a reply among small ones: it alone, the others together, with no request more."""
    neighbourhoods = await make(starred(FEW), limits=LIMITS).neighbours(entities(FEW), "out")
    assert [near.complete for near in neighbourhoods] == [size <= 8 for size in FEW]
    assert (counts(asked), meter.usage().requests) == ([], 1 + 1 + 1)


async def test_what_overflows_twice_is_counted(make: Wire, meter: Meter, asked: list[str]) -> None:
    """Where the first reply shows small entities alone, and what is left of the batch is cut off again."""
    neighbourhoods = await make(starred(LATE), limits=LIMITS).neighbours(entities(LATE), "out")
    assert [near.complete for near in neighbourhoods] == [size <= 8 for size in LATE]
    assert (len(counts(asked)), meter.usage().requests) == (1, 1 + 2 + 1 + 3)


@pytest.mark.parametrize("status", [400, 500, 503])
async def test_an_endpoint_that_cannot_count(
    make: Wire, meter: Meter, asked: list[str], faults: Faults, status: int
) -> None:
    """It is tried once, however many batches run side by side, and answers for all as if nothing had been counted."""
    sizes = CROWDED * 5
    faults.append(lambda query: EndpointReply(status, {}, b"no") if "COUNT" in query else None)
    neighbourhoods = await make(starred(sizes), limits=LIMITS).neighbours(entities(sizes), "out")
    assert [len(near.edges) for near in neighbourhoods] == [min(size, 3) if size > 8 else size for size in sizes]
    assert (len(counts(asked)), [near.failed for near in neighbourhoods if near.failed]) == (1, [])
    assert meter.usage().requests <= 2 * len(sizes) + 2


async def test_counting_is_tried_again_after_a_while(
    make: Wire, asked: list[str], faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What failed may have failed for a moment: until the pause is over nothing is counted, then it is again."""
    graph = make(starred(CROWDED), limits=LIMITS)
    faults.append(lambda query: EndpointReply(503, {}, b"no") if "COUNT" in query else None)
    await graph.neighbours(entities(CROWDED), "out")
    faults.clear()
    monkeypatch.setattr(overflow, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + overflow.PAUSE + 1))
    await graph.neighbours(entities(CROWDED), "in")
    assert len(counts(asked)) == 2


@pytest.mark.parametrize("count", ["0", "1", "20", "-5", "many", "9" * 30, "\u0663", ""])
async def test_counts_that_lie(make: Wire, meter: Meter, asked: list[str], faults: Faults, count: str) -> None:
    """Too low ones cost requests, never an edge; a group that overflows in spite of them is not counted again."""
    faults.append(counting(count, 4))
    neighbourhoods = await make(starred(CROWDED), limits=LIMITS).neighbours(entities(CROWDED), "out")
    assert [len(near.edges) for near in neighbourhoods] == [min(size, 3) if size > 8 else size for size in CROWDED]
    assert (len(counts(asked)), meter.usage().requests <= 2 * len(CROWDED) + 2) == (1, True)


async def test_counts_that_are_too_high(make: Wire, faults: Faults) -> None:
    """They make an entity a hub that is none: it says so, and has edges of the graph alone."""
    faults.append(counting("21", 6))
    for number, near in enumerate(await make(starred(CROWDED), limits=LIMITS).neighbours(entities(CROWDED), "out")):
        assert (near.complete, near.cut.startswith("a hub")) == (False, True)
        true = {iri(f"b{end}") for end in range(CROWDED[number])}
        assert {edge.end for edge in near.edges} <= true


async def test_a_hub_among_crowds(make: Wire, meter: Meter) -> None:
    """What has more edges than a reply is a hub by its count: it costs its relations and their tails, as if alone."""
    sizes = [*CROWDED, 30]
    neighbourhoods = await make(starred(sizes), limits=LIMITS).neighbours(entities(sizes), "out")
    assert "a hub: at most 3 edges" in neighbourhoods[-1].cut
    assert meter.usage().requests == (1 + 1 + 4) + 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.sampled_from(BOTH), st.integers(1, 12))
async def test_counting_changes_no_neighbourhood(
    turtle: Callable[[str], EmbeddedTransport], wire: Wire, sizes: list[int], way: Direction, batch: int
) -> None:
    """Whatever the numbers of edges, and however many share a request: the same edges and marks as one by one."""
    real, limits = turtle(starred(sizes)), msgspec.structs.replace(LIMITS, batch=batch)
    together = await wire(real, limits=limits).neighbours(entities(sizes), way)
    alone = [(await wire(real, limits=limits).neighbours([entity], way))[0] for entity in entities(sizes)]
    assert list(map(timeless, together)) == list(map(timeless, alone))


@given(st.dictionaries(st.integers(0, 50).map(lambda number: iri(f"a{number}")), st.integers(0, 20)))
def test_groups_fit(sizes: dict[Iri, int]) -> None:
    """Every entity is in one group, which has room for all that are in it; one at most is half empty."""
    groups = _packed(sizes, 20)
    assert sorted(entity.value for group in groups for entity in group) == sorted(entity.value for entity in sizes)
    filled = [sum(sizes[entity] for entity in group) for group in groups]
    assert all(size <= 20 for size in filled)
    assert sum(size <= 10 for size in filled) <= 1
