"""Hubs on real engines: bounded requests and bytes, and what was cut is said."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config import profiles
from fedkg.config.profiles import Limits, Profile
from fedkg.core.meter import Meter
from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Iri, Literal
from fedkg.graph import hubs as module
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.results import accept
from fedkg.transport.client import EndpointClient
from fedkg.transport.embedded import EmbeddedTransport
from fedkg.transport.http import HttpTransport
from tests.support.neighbourhoods import timeless

EDGES = 50_000
RARE = 12
X = "http://hub.invalid/"
HUB = Iri(f"{X}hub")
SMALL = [Iri(f"{X}e{number}") for number in range(49)]
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"

Wire = Callable[..., SparqlGraph]
ServeFiles = Callable[..., AbstractContextManager[str]]
Connect = Callable[..., SparqlGraph]


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hub: all but a few of its incoming edges are of one relation.

    Which an index by relation lists before the rare ones.
    """
    file = tmp_path_factory.mktemp("hubs") / "hub.nt"
    with file.open("w", encoding="utf-8") as lines:
        for number in range(EDGES):
            relation = f"z{number % RARE}" if number % 1_000 < RARE else "a"
            lines.write(f"<{X}e{number}> <{X}{relation}> {HUB.text} .\n")
        for number in range(100):
            lines.write(f"<{X}e{number}> <{X}knows> <{X}e{number + 1}> .\n")
        lines.write(f'{HUB.text} {LABEL} "hub"@en .\n{HUB.text} <{X}own> <{X}e0> .\n')
    return file


@pytest.fixture(scope="module", params=["oxigraph", "virtuoso"])
def url(request: pytest.FixtureRequest, graph_file: Path) -> Iterator[str]:
    """The hub's graph on a real engine."""
    with ExitStack() as stack:
        serve: ServeFiles = request.getfixturevalue(request.param)
        yield stack.enter_context(serve([graph_file]))


@pytest.fixture
async def connect(url: str, meter: Meter) -> AsyncIterator[Connect]:
    """Makes a graph over that engine in a shape, with nothing kept."""
    transports: list[HttpTransport] = []

    def make(profile: str = "generic", limits: Limits | None = None) -> SparqlGraph:
        transports.append(HttpTransport(url))
        limits = limits or Limits()
        select = EndpointClient(
            [transports[-1]], partial(accept, endpoint="hub"), endpoint="hub", limits=limits, meter=meter
        )
        shaped = Profile("hub", limits=limits, shape=profiles.find(profile).shape)
        return SparqlGraph(EndpointSource("hub", url, shaped, select, MemoryStore()))

    yield make
    for transport in transports:
        await transport.close()


def relations(near: Neighbourhood) -> list[str]:
    """The relations of the edges by short names."""
    return sorted({edge.relation.value.removeprefix(X) for edge in near.edges})


@pytest.mark.parametrize("profile", ["generic", "freebase"])
async def test_a_hub_is_bounded_and_says_so(connect: Connect, meter: Meter, profile: str) -> None:
    """All of its relations, the rare ones too, some edges of each; few requests, few bytes."""
    graph = connect(profile)
    async with asyncio.timeout(60):
        near = (await graph.neighbours([HUB], "in"))[0]
    assert relations(near) == sorted(["a", *(f"z{number}" for number in range(RARE))])
    assert near.cut == "a hub: at most 153 edges a relation; 1 of 13 relations have more"
    assert (near.complete, near.failed, len(near.edges)) == (False, "", 153 + 12 * EDGES // 1_000)
    assert (meter.usage().by_kind["neighbours"], meter.usage().bytes < 5_000_000) == (3, True)


async def test_a_hub_among_small_entities(connect: Connect, meter: Meter) -> None:
    """It costs the others nothing, and the batch a few requests."""
    graph = connect()
    neighbourhoods = await graph.neighbours([*SMALL[:20], HUB, *SMALL[20:]], "in")
    assert [near.complete for near in neighbourhoods] == [near.entity != HUB for near in neighbourhoods]
    assert [len(near.edges) for near in neighbourhoods if near.entity != HUB] == [1] * 49
    assert meter.usage().by_kind["neighbours"] <= 5
    alone = (await connect().neighbours([HUB], "in"))[0]
    hub = next(near for near in neighbourhoods if near.entity == HUB)
    assert ([edge.walked for edge in alone.edges], alone.cut) == ([edge.walked for edge in hub.edges], hub.cut)


async def test_the_small_side_of_a_hub_is_whole(connect: Connect) -> None:
    """Its outgoing edges and its name are those of any entity."""
    graph = connect()
    near = (await graph.neighbours([HUB], "out"))[0]
    assert ([edge.end for edge in near.edges], near.complete) == ([Iri(f"{X}e0")], True)
    assert await graph.labels([HUB, Literal("5")]) == {HUB: "hub", Literal("5"): "5"}
    assert await graph.holds(near.edges) == [True]


async def test_a_small_share_of_rows_is_enough(connect: Connect) -> None:
    """An endpoint that gives 100 rows at most, as some do, still shows every relation."""
    near = (await connect(limits=Limits(rows=100)).neighbours([HUB], "in"))[0]
    assert (len(relations(near)), near.failed, near.complete) == (13, "", False)


@pytest.mark.exhaustive
async def test_hubs_of_wikidata(public: Callable[[str], EmbeddedTransport], wire: Wire, meter: Meter) -> None:
    """The United States have thousands of incoming edges: bounded, marked, alike in every batch, in few requests."""
    names = ["Q30", "Q937", "Q42", "Q145", "Q5"]
    wanted = [Iri(f"http://www.wikidata.org/entity/{name}") for name in names]
    limits = Limits(rows=2_000, entity=500, relation=50)
    real = public("wikidata-codex-m")
    together = await wire(real, profile="wikidata", limits=limits).neighbours(wanted, "in")
    used = meter.usage().by_kind["neighbours"]
    alone = [(await wire(real, profile="wikidata", limits=limits).neighbours([entity], "in"))[0] for entity in wanted]
    assert list(map(timeless, together)) == list(map(timeless, alone))
    assert (together[0].complete, 0 < len(together[0].edges) <= 500) == (False, True)
    assert used <= 12


def test_the_hub_bounds_are_sane() -> None:
    """The largest request for tails stays below forty branches, as Virtuoso needs it."""
    assert module.HUB_BRANCHES <= 40
