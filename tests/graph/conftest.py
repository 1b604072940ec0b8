"""Graphs in process that count what they are asked and fail where a test says so; Oxigraph's own server on loopback."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pyoxigraph
import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.config import profiles
from fedkg.config.profiles import Limits, Profile
from fedkg.core.meter import Meter
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.base import Transport
from fedkg.transport.client import EndpointClient
from fedkg.transport.embedded import EmbeddedTransport, load
from fedkg.transport.http import HttpTransport
from tests.support import federation
from tests.support.federation import Fault, MakeMember

PREFIXES = """
@prefix : <http://x/> .
@prefix r: <http://x/r/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ns: <http://rdf.freebase.com/ns/> .
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> .
@prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> .
@prefix wds: <http://www.wikidata.org/entity/statement/> .
@prefix wikibase: <http://wikiba.se/ontology#> .
"""

Wire = Callable[..., SparqlGraph]


@pytest.fixture
def turtle() -> Callable[[str], EmbeddedTransport]:
    """The graph of Turtle text; the usual prefixes are there."""

    def served(text: str) -> EmbeddedTransport:
        store = pyoxigraph.Store()
        store.load(input=(PREFIXES + text).encode(), format=pyoxigraph.RdfFormat.TURTLE)
        return EmbeddedTransport(store, "test")

    return served


@pytest.fixture
def asked() -> list[str]:
    """Every query that the graphs of one test were asked, in order."""
    return []


@pytest.fixture
def faults() -> list[Fault]:
    """What goes wrong: each may answer a query instead of the real graph."""
    return []


@pytest.fixture
def wire(meter: Meter, asked: list[str], faults: list[Fault]) -> Wire:
    """Makes a graph over a transport in process, behind the same client and acceptance test as any other."""

    def make(
        real: EmbeddedTransport,
        *,
        name: str = "test",
        profile: str | Profile = "generic",
        limits: Limits | None = None,
        store: Store | None = None,
        languages: tuple[str, ...] = ("en",),
        scan: bool = False,
    ) -> SparqlGraph:
        def answer(query: str) -> EndpointReply:
            asked.append(query)
            played = (fault(query) for fault in faults)
            return next((reply for reply in played if reply), None) or real._run(query)

        known = profile if isinstance(profile, Profile) else profiles.find(profile)
        limits = limits or Limits(retries=0)
        transports: list[Transport] = [FakeTransport(answer)]
        check = partial(accept, endpoint=name, known_cap=limits.known_cap)
        select = EndpointClient(transports, check, endpoint=name, limits=limits, meter=meter)
        shaped = Profile(known.name, limits=limits, shape=known.shape)
        source = EndpointSource(name, name, shaped, select, store if store is not None else MemoryStore())
        return SparqlGraph(source, languages, scan=scan)

    return make


@pytest.fixture
def make(turtle: Callable[[str], EmbeddedTransport], wire: Wire) -> Wire:
    """Makes a graph from Turtle text."""
    return lambda text, **options: wire(turtle(text), **options)


@pytest.fixture(scope="session")
def public() -> Callable[[str], EmbeddedTransport]:
    """One of the public graphs, read once; the test skips where they are absent."""
    read: dict[str, EmbeddedTransport] = {}

    def graph(name: str) -> EmbeddedTransport:
        path = Path(__file__).resolve().parents[3] / "shared" / "data" / f"{name}.nt.gz"
        if not path.is_file():
            pytest.skip(f"the public graph {name} is not beside the project")
        if name not in read:
            read[name] = load(path)
        return read[name]

    return graph


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, oxigraph: Callable[..., AbstractContextManager[str]]
) -> Iterator[str]:
    """The URL of Oxigraph's own read-only server over the bundled sample."""
    sample = Path(profiles.find("sample").source).parent / profiles.find("sample").file
    store = pyoxigraph.Store()
    store.load(path=str(sample), format=pyoxigraph.RdfFormat.TURTLE)
    plain = tmp_path_factory.mktemp("sample") / "sample.nt"
    store.dump(str(plain), format=pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    with oxigraph([plain]) as url:
        yield url


@pytest.fixture
async def over_http(
    server: str, meter: Meter, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callable[[Store], SparqlGraph]]:
    """Makes a graph over the bundled sample behind a real HTTP server."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    transport = HttpTransport(server)
    profile = profiles.find("sample")

    def make(store: Store) -> SparqlGraph:
        select = EndpointClient([transport], partial(accept, endpoint="http"), endpoint="http", meter=meter)
        return SparqlGraph(EndpointSource("http", server, profile, select, store))

    yield make
    await transport.close()


@pytest.fixture
def meters() -> dict[str, Meter]:
    """What each member of a federation was asked, by its name."""
    return {}


@pytest.fixture
def member_faults() -> dict[str, Fault]:
    """What goes wrong in a federation, by the member's name: it may answer a query instead of the real graph."""
    return {}


@pytest.fixture
def member(meters: dict[str, Meter], member_faults: dict[str, Fault]) -> MakeMember:
    """Makes a member of a federation from Turtle text; `authorities` are what its profile declares."""
    return federation.members(meters, member_faults)
