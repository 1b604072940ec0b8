"""Look-ups by words: on a real Virtuoso, through Wikidata's API, and where they cannot be had."""

import json
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import msgspec
import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store
from fedkg.config import profiles
from fedkg.config.dialects import Engine
from fedkg.config.profiles import Limits, LookupService, Profile
from fedkg.core.meter import Meter
from fedkg.core.question import Match
from fedkg.core.terms import Iri
from fedkg.graph.base import EndpointSource
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.entity_lookup import likeness
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport import mediawiki
from fedkg.transport.client import EndpointClient
from fedkg.transport.embedded import EmbeddedTransport
from fedkg.transport.http import HttpTransport

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
ALIAS = "<http://www.w3.org/2004/02/skos/core#altLabel>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
ABOUT = "<http://purl.org/dc/terms/description>"
NAMES = f"""\
<http://x/curie> {LABEL} "Marie Curie"@en .
<http://x/curie> {LABEL} "Skłodowska"@pl .
<http://x/curie> {TYPE} <http://x/person> .
<http://x/curie> {ABOUT} "physicist"@en .
<http://x/person> {LABEL} "person"@en .
<http://x/moma> {LABEL} "Museum of Modern Art in New York"@en .
<http://x/york> {LABEL} "University of York"@en .
<http://x/alz> {LABEL} "Alzheimer's disease, familial 1"@en .
<http://x/alz> {ALIAS} "Familial Alzheimer dementia"@en .
<http://x/odyssey> {LABEL} "2001: A Space Odyssey" .
<http://x/odyssey> <http://x/museum> <http://x/curie> .
<http://x/museum> {LABEL} "museum"@en .
<http://x/ö> {LABEL} "Universität Köln"@en .
"""
EMPTY = EndpointReply(
    200, {"content-type": "application/sparql-results+json"}, b'{"head":{},"results":{"bindings":[]}}'
)
NO_INDEX = EndpointReply(
    400,
    {"content-type": "application/json"},
    b'{"query": "", "status": "ERROR", "resultsize": 0, "exception": "Invalid SPARQL query: no text index"}',
)
REFUSED_TEXT = EndpointReply(
    500, {"content-type": "text/plain"}, b"Virtuoso 37000 Error XM028: Free-text expression, line 1: noise words"
)
DOWN = EndpointReply(503, {"content-type": "text/plain"}, b"down")


def names(matches: list[Match]) -> list[str]:
    """The entities by short names."""
    return [match.iri.value.removeprefix("http://x/") for match in matches]


# ---- Virtuoso's full text ----


@pytest.fixture(scope="module")
def full_text(
    tmp_path_factory: pytest.TempPathFactory, virtuoso: Callable[..., AbstractContextManager[str]]
) -> Iterator[str]:
    """The URL of a Virtuoso whose labels are indexed."""
    file = tmp_path_factory.mktemp("names") / "names.nt"
    file.write_text(NAMES, encoding="utf-8")
    with virtuoso([file], full_text=True) as url:
        yield url


def over(url: str, meter: Meter, kind: str = "auto") -> tuple[SparqlGraph, EndpointClient]:
    """A graph over that endpoint, and what has to be closed."""
    check = partial(accept, endpoint="virtuoso")
    select = EndpointClient([HttpTransport(url)], check, endpoint="virtuoso", meter=meter, limits=Limits(retries=0))
    profile = msgspec.structs.replace(profiles.find("generic"), lookup=msgspec.convert({"kind": kind}, LookupService))
    return SparqlGraph(EndpointSource("virtuoso", url, profile, select, MemoryStore())), select


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Curie, Marie", ["curie"]),
        ("new york museum of modern art", ["moma"]),
        ("universities york", ["york"]),
        ("Alzheimers disease", ["alz"]),
        ("dementia alzheimer", ["alz"]),
        ("space odyssey", ["odyssey"]),
        ("koln universität", []),
        ("köln universität", ["ö"]),
        ("museums of", ["moma"]),
        ("Maria Curie", ["curie"]),
        ("Skłodowska", []),
        ("nobody at all", []),
        ("'curie' OR 'museum'", []),
        ("curie' OR 'museum", []),
        ('" NEAR curie*) . } #', []),
        ("the", []),
        ("x" * 300, []),
    ],
)
async def test_virtuoso_finds_names_by_their_words(
    full_text: str, meter: Meter, text: str, expected: list[str]
) -> None:
    """All words, in any order and with other endings, in labels and aliases of the wanted languages; no relations."""
    graph, select = over(full_text, meter)
    try:
        await graph.search(["anything"])  # the first reply tells which engine this is
        assert names((await graph.lookup([text]))[text]) == expected
    finally:
        await select.close()


async def test_a_look_up_costs_little_and_is_kept(full_text: str, meter: Meter) -> None:
    """One request for it and one that tells relations apart; nothing the second time, not even for nobody."""
    graph, select = over(full_text, meter, "bif")
    try:
        first = await graph.lookup(["Curie, Marie", "nobody"])
        assert meter.usage().by_kind == {"look-up": 2, "search": 1}
        assert await graph.lookup(["nobody", "Curie, Marie"]) == first
        assert meter.usage().requests == 3
    finally:
        await select.close()


async def test_a_candidate_says_what_it_is(full_text: str, meter: Meter) -> None:
    """Label, type, description, in one further request that is kept; the score is below that of any exact match."""
    graph, select = over(full_text, meter, "bif")
    try:
        matches = (await graph.lookup(["Curie Marie"]))["Curie Marie"]
        before = meter.usage()
        (curie,) = await graph.describe(matches)
        assert (curie.label, curie.type, curie.description) == ("Marie Curie", "person", "physicist")
        assert (await graph.describe(matches), meter.since(before).requests) == ([curie], 1)
        (exact,) = (await graph.search(["marie curie"]))["marie curie"]
        assert 0.6 < curie.score <= 0.8 < exact.score < 1
    finally:
        await select.close()


@pytest.mark.parametrize(
    ("text", "name", "least", "most"),
    [
        ("curie, MARIE", "Marie Curie", 0.8, 0.8),
        ("Marie Cury", "Marie Curie", 0.6, 0.8),
        ("Marie Cury", "Marie", 0, 0.6),
        ("!!!", "!!!", 0.8, 0.8),
        ("!!!", "???", 0, 0),
        ("!!!", "Chk", 0, 0),
        ("Chk", "!!!", 0, 0),
    ],
)
def test_names_that_are_alike(text: str, name: str, least: float, most: float) -> None:
    """Case, marks and order are no matter; a name of marks alone is like no other one."""
    assert least <= likeness(text, name) <= most


# ---- where there is no search, or a failing one ----


def without_search(
    turtle: Callable[[str], EmbeddedTransport], answer: EndpointReply, asked: list[str]
) -> FakeTransport:
    """A graph in process that answers look-ups in that way."""
    real = turtle(':curie rdfs:label "Marie Curie"@en . :person rdfs:label "person"@en .')

    def play(query: str) -> EndpointReply:
        asked.append(query)
        return answer if "contains" in query else real._run(query)

    return FakeTransport(play)


def graph_of(transport: FakeTransport, engine: Engine, store: Store, kind: str = "auto") -> SparqlGraph:
    """A graph over that transport, believed to be that engine."""
    check = partial(accept, endpoint="test")
    select = EndpointClient([transport], check, endpoint="test", limits=Limits(retries=0), engine=engine)
    profile = msgspec.structs.replace(profiles.find("generic"), lookup=msgspec.convert({"kind": kind}, LookupService))
    return SparqlGraph(EndpointSource("test", "test", profile, select, store))


async def test_what_the_endpoint_rejects_is_not_tried_again(
    turtle: Callable[[str], EmbeddedTransport], asked: list[str]
) -> None:
    """QLever without a text index says so once a day, to all sessions; exact names are found as ever."""
    store = MemoryStore()
    transport = without_search(turtle, NO_INDEX, asked)
    for text in ("Curie, Marie", "somebody", "Curie, Marie"):
        graph = graph_of(transport, "qlever", store)
        assert await graph.lookup([text]) == {text: []}
        assert names((await graph.search(["Marie Curie"]))["Marie Curie"]) == ["curie"]
    assert sum("contains-word" in query for query in asked) == 1


@pytest.mark.parametrize("answer", [DOWN, REFUSED_TEXT])
async def test_a_failure_is_nobody_s_error_and_not_kept(
    turtle: Callable[[str], EmbeddedTransport], asked: list[str], answer: EndpointReply
) -> None:
    """What is down, or cannot search this one text, is asked again for the next one."""
    transport, store = without_search(turtle, answer, asked), MemoryStore()
    graph = graph_of(transport, "virtuoso", store)
    assert await graph.lookup(["Curie, Marie", "other words"]) == {"Curie, Marie": [], "other words": []}
    assert await graph.lookup(["Curie, Marie"]) == {"Curie, Marie": []}
    assert sum("bif:contains" in query for query in asked) == 3


@pytest.mark.parametrize(("engine", "kind"), [("oxigraph", "auto"), ("blazegraph", "auto"), ("virtuoso", "none")])
async def test_who_has_no_search_is_not_asked(
    turtle: Callable[[str], EmbeddedTransport], asked: list[str], engine: Engine, kind: str
) -> None:
    """Nor does that count as a failure of the endpoint, however often it happens."""
    graph = graph_of(without_search(turtle, DOWN, asked), engine, MemoryStore(), kind)
    for number in range(30):
        assert not any((await graph.lookup([f"words {number}"])).values())
    assert asked == []
    assert names((await graph.search(["Marie Curie"]))["Marie Curie"]) == ["curie"]


async def test_an_entity_that_cannot_be_described_stays(
    turtle: Callable[[str], EmbeddedTransport], asked: list[str]
) -> None:
    """A description is an extra; so is one for an IRI that no query can carry."""
    match = Match(Iri("http://x/curie"), "Marie Curie", 1.0)
    odd = Match(Iri("http://x/<"), "odd", 1.0)
    down = FakeTransport(lambda _: DOWN)
    assert await graph_of(down, "generic", MemoryStore()).describe([match, odd]) == [match, odd]
    graph = graph_of(without_search(turtle, EMPTY, asked), "generic", MemoryStore())
    assert await graph.describe([match, odd]) == [match, odd]
    assert await graph.describe([]) == []


# ---- Wikidata's API ----


def api(*entities: tuple[str, str, str]) -> FakeTransport:
    """The API, which finds these entities (IRI, label, matching name) whatever it is asked."""
    search = [
        {"id": "Q", "concepturi": address, "label": label, "description": "told", "match": {"text": name}}
        for address, label, name in entities
    ]
    body = json.dumps({"search": search}).encode()
    return FakeTransport(lambda _: EndpointReply(200, {"content-type": "application/json"}, body))


def with_api(turtle: Callable[[str], EmbeddedTransport], transport: FakeTransport) -> SparqlGraph:
    """A graph in Wikidata's shape, whose entities are looked up over that transport."""
    check = partial(mediawiki.accept, endpoint="search", authorities=("http://x/",))
    lookup = EndpointClient([transport], check, endpoint="search", limits=mediawiki.LIMITS, detects=False)
    real = turtle("wd:P1 wikibase:directClaim wdt:P1 .")
    select = EndpointClient([FakeTransport(real._run)], partial(accept, endpoint="test"), endpoint="test")
    profile = Profile("wikidata", lookup=LookupService("wikidata", "http://x/"), shape=profiles.find("wikidata").shape)
    return SparqlGraph(EndpointSource("test", "test", profile, select, MemoryStore(), lookup=lookup))


async def test_the_api_s_order_counts_among_equals(turtle: Callable[[str], EmbeddedTransport]) -> None:
    """The name that matched decides, not the label; equal ones stay as the API knows them by relevance."""
    transport = api(
        ("http://x/Q2", "Curie, Marie (ship)", "Curie, Marie (ship)"),
        ("http://x/Q7186", "Marie Curie", "Maria Skłodowska"),
        ("http://x/Q12", "A", "Maria Skłodowska"),
        ("http://evil/Q3", "Maria Skłodowska", "Maria Skłodowska"),
        ("http://x/Q7186", "Marie Curie", "Marie Curie"),
    )
    matches = (await with_api(turtle, transport).lookup(["maria skłodowska"]))["maria skłodowska"]
    assert names(matches) == ["Q7186", "Q12", "Q2"]
    assert (matches[0].label, matches[0].description, matches[0].score) == ("Marie Curie", "told", 0.8)
    assert urllib.parse.parse_qs(transport.queries[0])["language"] == ["en"]


async def test_the_api_s_errors_bar_nothing(turtle: Callable[[str], EmbeddedTransport]) -> None:
    """It says that it cannot serve one search; the next one may be another matter.

    A text too long for it is not sent.
    """
    body = b'{"error": {"code": "badvalue", "info": "no"}}'
    transport = FakeTransport(lambda _: EndpointReply(200, {"content-type": "application/json"}, body))
    graph = with_api(turtle, transport)
    for text in ("one", "two", "x" * 251):
        assert await graph.lookup([text]) == {text: []}
    assert len(transport.queries) == 2


async def test_a_profile_may_name_a_service_that_is_not_connected(
    turtle: Callable[[str], EmbeddedTransport],
) -> None:
    """A graph that is put together by hand has no look-up then, and says nothing."""
    graph = with_api(turtle, api())
    bare = SparqlGraph(EndpointSource("test", "test", graph.profile, graph.source.select, MemoryStore()))
    assert await bare.lookup(["one"]) == {"one": []}


def test_bundled_profiles_name_what_they_have() -> None:
    """Wikidata's endpoints share its API; hosts without an index are not tried; every bundled shape knows types."""
    kinds = {name: profiles.find(name).lookup.kind for name in profiles.names()}
    assert kinds["wikidata"] == kinds["wikidata-wdqs"] == "wikidata"
    assert kinds["dbpedia"] == kinds["generic"] == "auto"
    assert all(profiles.find(name).shape.labels.type for name in kinds)
