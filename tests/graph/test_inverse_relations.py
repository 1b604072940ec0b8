"""Facts that a graph states both ways are shown once; none is lost where only one way is stated."""

import itertools
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedkg.cache.memory import MemoryStore
from fedkg.config import profiles
from fedkg.core.meter import Meter
from fedkg.core.terms import Direction, Edge, Iri
from fedkg.graph.endpoint import SparqlGraph
from fedkg.sparql.reply import EndpointReply
from fedkg.transport.embedded import EmbeddedTransport

Wire = Callable[..., SparqlGraph]
BOTH: tuple[Direction, Direction] = ("out", "in")
TIMEOUT = EndpointReply(500, {"content-type": "text/plain"}, b"Virtuoso S1T00 Error SR171: Transaction timed out")
NAMES = "".join(
    f' ns:m.{name} ns:type.object.name "{name}"@en .' for name in ("film", "actor", "book", "author", "other")
)
TWINS = """
ns:book.author.works ns:type.property.reverse_property ns:book.book.author .
ns:film.film.starring ns:type.property.reverse_property ns:film.performance.film .
ns:film.performance.actor ns:type.property.reverse_property ns:film.actor.film .
"""
BOOK = " ns:m.book ns:book.book.author ns:m.author . ns:m.author ns:book.author.works ns:m.book ."
CVT = (
    " ns:m.film ns:film.film.starring ns:m.cvt . ns:m.cvt ns:film.performance.film ns:m.film ;"
    " ns:film.performance.actor"
    " ns:m.actor . ns:m.actor ns:film.actor.film ns:m.cvt ."
)


def ns(name: str) -> Iri:
    """A Freebase topic."""
    return Iri(f"http://rdf.freebase.com/ns/m.{name}")


async def edges(graph: SparqlGraph, name: str) -> list[tuple[str, str]]:
    """The direction and the relation of each edge of a topic, both ways."""
    neighbourhoods = [near for way in BOTH for near in await graph.neighbours([ns(name)], way)]
    return [(edge.direction, edge.relation.value.rpartition("/")[2]) for near in neighbourhoods for edge in near.edges]


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        ("book", "book.book.author"),
        ("author", "book.author.works"),
        ("film", "film.film.starring"),
        ("actor", "film.actor.film"),
    ],
)
async def test_of_two_twins_the_outgoing_one_is_shown(make: Wire, name: str, relation: str) -> None:
    """From either end, over a mediator or without one."""
    assert await edges(make(TWINS + NAMES + BOOK + CVT, profile="freebase"), name) == [("out", relation)]


async def test_a_fact_that_is_stated_once_stays(make: Wire) -> None:
    """From its object it is an incoming edge, whether or not its relation has a twin."""
    text = TWINS + NAMES + " ns:m.book ns:book.book.author ns:m.author . ns:m.other ns:book.book.author ns:m.author ."
    graph = make(text + " ns:m.author ns:book.author.works ns:m.book .", profile="freebase")
    assert await edges(graph, "author") == [("out", "book.author.works"), ("in", "book.book.author")]
    assert await edges(graph, "other") == [("out", "book.book.author")]


async def test_the_twins_are_asked_for_once(make: Wire, meter: Meter) -> None:
    """One request for weeks, also where there are none; the outgoing edges are not fetched for it a second time."""
    for text in (TWINS + NAMES + BOOK, NAMES + BOOK):
        store, before = MemoryStore(), meter.usage().requests
        for _ in range(2):
            await edges(make(text, profile="freebase", store=store), "book")
        assert meter.usage().requests - before == 3
    await edges(make(BOOK), "book")
    assert meter.usage().by_kind["catalogue"] == 2, "a shape without such a predicate is not asked"


async def test_without_the_twins_both_edges_are_shown(
    make: Wire, faults: list[Callable[[str], EndpointReply | None]]
) -> None:
    """Where the endpoint fails to say them, or fails to say the outgoing edges, nothing is left out."""
    both = [("out", "book.book.author"), ("in", "book.author.works")]
    faults.append(lambda query: TIMEOUT if "reverse_property" in query else None)
    assert await edges(make(TWINS + NAMES + BOOK, profile="freebase"), "book") == both
    faults[:] = [lambda query: TIMEOUT if f"{ns('book').text} ?p" in query else None]
    assert await edges(make(TWINS + NAMES + BOOK, profile="freebase"), "book") == both[1:]


async def test_a_twin_that_is_plumbing_takes_no_fact_along(make: Wire) -> None:
    """What is left out by its property type cannot stand for the edge that says the same."""
    known = profiles.find("freebase")
    kind = "http://rdf.freebase.com/ns/kind"
    labels = msgspec.structs.replace(known.shape.labels, property_of="http://rdf.freebase.com/ns/describes")
    edges_of = msgspec.structs.replace(known.shape.edges, skip_property_types=(kind,))
    shape = msgspec.structs.replace(known.shape, labels=labels, edges=edges_of)
    text = f" ns:m.about ns:describes ns:book.book.author ; wikibase:propertyType <{kind}> ."
    graph = make(TWINS + NAMES + BOOK + text, profile=msgspec.structs.replace(known, shape=shape))
    assert await edges(graph, "book") == [("in", "book.author.works")]


FACTS = st.lists(st.sampled_from([*itertools.permutations(["book", "author", "other"], 2)]), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(FACTS, FACTS)
async def test_no_fact_is_lost(
    turtle: Callable[[str], EmbeddedTransport], wire: Wire, first: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    """Every statement is shown from either end, itself or by its twin, and never twice."""
    text = TWINS + NAMES + " ".join(f"ns:m.{a} ns:book.book.author ns:m.{b} ." for a, b in first)
    graph = wire(
        turtle(text + " ".join(f" ns:m.{a} ns:book.author.works ns:m.{b} ." for a, b in other)), profile="freebase"
    )
    facts = {(a, b) for a, b in first} | {(b, a) for a, b in other}

    def said(edge: Edge) -> tuple[str, str]:
        names = [end.text.rpartition(".")[2].rstrip(">") for end in (edge.subject, edge.object)]
        return (names[0], names[1]) if edge.relation.value.endswith("book.author") else (names[1], names[0])

    for name in ("book", "author", "other"):
        near = [await graph.neighbours([ns(name)], way) for way in BOTH]
        shown = [said(edge) for part in near for edge in part[0].edges]
        assert set(shown) == {fact for fact in facts if name in fact}
        assert len(shown) == len(set(shown))
