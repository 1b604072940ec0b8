"""Labels and entities by label, over real graphs in process: languages, batches, negatives, spellings, suggestions."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.errors import EndpointError
from fedkg.fetch.base import Reply
from fedkg.fetch.embedded import EmbeddedTransport
from fedkg.graph import names as module
from fedkg.graph.endpoint import SparqlGraph
from fedkg.meter import Meter
from fedkg.missing import noted
from fedkg.profiles import Limits
from fedkg.records import Gap, Match
from fedkg.store import DiskStore, MemoryStore
from fedkg.terms import Blank, Iri, Literal

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], Reply | None]]
TIMEOUT = Reply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
WD = "http://www.wikidata.org/entity/"

PLACES = """
:vienna rdfs:label "Vienna"@en, "Wien"@de, "Vienne"@fr ; skos:prefLabel "Vindobona"@de .
:graz rdfs:label "Graz"@mul . :linz rdfs:label "Linz" . :brno skos:prefLabel "Brünn"@de ; rdfs:label "Brno"@en .
:lyon rdfs:label "Lyon"@fr . :blank rdfs:label "  "@en . r:capital_of rdfs:label "capital of"@en .
"""
PROPERTIES = """
wd:P36 rdfs:label "capital"@en, "Hauptstadt"@de ; wikibase:directClaim wdt:P36 ; wikibase:propertyType wikibase:WikibaseItem .
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


# ---- labels ----


@pytest.mark.parametrize(
    ("languages", "vienna", "brno"),
    [
        (("en",), "Vienna", "Brno"),
        (("de", "en"), "Wien", "Brünn"),
        (("DE",), "Wien", "Brünn"),
        (("fr",), "Vienne", "Brno"),
    ],
)
async def test_languages_come_in_order(make: Wire, languages: tuple[str, ...], vienna: str, brno: str) -> None:
    """The first language that has a label wins, before the better predicate; then English, `mul`, plain, and the local name."""
    graph = make(PLACES, languages=languages)
    names = await graph.labels([iri(name) for name in ("vienna", "brno", "graz", "linz", "lyon", "blank")])
    lyon = "Lyon" if "fr" in languages else "lyon"
    assert list(names.values()) == [vienna, brno, "Graz", "Linz", lyon, "blank"]


async def test_every_term_has_a_name(make: Wire, meter: Meter) -> None:
    """Literals and blank nodes name themselves, IRIs that cannot be asked have a local name; one request for all."""
    terms = [iri("vienna"), iri("nobody"), Iri('http://x/"odd"'), Literal("5", "http://x/t"), Blank("b"), iri("vienna")]
    names = await make(PLACES).labels(terms)
    assert names == dict(zip(terms, ["Vienna", "nobody", '"odd"', "5", "_:b", "Vienna"], strict=True))
    assert meter.usage().by_kind == {"labels": 1}
    assert await make(PLACES).labels([]) == {}


async def test_labels_are_kept_and_so_are_negatives(make: Wire, meter: Meter, tmp_path: Path) -> None:
    """A fresh process asks for nothing that was asked for, whether or not there was a label; languages are kept apart."""
    wanted = [iri("vienna"), iri("nobody"), iri("r/capital_of")]
    for _ in range(2):
        store = DiskStore(tmp_path)
        graph = make(PLACES, store=store)
        assert list((await graph.labels(wanted)).values()) == ["Vienna", "nobody", "capital of"]
        assert meter.usage().requests == 1
        store.close()
    assert graph.hits == 3
    store = DiskStore(tmp_path)
    assert (await make(PLACES, store=store, languages=("de",)).labels(wanted))[wanted[0]] == "Wien"
    store.close()


async def test_labels_come_in_batches_of_their_own(make: Wire, meter: Meter) -> None:
    """`limits.label_batch` terms share a request."""
    text = " ".join(f':a{number} rdfs:label "A{number}" .' for number in range(25))
    wanted = [iri(f"a{number}") for number in range(25)]
    names = await make(text, limits=Limits(label_batch=10)).labels(wanted)
    assert list(names.values()) == [f"A{number}" for number in range(25)]
    assert meter.usage().by_kind == {"labels": 3}


async def test_a_label_batch_that_is_too_much_is_halved(make: Wire, meter: Meter, faults: Faults) -> None:
    """The label that cannot be had costs its entity the name, not the others theirs, and is asked for again."""
    text = " ".join(f':a{number} rdfs:label "A{number}" .' for number in range(16))
    graph = make(text)
    faults.append(lambda query: TIMEOUT if "<http://x/a3>" in query else None)
    missed: dict[Gap, None] = {}
    with noted(missed):
        names = await graph.labels([iri(f"a{number}") for number in range(16)])
    assert [name for name in names.values() if name.islower()] == ["a3"]
    assert [(gap.endpoint, gap.asked, "S1T00" in gap.reason) for gap in missed] == [("test", "1 label", True)]
    assert meter.usage().requests <= 9
    faults.clear()
    assert (await graph.labels([iri("a3")]))[iri("a3")] == "A3"


async def test_a_term_that_the_engine_rejects_costs_no_other_label(make: Wire) -> None:
    """The engine takes no open percent sign in an IRI; the rest of the batch has its names."""
    names = await make(PLACES).labels([iri("vienna"), iri("100%"), iri("graz"), iri("linz")])
    assert list(names.values()) == ["Vienna", "100%", "Graz", "Linz"]


async def test_property_labels_come_in_one_catalogue(make: Wire, meter: Meter, tmp_path: Path) -> None:
    """One request per endpoint names all relations, in claims and qualifiers too; relations without a label are asked for."""
    prop = "http://www.wikidata.org/prop/"
    terms = [Iri(prop + name) for name in ("direct/P36", "P36", "statement/P36", "qualifier/P580", "direct/P99")]
    for languages, expected in ((("en",), "capital"), (("de", "en"), "Hauptstadt")):
        for _ in range(2):
            store = DiskStore(tmp_path)
            graph = make(PROPERTIES, profile="wikidata", store=store, languages=languages)
            names = list((await graph.labels(terms)).values())
            assert names == [*[expected] * 3, "start time", "P99"]
            store.close()
    assert meter.usage().by_kind == {"catalogue": 2, "labels": 2}


async def test_an_empty_catalogue_is_kept_too(make: Wire, meter: Meter) -> None:
    """A graph without property entities is not asked for them by every process."""
    store = MemoryStore()
    for _ in range(2):
        await make("wd:Q1 wdt:P1 wd:Q2 .", profile="wikidata", store=store).neighbours([Iri(WD + "Q1")], "out")
    assert meter.usage().by_kind == {"catalogue": 1, "neighbours": 1}
    store.put_many(module.LABELS, dict.fromkeys((key for space, key in store._values if space == module.LABELS), b"?"))
    await make("wd:Q1 wdt:P1 wd:Q2 .", profile="wikidata", store=store).neighbours([Iri(WD + "Q1")], "out")
    assert meter.usage().by_kind["catalogue"] == 2, "what cannot be read is asked for again"


async def test_a_failing_catalogue_is_not_asked_at_every_hop(
    make: Wire, meter: Meter, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Edges and entity labels come all the same; after a pause the catalogue is tried again."""
    graph = make(PROPERTIES, profile="wikidata")
    faults.append(lambda query: TIMEOUT if "directClaim" in query else None)
    for entity in ("Q1", "Q2"):
        missed: dict[Gap, None] = {}
        with noted(missed):
            await graph.neighbours([Iri(WD + entity)], "out")
            assert (await graph.labels([Iri(WD + "Q2")]))[Iri(WD + "Q2")] == "Two"
        assert [gap.asked for gap in missed] == ["the table of labels"], "every question lacks it, asked or not"
    assert meter.usage().by_kind["catalogue"] == 1
    faults.clear()
    monkeypatch.setattr(graph._names._catalogue, "_asked_again_at", 0.0)
    relation = Iri("http://www.wikidata.org/prop/direct/P36")
    assert (await graph.labels([relation]))[relation] == "capital"
    assert meter.usage().by_kind["catalogue"] == 2


async def test_labels_of_a_public_graph_in_other_languages(
    public: Callable[[str], EmbeddedTransport], wire: Wire, meter: Meter
) -> None:
    """Wikidata types and properties as German, Spanish and Russian users read them; where a language is missing, the next."""
    city, human = Iri(WD + "Q515"), Iri(WD + "Q5")
    real, store = public("wikidata-codex-labels-multilingual"), MemoryStore()
    expected = {("de", "en"): "Stadt", ("es",): "ciudad", ("ru", "de"): "город", ("cy", "de"): "Stadt", ("cy",): "Q515"}
    for languages, name in expected.items():
        for _ in range(2):
            names = await wire(real, profile="wikidata", languages=languages, store=store).labels([city, human])
            assert names[city] == name
    assert meter.usage().by_kind == {"catalogue": 5, "labels": 5}, "a name that is missing is kept as missing"


@pytest.mark.parametrize(
    ("profile", "text", "name"),
    [
        ("uniprot", 'up:mnemonic "INS_HUMAN" ; up:fullName "Insulin"', "Insulin"),
        ("uniprot", 'up:mnemonic "INS_HUMAN"', "INS_HUMAN"),
        ("uniprot", 'up:scientificName "Homo sapiens" ; up:mnemonic "HUMAN"', "Homo sapiens"),
        ("mesh", 'mesh:prefLabel "Aspirin"@en', "Aspirin"),
        ("mesh", 'mesh:prefLabel "Aspirins"@en ; rdfs:label "Aspirin"@en', "Aspirin"),
        ("freebase", 'rdfs:label "Film"@en ; ns:type.object.name "The Film"@en', "The Film"),
        ("generic", 'skos:prefLabel "preferred"@en ; schema:name "name"', "preferred"),
    ],
)
async def test_the_chain_of_label_predicates(make: Wire, profile: str, text: str, name: str) -> None:
    """The first predicate of a profile's chain that names the entity."""
    prefixes = "@prefix up: <http://purl.uniprot.org/core/> . @prefix mesh: <http://id.nlm.nih.gov/mesh/vocab#> . "
    assert (await make(f"{prefixes} :a {text} .", profile=profile).labels([iri("a")]))[iri("a")] == name


# ---- entities by label ----

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


async def test_a_common_name_does_not_crowd_out_the_others(make: Wire) -> None:
    """Two hundred Smiths leave room for the one Curie of the same request."""
    text = " ".join(f':s{number} rdfs:label "Smith" .' for number in range(200)) + ':curie rdfs:label "Curie" .'
    matches = await make(text).search(["Smith", "Curie"], 1)
    assert (found(matches["Smith"]), found(matches["Curie"])) == (["s0"], ["curie"])


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
