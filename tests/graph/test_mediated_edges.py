"""Edges over mediators and statement nodes, and what profiles leave out."""

from collections.abc import Callable

import msgspec
import pytest

from fedkg.config import profiles
from fedkg.config.profiles import Limits
from fedkg.core.meter import Meter
from fedkg.core.terms import BOTH, UNKNOWN, Blank, Edge, Iri, Literal, Term
from fedkg.graph.endpoint import SparqlGraph
from fedkg.transport.embedded import EmbeddedTransport
from tests.support.neighbourhoods import ends, iri, timeless

Wire = Callable[..., SparqlGraph]


async def test_blank_mediators_are_collapsed_both_ways(make: Wire) -> None:
    """One edge with the mediator's second leg and its qualifiers, the same from either end."""
    graph = make(':ada r:job [ r:at :lab ; r:role "analyst"@en ; r:since 1833 ] .')
    out = (await graph.neighbours([iri("ada")], "out"))[0]
    into = (await graph.neighbours([iri("lab")], "in"))[0]
    (there,) = [edge for edge in out.edges if edge.end == iri("lab")]
    (back,) = into.edges
    assert (there.subject, there.relation, there.object) == (back.subject, back.relation, back.object)
    assert there.through == back.through
    assert there.through
    assert (there.through.relation, isinstance(there.through.node, Blank)) == (iri("r/at"), True)
    assert [leg.relation for leg in there.qualifiers] == [iri("r/role"), iri("r/since")]
    assert there.qualifiers == back.qualifiers
    assert ends(out) == ['"1833"^^<http://www.w3.org/2001/XMLSchema#integer', '"analyst"@en', "lab"]


async def test_nodes_without_a_name_are_mediators_on_freebase(make: Wire, meter: Meter) -> None:
    """A CVT is walked over in one step.

    A topic with a name is not, and neither is an unnamed node that is asked for.
    """
    text = """
    ns:m.film ns:type.object.name "Film"@en ; ns:film.film.starring ns:m.cvt, ns:m.topic .
    ns:m.actor ns:type.object.name "Actor"@en .
    ns:m.cvt ns:film.performance.actor ns:m.actor ; ns:film.performance.character "Kong"@en ;
        ns:film.performance.film ns:m.film . ns:m.actor ns:film.actor.film ns:m.cvt .
    ns:m.topic ns:type.object.name "Topic"@en ; ns:film.performance.actor ns:m.other .
    """
    graph = make(text, profile="freebase")
    film, actor, cvt = (Iri(f"http://rdf.freebase.com/ns/m.{name}") for name in ("film", "actor", "cvt"))
    out, mediator = await graph.neighbours([film, cvt], "out")
    into = (await graph.neighbours([actor], "in"))[0]
    assert [(edge.end.text, bool(edge.through)) for edge in out.edges] == [
        ("<http://rdf.freebase.com/ns/m.topic>", False),
        (actor.text, True),
        ('"Kong"@en', True),
    ]
    assert [(edge.start, edge.end, edge.through and edge.through.node) for edge in into.edges] == [(actor, film, cvt)]
    assert {edge.end for edge in mediator.edges} == {actor, film, Literal("Kong", language="en")}
    assert all(edge.through is None for edge in mediator.edges)
    assert meter.usage().by_kind == {"catalogue": 1, "neighbours": 2}


async def test_statements_put_qualifiers_on_the_truthy_edge(make: Wire) -> None:
    """Wikidata's p:/ps:/pq: nodes are no edges of their own; what they add stands on the wdt: edge, both ways."""
    text = """
    wd:Q1 wdt:P39 wd:Q2 ; p:P39 wds:s1 ; rdfs:label "One"@en ; schema:about wd:Q9 .
    wds:s1 ps:P39 wd:Q2 ; pq:P580 "1990" ; pq:P1365 wd:Q3 ; wikibase:rank wikibase:NormalRank .
    """
    graph = make(text, profile="wikidata")
    for entity, way in (("Q1", BOTH[0]), ("Q2", BOTH[1])):
        (edge,) = (await graph.neighbours([Iri(f"http://www.wikidata.org/entity/{entity}")], way))[0].edges
        assert edge.relation.local_name == "P39"
        assert edge.through is None
        assert [leg.value.text for leg in edge.qualifiers] == ["<http://www.wikidata.org/entity/Q3>", '"1990"']


@pytest.mark.parametrize("unknown", ["[]", "<http://www.wikidata.org/.well-known/genid/3f>"])
async def test_an_unknown_value_is_an_answer_and_no_way_on(make: Wire, unknown: str) -> None:
    """As a blank node (QLever) or an IRI of its own (the Query Service): one term, which the endpoint still says."""
    graph = make(f"wd:Q1 wdt:P20 {unknown}, {unknown} ; wdt:P19 wd:Q2 .", profile="wikidata")
    near = (await graph.neighbours([Iri("http://www.wikidata.org/entity/Q1")], "out"))[0]
    assert [edge.end for edge in near.edges] == [Iri("http://www.wikidata.org/entity/Q2"), UNKNOWN]
    assert (await graph.labels([UNKNOWN]))[UNKNOWN] == "unknown value"
    assert await graph.holds(near.edges) == [True, True]
    away = [
        msgspec.structs.replace(edge, relation=Iri("http://www.wikidata.org/prop/direct/P1")) for edge in near.edges
    ]
    assert await graph.holds(away) == [False, False]


async def test_two_statements_of_one_value_are_two_edges(make: Wire) -> None:
    """Each term of an office keeps its own years, from either end; the bare fact is not there a third time."""
    text = """
    wd:Q1 wdt:P39 wd:Q2 ; p:P39 wds:s1, wds:s2, wds:s3 .
    wds:s1 ps:P39 wd:Q2 ; pq:P580 "1940" ; pq:P582 "1945" . wds:s2 ps:P39 wd:Q2 ; pq:P580 "1951" . wds:s3 ps:P39 wd:Q2 .
    """
    graph = make(text, profile="wikidata")
    for entity, way in (("Q1", BOTH[0]), ("Q2", BOTH[1])):
        near = (await graph.neighbours([Iri(f"http://www.wikidata.org/entity/{entity}")], way))[0]
        assert [[leg.value.text for leg in edge.qualifiers] for edge in near.edges] == [
            ['"1940"', '"1945"'],
            ['"1951"'],
        ]
        assert await graph.holds(near.edges) == [True, True]


async def test_plumbing_is_skipped_by_property_type(make: Wire, meter: Meter) -> None:
    """External identifiers are told by the catalogue, which is asked once, beside the first neighbourhood."""
    text = """
    wd:Q1 wdt:P1 wd:Q2 ; wdt:P646 "/m/1" .
    wd:P646 wikibase:directClaim wdt:P646 ; wikibase:propertyType wikibase:ExternalId .
    """
    graph = make(text, profile="wikidata")
    for _ in range(2):
        near = (await graph.neighbours([Iri("http://www.wikidata.org/entity/Q1")], "out"))[0]
        assert [edge.relation.local_name for edge in near.edges] == ["P1"]
    assert meter.usage().by_kind == {"catalogue": 1, "neighbours": 1}


CVT_AND_PLAIN = ("freebase-fb15k237-cvt", "freebase-fb15k237")


LOCAL = len("http://rdf.freebase.com/ns/")


MINTED = "<http://rdf.freebase.com/ns/m.cvt"


@pytest.mark.exhaustive
async def test_two_step_facts_of_freebase(public: Callable[[str], EmbeddedTransport], wire: Wire, meter: Meter) -> None:
    """On the public Freebase excerpt with mediators, each fact over a CVT is one edge, the same from both ends."""
    graph = wire(public("freebase-fb15k237-cvt"), profile="freebase", limits=Limits(rows=500_000, entity=500_000))
    topic = Iri("http://rdf.freebase.com/ns/m.02mjmr")
    out = (await graph.neighbours([topic], "out"))[0]
    mediated = [edge for edge in out.edges if edge.through and isinstance(edge.end, Iri)]
    assert len(mediated) > 10
    assert out.complete
    tails = list(dict.fromkeys(edge.end for edge in mediated if isinstance(edge.end, Iri)))[:20]
    neighbourhoods = [timeless(near) for near in await graph.neighbours(tails, "in")]
    back = {msgspec.structs.replace(edge, direction="out") for near in neighbourhoods for edge in near.edges}
    assert {edge for edge in timeless(out).edges if edge.end in tails and edge.through} <= back
    assert await graph.holds(mediated[:10]) == [True] * 10
    assert meter.usage().by_kind["neighbours"] <= 3


def stated(edge: Edge) -> tuple[Term, str, Term]:
    """The triple that the entity itself stands in.

    A few topics of the excerpt have no name and are taken for mediators.
    """
    if edge.through is None:
        return edge.subject, edge.relation.value, edge.object
    if edge.direction == "out":
        return edge.subject, edge.relation.value, edge.through.node
    return edge.through.node, edge.through.relation.value, edge.object


@pytest.mark.exhaustive
async def test_collapsed_edges_are_the_two_step_relations(
    public: Callable[[str], EmbeddedTransport], wire: Wire
) -> None:
    """The public excerpt has its two-step facts in two forms, with a node in the middle and as one relation.

    They agree.
    """
    limits = Limits(rows=500_000, entity=500_000, retries=0)
    cvt, plain = (wire(public(name), profile="freebase", limits=limits) for name in CVT_AND_PLAIN)
    wanted = [
        Iri(f"http://rdf.freebase.com/ns/m.{name}") for name in ("02mjmr", "0151w_", "014mlp", "013zdg", "09c7w0")
    ]
    plumbing = profiles.find("freebase").shape.edges.skip
    for way in BOTH:
        for collapsed, other in zip(
            await cvt.neighbours(wanted, way), await plain.neighbours(wanted, way), strict=True
        ):
            steps = {
                (edge.subject, f"{edge.relation.value}..{edge.through.relation.value[LOCAL:]}", edge.object)
                for edge in collapsed.edges
                if edge.through and edge.through.node.text.startswith(MINTED) and isinstance(edge.end, Iri)
            }
            facts = {stated(edge) for edge in other.edges}
            relations = {fact for fact in facts if fact[1].partition("..")[0] not in plumbing}
            assert {fact for fact in relations if ".." in fact[1] and fact[0] != fact[2]} == steps
            assert {fact for fact in relations if ".." not in fact[1]} <= {stated(edge) for edge in collapsed.edges}
