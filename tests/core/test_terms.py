import re

import pyoxigraph
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedkg.core.terms import (
    UNKNOWN,
    Blank,
    DirectedRelation,
    Edge,
    Iri,
    Literal,
    Qualifier,
    Term,
    Through,
    own_name,
    parse_term,
    relation_name,
    relation_text,
    typed_name,
)
from fedkg.errors import TermError

ANY_TEXT = st.text(st.characters())
SURROGATES = st.text(st.characters(categories=["Cs", "L", "Po"]), min_size=1)
VALID_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TAIL = st.text(st.characters(min_codepoint=0x21, max_codepoint=0xD7FF, exclude_characters='<>"{}|^`\\%#[]?\x7f'))
IRIS = TAIL.filter(lambda tail: not re.search(r"[\x7f-\x9f]", tail)).map(lambda tail: Iri(f"http://ex.org/{tail}"))
LANGUAGES = st.sampled_from(["en", "de", "zh-Hans", "pt-BR", "mul", "EN-gb"])
LITERALS = st.one_of(
    VALID_TEXT.map(Literal),
    st.builds(lambda value, datatype: Literal(value, datatype=datatype.value), VALID_TEXT, IRIS),
    st.builds(lambda value, language: Literal(value, language=language), VALID_TEXT, LANGUAGES),
)
TERMS = st.one_of(IRIS, LITERALS, st.from_regex(r"[A-Za-z0-9]+", fullmatch=True).map(Blank))
P = Iri("http://ex.org/p")


def values(term: Iri | Literal) -> list[str]:
    """What an engine gives back for a term that is written into a query."""
    solutions = pyoxigraph.Store().query(f"SELECT ?x {{ VALUES ?x {{ {term.n3()} }} }}")
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return [row["x"].value for row in solutions]


@given(TERMS)
def test_round_trip(term: Iri | Literal | Blank) -> None:
    """A term's text stands for that term, of the same kind."""
    again = parse_term(term.text)
    assert again == term
    assert type(again) is type(term)
    assert again.text == term.text


@given(SURROGATES, ANY_TEXT, ANY_TEXT, st.sampled_from(["iri", "language", "datatype", "blank"]))
@example('a> . <b"', 'x"@en', "en us", "language")
@example("_:a ", "", "a>b", "datatype")
def test_hostile_terms_round_trip_too(text: str, value: str, tag: str, kind: str) -> None:
    """Whatever an endpoint sent can be written into an answer document and read back, even where no query takes it."""
    made = {
        "iri": Iri(text),
        "language": Literal(value, language=tag),
        "datatype": Literal(value, datatype=tag),
        "blank": Blank(text),
    }[kind]
    assert parse_term(made.text) == made


@given(LITERALS)
@example(Literal('"} DROP ALL #'))
@example(Literal("\\u0022 . \\\\u0022"))
@example(Literal("line\nline\r\x00\x0b\x85\u2028"))
def test_an_independent_parser_reads_our_literals_alike(literal: Literal) -> None:
    """Oxigraph reads one object with the same value, language and datatype."""
    [quad] = pyoxigraph.parse(
        f"<http://ex.org/s> <http://ex.org/p> {literal.n3()} .", format=pyoxigraph.RdfFormat.N_TRIPLES
    )
    assert quad.object.value == literal.value
    assert (quad.object.language or "") == literal.language
    if literal.datatype:
        assert quad.object.datatype.value == literal.datatype


@given(VALID_TEXT)
@example('x" . } INSERT DATA { <a:a> <a:b> "y')
@example("\\\\u0022")
def test_a_literal_stays_one_value_in_a_query(value: str) -> None:
    """A SPARQL engine gets back exactly the value that was written into the query."""
    assert values(Literal(value)) == [value]


@given(IRIS)
def test_a_queryable_iri_stays_one_iri_in_a_query(iri: Iri) -> None:
    """A SPARQL engine gets back exactly the IRI that was written into the query."""
    assert values(iri) == [iri.value]


@given(ANY_TEXT | SURROGATES)
@example("http://ex.org/> . <x")
def test_nothing_breaks_out_of_a_term(text: str) -> None:
    """What n3() gives has no end inside: no raw `>` in an IRI, no bare quote or line break in a literal."""
    for term in (
        Iri(f"http://ex.org/{text}"),
        Literal(text),
        Literal(text, language=text),
        Literal(text, datatype=text),
    ):
        if term.queryable:
            assert re.fullmatch(
                r'<[^<>"{}|^`\\\x00-\x20]*>|"([^"\\\n\r]|\\.)*"(@[A-Za-z0-9-]+|\^\^<[^<>"\x00-\x20]+>)?', term.n3()
            )


@pytest.mark.parametrize(
    "text",
    ["", "Q42", "no scheme", "http://a b", "http://a>b", 'http://a"b', "http://a\\b", "http://a\x85b", "<http://a"[:1]],
)
def test_iri_parse_rejects(text: str) -> None:
    """Text that is no absolute IRI, or holds a character that no IRI may hold, is a TermError."""
    with pytest.raises(TermError, match="not an IRI"):
        Iri.parse(text)


@pytest.mark.parametrize("text", ["http://ex.org/a", " <http://ex.org/a> ", "<http://ex.org/a>"])
def test_iri_parse_takes_what_people_write(text: str) -> None:
    """Angle brackets and spaces around an IRI do not matter."""
    assert Iri.parse(text) == Iri("http://ex.org/a")


@pytest.mark.parametrize(
    "text", ["", "<>", "_:", "plain", '"open', '"a"b"', '"a"@', '"a"^^<>', '"\\x"', '"\\uD"', '"\\UFFFFFFFF"']
)
def test_parse_term_rejects(text: str) -> None:
    """Text that no term is written as is a TermError."""
    with pytest.raises(TermError):
        parse_term(text)


@pytest.mark.parametrize(
    "term",
    [
        Iri("Q42"),
        Iri("http://ex.org/a b"),
        Iri("http://ex.org/\ud800"),
        Literal("x", language="en us"),
        Literal("x", datatype="not an iri"),
        Literal("half a \ud83d character"),
        Blank("b0"),
    ],
)
def test_unqueryable_terms_refuse(term: Iri | Literal | Blank) -> None:
    """A malformed term, and any blank node, exists but never enters a query."""
    assert not term.queryable
    with pytest.raises(TermError, match="cannot be written"):
        term.n3()


def test_plain_strings_have_no_datatype() -> None:
    """xsd:string says nothing, a language wins over a datatype, and its case does not matter."""
    assert Literal("a", datatype="http://www.w3.org/2001/XMLSchema#string") == Literal("a")
    assert Literal("a", datatype="http://ex.org/t", language="EN") == Literal("a", language="en")


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://ex.org/place_of_birth", "place of birth"),
        ("http://rdf.freebase.com/ns/people.person.parents", "people person parents"),
        ("http://ex.org/ns#label", "label"),
        ("http://ex.org/dir/", "dir"),
        ("urn:isbn:1", "1"),
    ],
)
def test_local_name(iri: str, name: str) -> None:
    """The label of last resort is the IRI's end in words."""
    assert Iri(iri).local_name == name


@pytest.mark.parametrize(
    ("term", "name"),
    [
        (Iri("http://ex.org/ns#birthPlace"), "birthPlace"),
        (Literal("1990-01-01T00:00:00Z", datatype="http://www.w3.org/2001/XMLSchema#dateTime"), "1990-01-01"),
        (Literal("+12", datatype="http://www.w3.org/2001/XMLSchema#decimal"), "12"),
        (Literal("+12"), "+12"),
        (Literal("Wien", language="de"), "Wien"),
        (Blank("b0"), "_:b0"),
        (UNKNOWN, "unknown value"),
    ],
)
def test_own_name(term: Iri | Literal | Blank, name: str) -> None:
    """A term without a label is called what a person would read in it."""
    assert own_name(term) == name


def test_equality_is_by_text() -> None:
    """Terms of different kinds are never equal; equal ones hash alike."""
    assert Iri("http://ex.org/a") != Literal("http://ex.org/a")
    assert len({Iri("http://ex.org/a"), Iri("http://ex.org/a"), Literal("a")}) == 2
    assert Iri("http://ex.org/a") != "<http://ex.org/a>"


def test_directed_relations_sort_with_and_without_a_mediator() -> None:
    """Relations sort by IRI, direction and mediator; those without one come first."""
    q = Iri("http://ex.org/q")
    ordered = [
        DirectedRelation(P, "in"),
        DirectedRelation(P, "out"),
        DirectedRelation(P, "out", q),
        DirectedRelation(q, "in"),
    ]
    assert sorted(ordered[place] for place in (3, 1, 0, 2)) == ordered
    assert ordered[2].inverse == DirectedRelation(P, "in", q)
    assert ordered[2].inverse.inverse == ordered[2]


def test_edge_knows_how_it_was_walked() -> None:
    """Start and end swap with the direction; a collapsed mediator's second leg is part of the walked relation."""
    a, b, leg = Iri("http://ex.org/a"), Literal("b"), Iri("http://ex.org/leg")
    through = Through(Blank("m"), leg)
    out = Edge(a, P, b, "out", "e", through=through, qualifiers=(Qualifier(P, Literal("1990")),))
    back = Edge(a, P, b, "in", "e")
    assert (out.start, out.end, out.walked) == (a, b, DirectedRelation(P, "out", leg))
    assert (back.start, back.end, back.walked) == (b, a, DirectedRelation(P, "in"))


def test_an_identifier_is_walked_as_what_it_stands_for() -> None:
    """From the entity to the copy, and from the copy back; the literal is still what the endpoint said."""
    a, copy, text = Iri("http://ex.org/a"), Iri("http://ex.org/copy"), Literal("7")
    out, back = (Edge(a, P, text, way, "e", identifies=copy) for way in ("out", "in"))
    assert (out.start, out.end) == (a, copy)
    assert (back.start, back.end) == (copy, a)
    assert set(out.terms) == {a, P, text, copy}


def test_an_edge_of_a_copy_starts_where_the_link_does() -> None:
    """As a walk it is two edges, the link first; its terms are those of both."""
    a, copy, b, q = (Iri(f"http://ex.org/{name}") for name in ("a", "copy", "b", "q"))
    link = Edge(copy, P, a, "in", "one")
    edge = Edge(copy, q, b, "out", "two", same=link)
    first, second = edge.walk
    assert (edge.start, edge.end) == (a, b)
    assert (first, second) == (link, Edge(copy, q, b, "out", "two"))
    assert first.end == second.start
    assert set(edge.terms) == {a, copy, b, P, q}
    assert link.walk == (link,)


def test_freebase_relations_are_ranked_by_their_whole_name() -> None:
    """Where the label only repeats the end of the IRI, domain and type count too; Wikidata's labels stay."""
    born, wikidata = Iri("http://rdf.freebase.com/ns/people.person.place_of_birth"), Iri("http://w/P19")
    labels: dict[Term, str] = {born: "place of birth", wikidata: "place of birth"}
    assert relation_text(DirectedRelation(born, "out"), labels) == "people person place of birth"
    assert relation_text(DirectedRelation(wikidata, "out"), labels) == "place of birth"


def test_a_collapsed_relation_is_named_by_both_legs() -> None:
    """A mediator's two predicates make one name; without labels, the local names do."""
    relation = DirectedRelation(Iri("http://x/spouse_s"), "out", Iri("http://x/from"))
    assert relation_name(relation, {}) == "spouse s from"


def test_domain_and_type_of_a_relation() -> None:
    """Freebase's names say them, with a mediator's second leg behind two dots; others have none."""
    film, part = (Iri(f"http://rdf.freebase.com/ns/{name}") for name in ("film.actor.film", "film.performance.film"))
    assert typed_name(DirectedRelation(film, "out", part)) == "film.actor.film..film.performance.film"
    assert typed_name(DirectedRelation(film, "in")) == "film.actor.film"
    assert typed_name(DirectedRelation(Iri("http://www.wikidata.org/prop/direct/P31"), "out")) == ""
    assert typed_name(DirectedRelation(Iri("http://e.org/a.b"), "out")) == ""
