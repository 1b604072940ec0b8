"""Every query shape on a real engine, for every bundled profile, and with texts that try to break out of it."""

from collections.abc import Iterable

import pyoxigraph
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedkg.config import profiles
from fedkg.config.dialects import DIALECTS, GENERIC, Dialect
from fedkg.config.profiles import Edges, Labels, Mediators, Shape
from fedkg.core.terms import UNKNOWN, Blank, Direction, Edge, Iri, Literal, Term, Through
from fedkg.errors import TermError
from fedkg.sparql import build

RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
BARE = Shape(mediators=Mediators(blank=False))
A, B, C = Iri("http://x/a"), Iri("http://x/b"), Iri("http://x/c")
P, Q = Iri("http://x/p"), Iri("http://x/q")
BREAKERS = [
    '"', "\\", '\\"', '"@en } #', "C#", "100 %", "%s", "{0}", "?e0", "} UNION { ?e0 ?x ?l0 }", "' OR 1=1", "\n", "\r\n",
    "\x00", "\x1f", "\u2028", "\ufeff", "é猫😀", '""" }', "<http://x/a>", "a\tb", "\\u0022", "; DROP ALL", "#e1",
]  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(BREAKERS),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
    st.lists(st.sampled_from([*BREAKERS, "a", " "]), min_size=1, max_size=5).map("".join),
)
DIRECTIONS: list[Direction] = ["out", "in"]


def node(iri: Iri) -> pyoxigraph.NamedNode:
    """The IRI as the engine's own object, so that no text of ours is read back by our own rules."""
    return pyoxigraph.NamedNode(iri.value)


def graph(*triples: tuple[Iri, Iri, Term]) -> pyoxigraph.Store:
    """A store with these triples."""
    store = pyoxigraph.Store()
    for subject, relation, end in triples:
        literal = pyoxigraph.Literal(end.value, language=end.language or None) if isinstance(end, Literal) else None
        target = literal or node(end if isinstance(end, Iri) else Iri(""))
        store.add(pyoxigraph.Quad(node(subject), node(relation), target))
    return store


def turtle(text: str) -> pyoxigraph.Store:
    """A store with the triples of Turtle text, whose names lie below http://x/."""
    store = pyoxigraph.Store()
    store.load(input=f"@prefix : <http://x/> . {text}".encode(), format=pyoxigraph.RdfFormat.TURTLE)
    return store


def rows(store: pyoxigraph.Store, query: str) -> list[dict[str, str]]:
    """The solutions: variable to the value's plain text, blank nodes as `_`."""
    solutions = store.query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions), "a SELECT, nothing else"
    names = [variable.value for variable in solutions.variables]
    values = [{name: row[name] for name in names if row[name] is not None} for row in solutions]
    return [
        {name: "_" if isinstance(value, pyoxigraph.BlankNode) else value.value for name, value in row.items()}
        for row in values
    ]


def variables(query: str) -> list[str]:
    """The columns of a query's result."""
    solutions = pyoxigraph.Store().query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return [variable.value for variable in solutions.variables]


def pairs(bindings: Iterable[dict[str, str]], *names: str) -> list[tuple[str, ...]]:
    """The values of some variables of each row that has them all, sorted, without the example's prefix."""
    whole = [row for row in bindings if set(names) <= set(row)]
    return sorted(tuple(row[name].removeprefix("http://x/") for name in names) for row in whole)


def all_queries(shape: Shape, dialect: Dialect) -> list[str]:
    """One query of each kind for a shape."""
    edges = [
        Edge(A, P, Literal("1", language="en"), "out", "x"),
        Edge(A, P, B, "in", "x", through=Through(Blank("b"), Q)),
        Edge(A, P, UNKNOWN, "out", "x"),
    ]
    hub = [build.hub_relations(A, way, shape, 5, dialect) for way in DIRECTIONS]
    hub += [build.hub_tails(A, [P, Q], way, 5) for way in DIRECTIONS]
    near = [build.neighbours([A, B], way, shape, 9, dialect) for way in DIRECTIONS]
    names = [build.labels([A, B], shape.labels, ("de", "en"), dialect)]
    names += [build.named(["A", "B"], shape.labels, ("en",), 9, dialect)]
    names += [build.scan_labels(shape.labels, 9), build.used([A, P])]
    names += [build.catalogue(shape.labels, ("en",), "http://x/type")] if shape.labels.property_of else []
    names += [build.known([A, B], links, links, 9, dialect) for links in ({}, {P: [A, B], Q: []})]
    return [*near, *hub, *names, build.holds(edges, shape.unknown, dialect), build.contains(P.value)]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda dialect: dialect.engine)
@pytest.mark.parametrize("name", profiles.names())
def test_every_shape_of_every_profile_is_sparql(name: str, dialect: Dialect) -> None:
    """An engine of its own reads every query that a bundled profile leads to, and finds nothing in an empty graph."""
    for query in all_queries(profiles.find(name).shape, dialect):
        assert rows(pyoxigraph.Store(), query) == [], query


def test_an_inlined_entity_is_a_constant_in_every_branch() -> None:
    """QLever gets a bounded branch for each entity, no variable where it is known, but a column with its name."""
    shape = Shape(
        mediators=Mediators(blank=True, claim="http://x/P", statement="http://x/ps/P", qualifier="http://x/pq/P")
    )
    for way, known in zip(DIRECTIONS, ("?s", "?o"), strict=True):
        query = build.neighbours([A, B], way, shape, 9, DIALECTS["qlever"])
        branches = query.partition("WHERE")[2].split(" UNION ")
        assert len(branches) == 2 * (3 if way == "out" else 4)
        for branch in branches:
            # the legs of mediators that lead to an entity belong to these, not to the entity
            legs = "SELECT DISTINCT ?m" in branch
            assert branch.count(f"VALUES {known} {{") == branch.count(known) == (not legs), branch
            assert branch.count("LIMIT 9") >= 1


def test_a_lone_entity_is_a_constant_everywhere() -> None:
    """One entity needs no VALUES to join with on any engine; several share one list on those that can plan with it."""
    for dialect in DIALECTS.values():
        assert f"{A.n3()} ?p ?o" in build.neighbours([A], "out", BARE, 9, dialect)
        assert f"?s ?p {A.n3()}" in build.neighbours([A], "in", BARE, 9, dialect)
    shared = build.neighbours([A, B], "out", BARE, 9, GENERIC)
    assert f"VALUES ?s {{ {A.n3()} {B.n3()} }} ?s ?p ?o" in shared


def test_what_is_bound_stands_before_what_is_not() -> None:
    """A statement is reached from the end that is known, in both directions."""
    mediators = Mediators(False, (), "", "http://x/P", "http://x/ps/P", "http://x/pq/P")
    out, into = (build.neighbours([A, B], way, Shape(mediators=mediators), 9) for way in DIRECTIONS)
    assert out.index("?s ?c ?m") < out.index("?m ?main ?o") < out.index("?m ?q ?v")
    assert into.index("?m ?main ?o") < into.index("?s ?c ?m") < into.index("?m ?q ?v")


def test_a_simple_engine_gets_no_query_inside_of_a_pattern() -> None:
    """It would join the whole graph with that: a query inside is a branch by itself."""
    shape = Shape(mediators=Mediators(blank=True, unnamed=("http://x/m",), name="http://x/name"))
    for dialect in (DIALECTS["rdflib"], DIALECTS["comunica"], DIALECTS["plain"]):
        for way in DIRECTIONS:
            query = build.neighbours([A, B], way, shape, 9, dialect)
            assert query.count("SELECT") == 1 + query.count("{ SELECT *") + query.count("{ SELECT DISTINCT ?m ?q ?v")
            assert "}} LIMIT" not in query.replace(" ", "").removesuffix("LIMIT9")


def test_an_engine_that_plans_slowly_joins_what_follows_with_all_entities_at_once() -> None:
    """Comunica gets each entity's edges in a branch of its own, and what leads on from them once: the same rows."""
    shape = Shape(mediators=Mediators(True, (), "", "http://x/p", "http://x/ps/p", "http://x/pq/p"))
    facts = ":a :p :s . :s ps:p :b ; pq:p :c . :b :r [ :q :a ] ."
    store = turtle(f"@prefix ps: <http://x/ps/> . @prefix pq: <http://x/pq/> . {facts}")
    for way in DIRECTIONS:
        lone, query = (build.neighbours(some, way, shape, 99, DIALECTS["comunica"]) for some in ([A], [A, B]))
        assert query.count("?m ?q ?v") == lone.count("?m ?q ?v") > 0
        assert query.count(A.n3()) == query.count(B.n3()) > 2
        found, expected = (rows(store, text) for text in (query, build.neighbours([A, B], way, shape, 99)))
        assert pairs(expected, "c", "v")
        assert set(map(str, found)) == set(map(str, expected))


def test_a_plain_name_is_a_constant_in_each_language() -> None:
    """An engine that cannot compare languages is asked for one at a time; the rows are those of the list."""
    store = turtle(':a :n "A"@en, "A" ; :about "first"@en . :b :n "A"@de .')
    shape = Labels(("http://x/n",), (), "http://x/about")
    query = build.named(["A"], shape, ("en", "de"), 9, DIALECTS["plain"])
    assert all(part.split("}")[0].count('"A"') == 1 for part in query.split("VALUES")[1:])
    plain, listed = (rows(store, text) for text in (query, build.named(["A"], shape, ("en", "de"), 9)))
    assert sorted(map(str, plain)) == sorted(map(str, listed))
    assert len(plain) == 3


def test_there_is_room_for_a_batch_in_every_dialect() -> None:
    """A batch of the advised size has no more branches than an engine that wants one for each entity can bear."""
    for name in profiles.names():
        shape = profiles.find(name).shape
        batch = [Iri(f"http://x/{number}") for number in range(build.room(shape))]
        assert batch
        for dialect in DIALECTS.values():
            for way in DIRECTIONS:
                assert build.neighbours(batch, way, shape, 9, dialect).count(" UNION ") < dialect.branches


def test_many_labels_share_a_list_in_every_dialect() -> None:
    """A constant predicate is planned well with VALUES: a large batch of labels is not made hundreds of branches."""
    many = [Iri(f"http://x/{number}") for number in range(400)]
    for dialect in DIALECTS.values():
        assert build.labels(many, Labels(), ("en",), dialect).count("VALUES") == 1


def test_without_statements_edges_that_lead_to_one_show_that_there_are_some() -> None:
    """They come beside the edges, in both directions and every dialect, and nothing else does; one row has one edge."""
    text = """@prefix w: <http://www.wikidata.org/prop/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
    @prefix ps: <http://www.wikidata.org/prop/statement/> . @prefix pq: <http://www.wikidata.org/prop/qualifier/> .
    :a wdt:P1 :b ; w:P1 :s ; :other :b . :s ps:P1 :b ; pq:P2 :b ."""
    shape = profiles.find("wikidata").shape
    for start, way, expected in (
        (A, DIRECTIONS[0], ["direct/P1", "P1"]),
        (B, DIRECTIONS[1], ["direct/P1", "statement/P1"]),
    ):
        for dialect in DIALECTS.values():
            query = build.neighbours([start, C], way, shape, 99, dialect, statements=False)
            found = sorted(
                p.removeprefix("http://www.wikidata.org/prop/") for (p,) in pairs(rows(turtle(text), query), "p")
            )
            assert found == sorted(expected), dialect.engine
            assert "?q" not in query


def test_statements_that_were_said_in_error_do_not_count() -> None:
    """A statement of deprecated rank gives no qualifiers, whatever else says the same; without such a key it does."""
    text = """@prefix w: <http://x/w/> . @prefix t: <http://x/t/> .
    @prefix ps: <http://x/ps/> . @prefix pq: <http://x/pq/> .
    :a t:P1 :b ; w:P1 :s1, :s2 . :s1 ps:P1 :b ; pq:P2 "1990" ; :rank :normal .
    :s2 ps:P1 :b ; pq:P2 "1066" ; :rank :low ."""
    ranked = Mediators(
        False, (), "", "http://x/w/", "http://x/ps/", "http://x/pq/", "http://x/t/", "http://x/rank", "http://x/low"
    )
    plain = Mediators(False, (), "", "http://x/w/", "http://x/ps/", "http://x/pq/", "http://x/t/")
    for mediators, years in ((ranked, ["1990"]), (plain, ["1066", "1990"])):
        for start, way in ((A, DIRECTIONS[0]), (B, DIRECTIONS[1])):
            for dialect in DIALECTS.values():
                query = build.neighbours([start, C], way, Shape(mediators=mediators), 99, dialect)
                assert pairs(rows(turtle(text), query), "v") == [(year,) for year in years]


def test_a_value_that_is_not_known_holds_where_any_is_said() -> None:
    """Blank nodes and IRIs under the prefix stand for it, plain IRIs and literals do not."""
    store = turtle(':a :p [] ; :q :b, "x" . :b :p :genid.1 . :c :p "x" .')
    edges = [Edge(start, relation, UNKNOWN, "out", "x") for start, relation in ((A, P), (A, Q), (B, P), (C, P))]
    assert pairs(rows(store, build.holds(edges, "http://x/genid.")), "i") == [("0",), ("2",)]
    assert pairs(rows(store, build.holds(edges)), "i") == [("0",)]


def test_neighbours_in_one_direction() -> None:
    """Outgoing edges have the entity as subject, incoming ones as object; parallel relations and literals are there."""
    store = turtle(':a :p :b, "x"@en, "1"^^<http://x/t> ; :q :b . :c :p :a . :d :p :c .')
    out, into = (rows(store, build.neighbours([A], way, BARE, 99)) for way in DIRECTIONS)
    assert pairs(out, "s", "p", "o") == [("a", "p", "1"), ("a", "p", "b"), ("a", "p", "x"), ("a", "q", "b")]
    assert pairs(into, "s", "p", "o") == [("c", "p", "a")]


def test_plumbing_is_left_out_by_the_endpoint() -> None:
    """Skipped predicates and prefixes, and those outside of `only`, do not travel."""
    store = turtle(":a :p :b ; :q :b ; :wiki1 :b ; :wiki2 :b . :b :p :a ; :q :a ; :wiki1 :a .")
    skips = Shape(edges=Edges(skip=("http://x/q",), skip_prefixes=("http://x/wiki",)))
    only = Shape(edges=Edges(only="http://x/wiki"))
    for way in DIRECTIONS:
        assert {p for (p,) in pairs(rows(store, build.neighbours([A], way, skips, 99)), "p")} == {"p"}
        assert {p[:4] for (p,) in pairs(rows(store, build.neighbours([A], way, only, 99)), "p")} == {"wiki"}
        assert pairs(rows(store, build.hub_relations(A, way, skips, 99)), "p") == [("p",)]


def test_blank_mediators_come_with_their_legs() -> None:
    """Outgoing, a row per leg of a blank node; incoming, one for the leg that holds the entity, and all legs apart."""
    store = turtle(":a :job [ :at :b ; :role 'boss' ] .")
    out, into = (rows(store, build.neighbours([start], way, Shape(), 99)) for start, way in ((A, "out"), (B, "in")))  # type: ignore[arg-type]  # the literals are directions
    assert pairs(out, "s", "p", "m", "q", "v") == [("a", "job", "_", "at", "b"), ("a", "job", "_", "role", "boss")]
    assert pairs(into, "s", "p", "m", "w", "o") == [("a", "job", "_", "at", "b")]
    assert pairs(into, "m", "q", "v") == [("_", "at", "b"), ("_", "role", "boss")]


def test_a_node_without_a_name_is_not_multiplied() -> None:
    """An unnamed entity that 30 lead to, with 30 legs, is 60 rows and no 900; one that nothing leads to brings none."""
    store = turtle(
        " ".join(f":s{number} :p _:m . _:m :q :o{number} ." for number in range(30)) + "[] :of :o1 ; :on :o2 ."
    )
    for dialect in DIALECTS.values():
        into = rows(store, build.neighbours([A, Iri("http://x/o1")], "in", Shape(), 9_999, dialect))
        assert len(pairs(into, "s", "p", "m", "w", "o")) == len(pairs(into, "m", "q", "v")) == 30


def test_a_skipped_leg_leads_nowhere() -> None:
    """What is no edge going out is none coming in: the leg that an entity hangs on is filtered like any other."""
    store = turtle(":a :job [ :kind :b ; :at :c ] .")
    shape = Shape(edges=Edges(skip=("http://x/kind",)))
    assert pairs(rows(store, build.neighbours([A], "out", shape, 99)), "q", "v") == [("at", "c")]
    assert pairs(rows(store, build.neighbours([B], "in", shape, 99)), "s", "w") == []


def test_named_nodes_are_no_mediators() -> None:
    """An IRI under the profile's prefix is a mediator only where it has no name."""
    shape = Shape(mediators=Mediators(blank=False, unnamed=("http://x/m.",), name="http://x/name"))
    store = turtle(":a :p :m.1, :m.2, :b . :m.1 :q :b . :m.2 :q :b ; :name 'two' . :b :q :c .")
    assert pairs(rows(store, build.neighbours([A], "out", shape, 99)), "m", "q", "v") == [("m.1", "q", "b")]


def test_statements_bring_qualifiers() -> None:
    """Wikidata's full statements give claim, main value and qualifier, from either end."""
    text = """@prefix w: <http://www.wikidata.org/prop/> . @prefix ps: <http://www.wikidata.org/prop/statement/> .
    @prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
    :a wdt:P1 :b ; w:P1 :s1, :s2 . :s1 ps:P1 :b ; pq:P2 "1990" . :s2 ps:P1 :b ; :rank :low ."""
    shape = profiles.find("wikidata").shape
    for start, way in ((A, DIRECTIONS[0]), (B, DIRECTIONS[1])):
        bindings = rows(turtle(text), build.neighbours([start], way, shape, 99))
        assert pairs(bindings, "s", "p", "o") == [("a", "http://www.wikidata.org/prop/direct/P1", "b")]
        assert pairs(bindings, "s", "m", "o", "v") == [("a", "s1", "b", "1990")]


def test_the_limit_holds() -> None:
    """No reply has more rows than were asked for, and a hub has no more tails of a relation."""
    store = turtle(":a :p :b1, :b2, :b3, :b4 ; :q :b1, :b2, :b3 .")
    assert len(rows(store, build.neighbours([A], "out", BARE, 3))) == 3
    tails = rows(store, build.hub_tails(A, [P, Q], "out", 2))
    assert sorted(name for row in tails for name in row) == ["x0", "x0", "x1", "x1"]
    assert len(rows(store, build.hub_relations(A, "out", BARE, 1))) == 1
    for way, counts in zip(DIRECTIONS, [("5", "0"), ("0", "2")], strict=True):
        [first, second] = rows(store, build.edge_counts([A, Iri("http://x/b1")], way, BARE, 5))
        assert sorted([*first.items(), *second.items()]) == [("n0", counts[0]), ("n1", counts[1])]


def test_labels_by_predicate_and_language() -> None:
    """Only the wanted languages, `mul` and plain labels come, each in the column of its predicate."""
    store = turtle(':a :n1 "A"@en, "Ah"@fr, "Aa"@mul ; :n2 "plain" . :b :n2 "B"@de .')
    shape = Labels(predicates=("http://x/n1", "http://x/n2"))
    bindings = rows(store, build.labels([A, B, C], shape, ("de", "EN")))
    assert pairs(bindings, "e", "l0") == [("a", "A"), ("a", "Aa")]
    assert pairs(bindings, "e", "l1") == [("a", "plain"), ("b", "B")]


def test_the_catalogue_describes_relations() -> None:
    """Every relation comes with its property entity; label and type where there are any."""
    store = turtle(':P1 :direct :p ; :name "of"@en, "von"@de ; :type :Id . :P2 :direct :q .')
    shape = Labels(predicates=("http://x/name",), property_of="http://x/direct")
    bindings = rows(store, build.catalogue(shape, ("en",), "http://x/type"))
    assert pairs(bindings, "e", "p", "l", "t") == [("P1", "p", "of", "Id")]
    assert pairs(bindings, "e", "p") == [("P1", "p"), ("P2", "q")]


def test_named_finds_labels_aliases_and_a_description() -> None:
    """The columns tell label from alias; only descriptions in the wanted languages multiply the rows."""
    store = turtle(':a :name "X"@en ; :about "one"@en, "eins"@de, "un"@fr . :b :alias "X" . :c :name "X"@fr .')
    shape = Labels(predicates=("http://x/name",), aliases=("http://x/alias",), description="http://x/about")
    bindings = rows(store, build.named(["X", "Y"], shape, ("en",), 9))
    assert pairs(bindings, "e0", "l0", "d0") == [("a", "X", "one")]
    assert pairs(bindings, "e1", "l1") == [("b", "X")]


def test_scan_used_and_contains() -> None:
    """All labels; which IRIs are relations; whether a predicate occurs at all."""
    store = turtle(':a :name "A"@en ; :p :b . :b :other "B" .')
    shape = Labels(predicates=("http://x/name", "http://x/other"))
    bindings = rows(store, build.scan_labels(shape, 9))
    assert (pairs(bindings, "e", "l0"), pairs(bindings, "e", "l1")) == ([("a", "A")], [("b", "B")])
    assert [set(row) for row in rows(store, build.used([A, P, Q]))] == [{"x1"}]
    assert [bool(rows(store, build.contains(iri.value))) for iri in (P, Q)] == [True, False]


def test_known_tells_strangers_and_links() -> None:
    """Who stands in a triple that is no link, and the links from subjects and to objects, a literal among these."""
    store = turtle(':a :other :b . :b :q :c . :d :q "1" .')
    a, b, c, d = (Iri(f"http://x/{name}") for name in "abcd")
    for dialect in DIALECTS.values():
        bindings = rows(store, build.known([a, b, c, d], {P: [], Q: [b]}, {P: [], Q: [Literal("1")]}, 9, dialect))
        assert set(pairs(bindings, "e")) == {("a",), ("b",)}
        assert set(pairs(bindings, "s1", "o1")) == {("b", "c"), ("d", "1")}


def test_holds_tells_every_kind_of_edge() -> None:
    """Plain and literal edges, and edges over a named or a blank mediator, each by its number."""
    store = turtle(':a :p :b, "1"^^<http://x/t>, :m ; :q [ :q :b ] . :m :q :c .')
    edges = [
        Edge(A, P, B, "out", "x"),
        Edge(A, P, C, "out", "x"),
        Edge(A, P, Literal("1", "http://x/t"), "out", "x"),
        Edge(A, P, Literal("1"), "out", "x"),
        Edge(A, P, C, "in", "x", through=Through(Iri("http://x/m"), Q)),
        Edge(A, Q, B, "in", "x", through=Through(Blank("b"), Q)),
        Edge(A, Q, C, "in", "x", through=Through(Blank("b"), Q)),
    ]
    assert pairs(rows(store, build.holds(edges)), "i") == [("0",), ("2",), ("4",), ("5",)]


@given(TEXTS, st.sampled_from(["en", "de", "mul", ""]))
@example("C#", "en")
@example("100 %", "en")
def test_any_text_finds_exactly_the_entity_with_that_label(text: str, language: str) -> None:
    """Whatever a label says, the query finds its entity and nothing else, as label and as alias."""
    shape = Labels(predicates=(RDFS_LABEL,), aliases=("http://x/alias#as",), description="http://x/about#it")
    alias = Iri("http://x/alias#as")
    store = graph(
        (A, Iri(RDFS_LABEL), Literal(text, language=language)),
        (B, Iri(RDFS_LABEL), Literal(text + "!", language=language)),
        (B, alias, Literal(text, language=language)),
        (C, alias, Literal("!" + text, language=language)),
    )
    bindings = rows(store, build.named([text], shape, ("de", "en"), 99))
    assert pairs(bindings, "e0") == [("a",)]
    assert pairs(bindings, "e1") == [("b",)]
    assert {value for row in bindings for name, value in row.items() if name[0] == "l"} == {text}


@given(TEXTS)
def test_any_literal_can_be_asked_for_again(text: str) -> None:
    """An edge to a literal holds exactly where the graph has that literal."""
    store = graph((A, P, Literal(text)), (B, P, Literal(text + "x")))
    edges = [Edge(start, P, Literal(text), "out", "x") for start in (A, B)]
    assert rows(store, build.holds(edges)) == [{"i": "0"}]


@given(st.one_of(TEXTS.map("http://x/{}".format), TEXTS, TEXTS.map("urn:{}".format)))
@example("http://x/a> ?p ?o } #")
@example("http://x/a b")
def test_any_iri_is_refused_or_stays_one_iri(text: str) -> None:
    """An IRI enters a query whole or not at all: the engine finds its edges, or says that this is no IRI."""
    hostile = Iri(text)
    if not hostile.queryable:
        with pytest.raises(TermError):
            build.neighbours([hostile], "out", BARE, 9)
        return
    query = build.neighbours([hostile], "out", BARE, 9)
    several = build.neighbours([C, hostile], "out", BARE, 9, DIALECTS["qlever"])
    try:
        store = graph((hostile, P, B), (Iri("other:decoy"), P, C))
    except ValueError:  # stricter than the grammar of a query: then the query is refused as well
        with pytest.raises(SyntaxError):
            rows(graph((A, P, C)), query)
        return
    assert [[row["o"] for row in rows(store, asked)] for asked in (query, several)] == [[B.value]] * 2


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_no_text_changes_the_form_of_a_query(texts: list[str]) -> None:
    """A query for hostile texts gives the columns that one for harmless texts gives, and is never an update."""
    shape = profiles.find("wikidata").shape.labels
    hostile = build.named(texts, shape, ("en",), 9)
    harmless = build.named([f"a{number}" for number in range(len(texts))], shape, ("en",), 9)
    assert variables(hostile) == variables(harmless)
    with pytest.raises(SyntaxError):
        pyoxigraph.Store().update(hostile)
