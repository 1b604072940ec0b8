"""Rows become edges: mediators collapsed, qualifiers on their edge, whatever order or shape the rows come in."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.profiles import Mediators, Shape
from fedkg.core.terms import UNKNOWN, Blank, Direction, Edge, Iri, Literal, Qualifier, Term, Through
from fedkg.errors import NotSparqlError
from fedkg.sparql.edges import MAX_LITERAL, MAX_QUALIFIERS, ReplyOrigin, Row, from_rows, sort_key
from fedkg.sparql.mediators import MOST_LEGS

OUT: ReplyOrigin = ("out", "x", "now")
IN: ReplyOrigin = ("in", "x", "now")
WIKIDATA = Shape(
    mediators=Mediators(
        blank=False, claim="http://p/", statement="http://ps/", qualifier="http://pq/", truthy="http://wdt/"
    ),
    unknown="http://genid/",
)
FREE = Shape()
A, B, C, M = (Iri(f"http://x/{name}") for name in "abcm")
P, Q, R = (Iri(f"http://x/r/{name}") for name in "pqr")


def row(**values: Term) -> Row:
    """A row of a reply."""
    return values


def tails(edges: Sequence[Edge]) -> list[str]:
    """Where the edges lead."""
    return [edge.end.text for edge in edges]


def test_plain_rows_are_edges_of_the_entity_they_start_from() -> None:
    """Outgoing edges start at their subject, incoming ones at their object."""
    rows = [row(s=A, p=P, o=B), row(s=A, p=P, o=Literal("x", language="en")), row(s=C, p=Q, o=B)]
    out, into = from_rows(rows, OUT, FREE), from_rows([rows[0], rows[2]], IN, FREE)
    assert {entity: tails(edges) for entity, edges in out.items()} == {A: ['"x"@en', B.text], C: [B.text]}
    assert into == {B: [Edge(A, P, B, *IN), Edge(C, Q, B, *IN)]}


def test_a_repeated_row_is_one_edge() -> None:
    """Engines that merge named graphs say things twice."""
    assert from_rows([row(s=A, p=P, o=B)] * 3, OUT, FREE) == {A: [Edge(A, P, B, *OUT)]}


def test_order_is_by_relation_then_by_length_of_the_tail() -> None:
    """The older Wikidata item has the shorter IRI and comes first."""
    rows = [row(s=A, p=p, o=Iri(o)) for p, o in ((Q, "u:1"), (P, "u:Q10"), (P, "u:Q9"), (P, "u:Q100"))]
    assert tails(from_rows(rows, OUT, FREE)[A]) == ["<u:Q9>", "<u:Q10>", "<u:Q100>", "<u:1>"]


def test_a_mediator_collapses_into_one_edge_per_leg() -> None:
    """Outgoing, each leg is an edge with the others as qualifiers; the mediator itself is no tail."""
    legs = [row(s=A, p=P, m=M, q=Q, v=B), row(s=A, p=P, m=M, q=R, v=Literal("1990")), row(s=A, p=P, m=M, q=R, v=A)]
    edges = from_rows([row(s=A, p=P, o=M), *legs], OUT, FREE)[A]
    assert edges == [
        Edge(A, P, B, *OUT, (Qualifier(R, Literal("1990")),), Through(M, Q)),
        Edge(A, P, Literal("1990"), *OUT, (Qualifier(Q, B),), Through(M, R)),
    ]


def test_both_directions_say_the_same_of_a_mediated_edge() -> None:
    """Subject, relation, object, mediator and qualifiers do not depend on where the walk comes from."""
    legs = {Q: B, R: C, P: Literal("1990")}
    out = from_rows([row(s=A, p=P, m=M, q=q, v=v) for q, v in legs.items()], OUT, FREE)[A]
    hung = row(s=A, p=P, m=M, w=Q, o=B)
    into = from_rows([hung, *(row(m=M, q=q, v=v) for q, v in legs.items())], IN, FREE)[B]
    (there,), (back,) = [edge for edge in out if edge.object == B], into
    assert (there.subject, there.relation, there.object, there.through) == (A, P, B, Through(M, Q))
    assert (back.subject, back.relation, back.object, back.through) == (A, P, B, Through(M, Q))
    assert there.qualifiers == back.qualifiers == (Qualifier(P, Literal("1990")), Qualifier(R, C))


def test_a_mediator_that_is_asked_for_keeps_its_edges() -> None:
    """What is collapsed for one entity is the neighbourhood of another: both may be asked for at once."""
    rows = [row(s=A, p=P, o=M), row(s=A, p=P, m=M, q=Q, v=B), row(s=M, p=Q, o=B)]
    edges = from_rows(rows, OUT, FREE)
    assert tails(edges[A]) == tails(edges[M]) == [B.text]
    assert (edges[A][0].through, edges[M][0].through) == (Through(M, Q), None)


def test_a_mediator_that_leads_back_is_a_tail_itself() -> None:
    """The leg back to the entity is neither edge nor qualifier; a named node that leads nowhere else stays in sight."""
    back = from_rows([row(s=A, p=P, o=M), row(s=A, p=P, m=M, q=Q, v=A)], OUT, FREE)
    assert back == {A: [Edge(A, P, M, *OUT)]}
    assert from_rows([row(s=A, p=P, o=Blank("b")), row(s=A, p=P, m=Blank("b"), q=Q, v=A)], OUT, FREE) == {}
    assert from_rows([row(s=A, p=P, m=M, w=Q, o=A), row(m=M, q=Q, v=A)], IN, FREE) == {}


def test_two_mediators_are_two_edges() -> None:
    """Two terms of office between the same two nodes stay apart, in an order of their own."""
    legs = [
        row(s=A, p=P, m=Blank(m), q=q, v=v)
        for m, year in (("b2", "1"), ("b1", "2"))
        for q, v in ((Q, B), (R, Literal(year)))
    ]
    edges = [edge for edge in from_rows(legs, OUT, FREE)[A] if edge.object == B]
    assert [(edge.through, edge.qualifiers) for edge in edges] == [
        (Through(Blank("b1"), Q), (Qualifier(R, Literal("2")),)),
        (Through(Blank("b2"), Q), (Qualifier(R, Literal("1")),)),
    ]


@pytest.mark.parametrize(("legs", "through"), [(MOST_LEGS, True), (MOST_LEGS + 1, False)])
def test_a_nameless_node_of_many_legs_is_no_mediator(legs: int, *, through: bool) -> None:
    """More legs than a fact has are an entity whose name is missing: the edge leads to it, and not through it."""
    rows = [row(s=A, p=P, o=M), *(row(s=A, p=P, m=M, q=Q, v=Iri(f"u:{number}")) for number in range(legs))]
    edges = from_rows(rows, OUT, FREE)[A]
    assert [edge.end for edge in edges if not through] == ([] if through else [M])
    assert len(edges) == (legs if through else 1)
    hung = [row(s=A, p=P, m=M, w=Q, o=B), *(row(m=M, q=Q, v=Iri(f"u:{number}")) for number in range(legs))]
    assert bool(from_rows(hung, IN, FREE)) == through


def test_a_blank_node_of_many_legs_does_not_explode() -> None:
    """A hub of 5,000 legs gives 5,000 edges with a bounded number of qualifiers each."""
    legs = [row(s=A, p=P, m=Blank("b"), q=Q, v=Iri(f"u:{number}")) for number in range(5_000)]
    edges = from_rows(legs, OUT, FREE)[A]
    assert len(edges) == 5_000
    assert {len(edge.qualifiers) for edge in edges} == {MAX_QUALIFIERS}


@pytest.mark.parametrize("origin", [OUT, IN])
def test_qualifiers_stand_on_the_truthy_edge(origin: ReplyOrigin) -> None:
    """A statement's qualifiers go to the edge of its property and main value; those of another value do not."""
    wdt, claim, pq = Iri("http://wdt/P1"), Iri("http://p/P1"), Iri("http://pq/P2")
    rows = [row(s=A, p=wdt, o=B), row(s=A, c=claim, m=M, o=B, q=pq, v=Literal("1990"))]
    rows += [row(s=A, c=claim, m=Iri("u:old"), o=C, q=pq, v=Literal("1980"))]
    (edge,) = from_rows(rows, origin, WIKIDATA)[A if origin == OUT else B]
    assert (edge.relation, edge.through, edge.qualifiers) == (wdt, None, (Qualifier(pq, Literal("1990")),))


@pytest.mark.parametrize("origin", [OUT, IN])
def test_each_statement_is_an_edge_of_its_own(origin: ReplyOrigin) -> None:
    """Of two terms of one office, what is said of one is not read as said of the other; equal ones are one."""
    claim, start, end = Iri("http://p/P39"), Iri("http://pq/1start"), Iri("http://pq/2end")
    statements = {"s1": ("1951", "1955"), "s2": ("1940",), "s3": ("1940",)}
    rows = [row(s=A, p=Iri("http://wdt/P39"), o=B)]
    rows += [
        row(s=A, c=claim, m=Iri(f"u:{name}"), o=B, q=q, v=Literal(year))
        for name, years in statements.items()
        for q, year in zip((start, end), years, strict=False)
    ]
    edges = from_rows(rows, origin, WIKIDATA)[A if origin == OUT else B]
    assert [[leg.value.text for leg in edge.qualifiers] for edge in edges] == [['"1940"'], ['"1951"', '"1955"']]
    assert {(edge.subject, edge.relation, edge.object) for edge in edges} == {(A, Iri("http://wdt/P39"), B)}


def test_values_that_nobody_knows_are_one() -> None:
    """Blank nodes and IRIs that stand for an unknown value are one term, as a tail and among the qualifiers."""
    wdt, claim, pq = Iri("http://wdt/P570"), Iri("http://p/P570"), Iri("http://pq/P2")
    hidden = [Blank("b1"), Blank("b2"), Iri("http://genid/3f")]
    rows = [row(s=A, p=wdt, o=value) for value in hidden]
    rows += [row(s=A, c=claim, m=M, o=hidden[0], q=pq, v=hidden[2])]
    assert from_rows(rows, OUT, WIKIDATA)[A] == [Edge(A, wdt, UNKNOWN, *OUT, (Qualifier(pq, UNKNOWN),))]
    assert tails(from_rows(rows[2:3], OUT, FREE)[A]) == ["<http://genid/3f>"], "another graph's IRI is an entity"
    assert from_rows(rows[:1], OUT, FREE) == {}


def test_what_cannot_be_asked_again_is_left_out() -> None:
    """Malformed IRIs, blank tails and long literals are no edges, and neither stand among the qualifiers."""
    odd, long = Iri('http://x/"odd"'), Literal("x" * (MAX_LITERAL + 1))
    just = Literal("x" * MAX_LITERAL)
    rows = [row(s=A, p=P, o=o) for o in (odd, Blank("b"), long, just, Literal("x", language="no tag"))]
    rows += [row(s=A, p=odd, o=B), row(s=odd, p=P, o=B), row(s=A, p=Literal("p"), o=B)]
    rows += [row(s=A, p=Q, m=M, q=q, v=v) for q, v in ((Q, B), (R, Blank("b")), (R, long), (odd, C), (Blank("q"), C))]
    assert [(edge.end, edge.qualifiers) for edge in from_rows(rows, OUT, FREE)[A]] == [(just, ()), (B, ())]
    assert set(from_rows(rows, OUT, FREE)) == {A}


def test_a_literal_is_no_subject() -> None:
    """An incoming edge from a literal is nonsense that no query could ask for again."""
    assert from_rows([row(s=Literal("x"), p=P, o=A)], IN, FREE) == {}


@pytest.mark.parametrize(
    "missing", [{"s": A}, {"s": A, "p": P}, {"x": A}, {}, {"s": A, "p": P, "m": M}, {"c": A, "s": A}]
)
def test_rows_of_another_query_are_refused(missing: Row) -> None:
    """A reply without the variables that were asked for is an endpoint's error, not a crash and not an empty graph."""
    for origin in (OUT, IN):
        with pytest.raises(NotSparqlError, match="x sent rows without"):
            from_rows([row(s=A, p=P, o=B), missing], origin, WIKIDATA)


IRIS = st.sampled_from([A, B, C])
NODES = st.sampled_from([M, Blank("m1"), Blank("m2")])
VALUES = st.one_of(IRIS, NODES, st.sampled_from([Literal("1"), Literal("2", language="en")]))
RELATIONS = st.sampled_from([P, Q, R])
PLAIN = st.fixed_dictionaries({"s": IRIS, "p": RELATIONS, "o": st.one_of(VALUES, NODES)})
OUTGOING = st.fixed_dictionaries({"s": IRIS, "p": RELATIONS, "m": NODES, "q": RELATIONS, "v": VALUES})
INCOMING = st.one_of(
    st.fixed_dictionaries({"s": IRIS, "p": RELATIONS, "m": NODES, "w": RELATIONS, "o": IRIS}),
    st.fixed_dictionaries({"m": NODES, "q": RELATIONS, "v": VALUES}),
)
STATEMENT = st.fixed_dictionaries(
    {"s": IRIS, "c": st.just(Iri("http://p/r/p")), "m": NODES, "o": VALUES, "q": RELATIONS, "v": VALUES}
)
TRUTHY = Shape(
    mediators=Mediators(claim="http://p/", statement="http://ps/", qualifier="http://pq/", truthy="http://x/")
)


@given(
    st.sampled_from(["out", "in"]).flatmap(
        lambda way: st.tuples(
            st.just(way), st.lists(st.one_of(PLAIN, STATEMENT, OUTGOING if way == "out" else INCOMING), max_size=25)
        )
    ),
    st.randoms(use_true_random=False),
)
def test_edges_do_not_depend_on_the_order_of_rows(reply: tuple[Direction, list[Row]], chance: random.Random) -> None:
    """Engines return rows in any order and repeat some: the edges and their order stay the same."""
    way, rows = reply
    origin: ReplyOrigin = (way, "x", "now")
    shuffled = rows + rows[: len(rows) // 2]
    chance.shuffle(shuffled)
    edges = from_rows(rows, origin, TRUTHY)
    assert from_rows(shuffled, origin, TRUTHY) == edges
    for entity, entity_edges in edges.items():
        assert [edge.start for edge in entity_edges] == [entity] * len(entity_edges)
        assert entity_edges == sorted(set(entity_edges), key=sort_key)
        assert all(edge.object.queryable and isinstance(edge.subject, Iri) for edge in entity_edges)
