"""Entities by label, over real graphs in process: spellings, crowds of one name, what they are, suggestions."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Limits
from fedkg.core.meter import Meter
from fedkg.core.question import Match
from fedkg.core.terms import Iri, Literal
from fedkg.errors import EndpointError
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], EndpointReply | None]]
TIMEOUT = EndpointReply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
WD = "http://www.wikidata.org/entity/"

PROPERTIES = """
wd:P36 rdfs:label "capital"@en, "Hauptstadt"@de ; wikibase:directClaim wdt:P36 ;
    wikibase:propertyType wikibase:WikibaseItem .
wd:P580 rdfs:label "start time"@en ; wikibase:directClaim wdt:P580 ; wikibase:propertyType wikibase:Time .
wd:P99 wikibase:directClaim wdt:P99 .
wd:Q1 rdfs:label "capital"@en ; wdt:P36 wd:Q2 . wd:Q2 rdfs:label "Two"@en .
"""


def iri(name: str) -> Iri:
    """The example's IRI of that name."""
    return Iri(f"http://x/{name}")


def found(matches: list[Match]) -> list[str]:
    """The matched entities by short names."""
    return [match.iri.value.removeprefix("http://x/").removeprefix(WD) for match in matches]


TITLES = """
:two rdfs:label "The Lord of the Rings: The Two Towers"@en ; skos:altLabel "Two Towers"@en .
:odyssey rdfs:label "2001: A Space Odyssey"@en . :csharp rdfs:label "C#"@en . :full rdfs:label "100 %"@en .
:it rdfs:label "It"@en . :jean rdfs:label "Jean-Luc Picard"@en . :obrien rdfs:label "Miles O'Brien"@en .
:q1 rdfs:label "Paris"@en . :q100 rdfs:label "Paris"@en . :q22 rdfs:label "Paris"@en .
:alias skos:altLabel "Paris"@en . :film rdfs:label "film"@en . :two dcterms:description "a film"@en, "ein Film"@de .
r:director rdfs:label "director"@en . :two r:director :jean .
@prefix dcterms: <http://purl.org/dc/terms/> . :q22 dcterms:description "a city"@en .
"""
TITLES = TITLES[TITLES.index("@prefix") :] + TITLES[: TITLES.index("@prefix")]


@pytest.mark.parametrize(
    ("text", "entity", "score"),
    [
        ("2001: A Space Odyssey", "odyssey", 1.0),
        ("The Lord of the Rings: The Two Towers", "two", 1.0),
        ("the lord of the rings: the two towers", "two", 0.9),
        ("THE LORD OF THE RINGS: THE TWO TOWERS", "two", 0.8),
        ("two towers", "two", 0.8),
        ("  2001:  A Space\tOdyssey ", "odyssey", 0.98),
        ("C#", "csharp", 1.0),
        ("100 %", "full", 1.0),
        ("jean-luc picard", "jean", 0.9),
        ("miles o'brien", "obrien", 0.9),
        ("Film", "film", 0.9),
    ],
)
async def test_a_name_is_found_as_people_write_it(make: Wire, text: str, entity: str, score: float) -> None:
    """Exact labels first; other spellings and aliases score less."""
    (match,) = (await make(TITLES).search([text]))[text]
    assert (match.iri, match.score >= score) == (iri(entity), True)
    assert (match.score == 1.0) is (score == 1.0)


async def test_the_shorter_iri_comes_first(make: Wire) -> None:
    """Of several entities of one name the one with the shortest IRI, then by text; an alias comes last."""
    graph = make(TITLES)
    matches = (await graph.search(["Paris"]))["Paris"]
    assert found(matches) == ["q1", "q22", "q100", "alias"]
    assert [match.description for match in matches] == ["", "a city", "", ""]
    assert found((await graph.search(["Paris"], 2))["Paris"]) == ["q1", "q22"]


async def test_several_texts_share_one_request(make: Wire, meter: Meter) -> None:
    """Forty texts are one request; each has its own matches, unknown and empty ones none."""
    texts = ["Paris", "It", "nothing", "", "  ", "\ud800", "Paris", *(f"name {number}" for number in range(30))]
    matches = await make(TITLES, profile="wikidata").search(texts, 1)
    assert set(matches) == set(texts)
    assert [len(matches[text]) for text in texts[:6]] == [1, 1, 0, 0, 0, 0]
    assert meter.usage().by_kind == {"catalogue": 1, "search": 1}


async def test_matches_come_in_the_order_asked_for(make: Wire) -> None:
    """Whatever was searched before.

    The order of names decides ties later on, and a warm cache must change no answer.
    """
    graph = make(TITLES)
    await graph.search(["film"])
    assert list(await graph.search(["Paris", "film", "It"])) == ["Paris", "film", "It"]


@pytest.mark.parametrize("rows", [9_998, 100])
async def test_a_common_name_does_not_crowd_out_the_others(make: Wire, meter: Meter, rows: int) -> None:
    """Two hundred Smiths leave room for the one Curie; where they fill the reply, the others are asked for again."""
    text = " ".join(f':s{number} rdfs:label "Smith" .' for number in range(200)) + ':curie rdfs:label "Curie" .'
    graph = make(text, limits=Limits(retries=0, rows=rows))
    matches = await graph.search(["Smith", "Curie", "nobody"], 1)
    assert (len(matches["Smith"]), found(matches["Curie"]), matches["nobody"]) == (1, ["curie"], [])
    assert meter.usage().by_kind == {"search": 2 if rows == 9_998 else 3}


async def test_too_much_about_entities_is_asked_for_in_parts(make: Wire, meter: Meter) -> None:
    """A reply that is cut is not taken for all that there is.

    What one entity has too much of is left out, and not kept; what is kept of others stays known beside it.
    """
    kinds = " ".join(f':t{number} rdfs:label "type {number}" .' for number in range(9))
    text = f":a a :t0, :t1, :t2, :t3 . :b a :t4, :t5, :t6 . :many a {', '.join(f':t{n}' for n in range(9))} . {kinds}"
    store = MemoryStore()
    graph = make(text, limits=Limits(retries=0, rows=6), store=store)
    small, many = [Match(iri(name), name, 1.0) for name in ("a", "b")], Match(iri("many"), "many", 1.0)
    assert [match.type for match in await graph.describe(small)] == ["type 0", "type 4"]
    asked = meter.usage().requests
    assert (await graph.describe([many]), store.count()["searches"]) == ([many], 2)
    assert [match.type for match in await graph.describe([*small, many])] == ["type 0", "type 4", ""]
    assert meter.usage().requests == asked + 2
    cold = make(text, limits=Limits(retries=0, rows=6))
    assert [match.type for match in await cold.describe([*small, many])] == ["type 0", "type 4", ""]


async def test_descriptions_follow_the_languages(make: Wire) -> None:
    """The description in the first language that has one; each entity comes once, however many it has."""
    for languages, about in ((("en",), "a film"), (("de", "en"), "ein Film"), (("fr",), "a film")):
        text = "The Lord of the Rings: The Two Towers"
        matches = (await make(TITLES, languages=(*languages, "en")[: len(languages)]).search([text]))[text]
        assert [match.description for match in matches] == [about]


async def test_relations_are_no_entities(make: Wire, meter: Meter) -> None:
    """What stands as a predicate, or describes one, is not what a question is about."""
    graph = make(TITLES)
    assert await graph.search(["director", "Director"]) == {"director": [], "Director": []}
    assert meter.usage().by_kind == {"search": 2}
    await graph.search(["director"])
    assert meter.usage().by_kind == {"search": 2}, "it is known by now"
    wikidata = make(PROPERTIES, profile="wikidata", scan=True)
    assert found((await wikidata.search(["capital"]))["capital"]) == ["Q1"]
    assert found(await wikidata.nearest("capitals")) == ["Q1"]


async def test_a_search_that_fails_says_so(make: Wire, faults: Faults, meter: Meter) -> None:
    """Linking without an answer of the endpoint would be guessing; a text that is too much alone is the error."""
    faults.append(lambda query: TIMEOUT if '"Paris"' in query else None)
    graph = make(TITLES)
    assert found((await graph.search(["It"]))["It"]) == ["it"]
    with pytest.raises(EndpointError, match="S1T00"):
        await graph.search(["It", "Paris", "C#"])
    assert meter.usage().requests < 10


async def test_nearest_suggests_what_is_spelled_alike(make: Wire, meter: Meter) -> None:
    """The best first; all labels of a small graph are read once; short words inside the text do not win."""
    graph = make(TITLES, scan=True)
    assert found(await graph.nearest("2001: A Space Odissey"))[0] == "odyssey"
    assert found(await graph.nearest("jean luc pickard", 1)) == ["jean"]
    assert await graph.nearest("zzzz") == []
    assert meter.usage().by_kind == {"labels": 1}


async def test_nearest_of_a_large_graph_knows_what_was_seen(make: Wire, meter: Meter, faults: Faults) -> None:
    """Without the right to read everything, suggestions are among the labels that came by; failures give none."""
    graph = make(TITLES)
    assert await graph.nearest("Odyssey") == []
    await graph.labels([iri("odyssey"), iri("nobody")])
    assert found(await graph.nearest("Odyssey")) == ["odyssey"]
    faults.append(lambda query: TIMEOUT)
    assert await make(TITLES, scan=True).nearest("Odyssey") == []
    assert meter.usage().by_kind == {"labels": 2}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip))
async def test_every_label_finds_its_entity(turtle: Callable[[str], EmbeddedTransport], wire: Wire, text: str) -> None:
    """Any label, whatever it says, is found as written and is the entity's name, white space aside."""
    written = Literal(text).text
    graph = wire(turtle(f":a rdfs:label {written} . :b rdfs:label {Literal(text + '!').text} ."))
    assert found((await graph.search([text]))[text])[0] == "a"
    assert (await graph.labels([iri("a")]))[iri("a")] == text.strip()
