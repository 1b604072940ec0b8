"""Labels over real graphs in process: languages, batches, negatives, catalogues."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fedkg.cache.disk import DiskStore
from fedkg.cache.entries import Entry
from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Limits
from fedkg.core.gaps import noted
from fedkg.core.meter import Meter
from fedkg.core.terms import Blank, Iri, Literal
from fedkg.core.usage import Gap
from fedkg.graph import labels as module
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport

Wire = Callable[..., SparqlGraph]
Faults = list[Callable[[str], EndpointReply | None]]
TIMEOUT = EndpointReply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
JSON = {"content-type": "application/sparql-results+json"}
WD = "http://www.wikidata.org/entity/"

PLACES = """
:vienna rdfs:label "Vienna"@en, "Wien"@de, "Vienne"@fr ; skos:prefLabel "Vindobona"@de .
:graz rdfs:label "Graz"@mul . :linz rdfs:label "Linz" . :brno skos:prefLabel "Brünn"@de ; rdfs:label "Brno"@en .
:lyon rdfs:label "Lyon"@fr . :blank rdfs:label "  "@en . r:capital_of rdfs:label "capital of"@en .
"""
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
    """The first language that has a label wins, before the better predicate.

    Then English, `mul`, plain, and the local name.
    """
    graph = make(PLACES, languages=languages)
    names = await graph.labels([iri(name) for name in ("vienna", "brno", "graz", "linz", "lyon", "blank")])
    lyon = "Lyon" if "fr" in languages else "lyon"
    assert list(names.values()) == [vienna, brno, "Graz", "Linz", lyon, "blank"]


async def test_labels_are_read_from_the_store_once(make: Wire, meter: Meter) -> None:
    """A graph remembers the labels that it has read, not that an entity has none; they count as kept all the same."""
    read: list[str] = []

    class Reading(MemoryStore):
        def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
            read.extend(keys)
            return super().entries(namespace, keys)

    graph = make(PLACES, store=Reading())
    for _ in range(2):
        with meter.own():
            assert list((await graph.labels([iri("vienna"), iri("nobody")])).values()) == ["Vienna", "nobody"]
    assert (meter.usage().by_kind, meter.usage().cache_hits) == ({"labels": 1}, 2)
    assert len(read) == 3


async def test_labels_are_remembered_for_an_hour(make: Wire) -> None:
    """Then the store is read again, which knows when they get stale; that there is none is asked of it each time."""
    read: list[str] = []

    class Reading(MemoryStore):
        def entries(self, namespace: str, keys: Sequence[str]) -> dict[str, Entry]:
            read.extend(key.rpartition("/")[2] for key in keys)
            return super().entries(namespace, keys)

    now = [0.0]
    names = module.LabelLookup(make(PLACES, store=Reading()).source, ("en",), lambda: now[0])
    for now[0] in (0.0, module.REMEMBERED - 1, module.REMEMBERED + 1):
        assert list((await names.labels([iri("vienna"), iri("nobody")])).values()) == ["Vienna", "nobody"]
    assert (read.count("vienna"), read.count("nobody")) == (2, 3)


async def test_every_term_has_a_name(make: Wire, meter: Meter) -> None:
    """Literals and blank nodes name themselves, IRIs that cannot be asked have a local name; one request for all."""
    terms = [iri("vienna"), iri("nobody"), Iri('http://x/"odd"'), Literal("5", "http://x/t"), Blank("b"), iri("vienna")]
    names = await make(PLACES).labels(terms)
    assert names == dict(zip(terms, ["Vienna", "nobody", '"odd"', "5", "_:b", "Vienna"], strict=True))
    assert meter.usage().by_kind == {"labels": 1}
    assert await make(PLACES).labels([]) == {}


async def test_labels_are_kept_and_so_are_negatives(make: Wire, meter: Meter, tmp_path: Path) -> None:
    """A fresh process asks for nothing that was asked for, whether or not there was a label.

    Languages are kept apart.
    """
    wanted = [iri("vienna"), iri("nobody"), iri("r/capital_of")]
    for hits in (0, 3):
        store = DiskStore(tmp_path)
        with meter.own():
            names = await make(PLACES, store=store).labels(wanted)
        assert list(names.values()) == ["Vienna", "nobody", "capital of"]
        assert (meter.usage().requests, meter.usage().cache_hits) == (1, hits)
        store.close()
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


async def test_a_label_reply_that_is_silently_cut_denies_no_name(make: Wire, faults: Faults) -> None:
    """As many rows as a reply may have are not all: who is missing among them is asked for in a smaller batch."""
    text = " ".join(f':a{number} rdfs:label "A{number}" .' for number in range(8))
    bindings = [{"e": {"type": "uri", "value": "http://x/a0"}, "l0": {"type": "literal", "value": "A0"}}] * 5
    cut = json.dumps({"head": {"vars": ["e", "l0"]}, "results": {"bindings": bindings}}).encode()
    faults.append(lambda query: EndpointReply(200, JSON, cut) if query.count("<http://x/a") == 8 else None)
    names = await make(text, limits=Limits(rows=4, retries=0)).labels([iri(f"a{number}") for number in range(8)])
    assert list(names.values()) == [f"A{number}" for number in range(8)]


async def test_a_term_that_the_engine_rejects_costs_no_other_label(make: Wire) -> None:
    """The engine takes no open percent sign in an IRI; the rest of the batch has its names."""
    names = await make(PLACES).labels([iri("vienna"), iri("100%"), iri("graz"), iri("linz")])
    assert list(names.values()) == ["Vienna", "100%", "Graz", "Linz"]


async def test_property_labels_come_in_one_catalogue(make: Wire, meter: Meter, tmp_path: Path) -> None:
    """One request per endpoint names all relations, in claims and qualifiers too.

    Relations without a label are asked for.
    """
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
    """Wikidata types and properties as German, Spanish and Russian users read them.

    Where a language is missing, the next.
    """
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
