"""Look-ups by words as query text: what enters an engine's own search language, and that the rest is SPARQL."""

import re

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config import profiles
from fedkg.config.profiles import Labels
from fedkg.core.terms import Iri
from fedkg.errors import InputError
from fedkg.sparql import text_search as queries
from fedkg.sparql.text_search import by_words, words

LABELS = profiles.find("generic").shape.labels
KINDS = ["bif", "qlever", "mwapi"]


def asked(kind: str, text: str) -> str:
    """The query of that look-up."""
    return by_words(kind, text, LABELS, ("en",), 50)


def expression(query: str) -> str:
    """The search expression inside the query."""
    match = re.search(r"(?:bif:contains|contains-word)> \"([^\"]*)\"", query)
    assert match, query
    return match[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Museum of Modern Art", ["museum", "modern", "art"]),
        ("Alzheimer's disease", ["alzheimer", "disease"]),
        ("  R2-D2 ", ["r2", "d2"]),
        ("Sa\u0303o Paulo", ["são", "paulo"]),
        ("東京 大", ["東京", "大"]),
        ("snake_case \ud800", ["snake", "case"]),
        ("New York, New York", ["new", "york"]),
        ("The Who", []),
        ("C#", []),
        ("x" * 41, []),
    ],
)
def test_words_are_letters_and_digits(text: str, expected: list[str]) -> None:
    """Each once, lower case, composed; small words, single letters and what is no word are left out."""
    assert words(text) == expected


def test_long_words_stand_for_their_beginnings() -> None:
    """Three quarters of a word, never less than four letters; ideographs count otherwise and stay as they are."""
    assert (
        expression(asked("bif", "universities york new 東京大学"))
        == "'universit*' AND 'york*' AND 'new' AND '東京大学'"
    )
    assert expression(asked("qlever", "universities york new")) == "universit* york* new"


@given(st.text(max_size=120))
def test_nothing_of_a_text_is_an_operator(text: str) -> None:
    """Whatever is looked up, an expression holds quoted words, their stars and our own ANDs: SPARQL stays SPARQL."""
    if not words(text):
        with pytest.raises(InputError):
            asked("bif", text)
        return
    assert re.fullmatch(r"'[^\W_]+\*?'( AND '[^\W_]+\*?'){0,7}", expression(asked("bif", text)))
    assert re.fullmatch(r"[^\W_]+\*?( [^\W_]+\*?){0,7}", expression(asked("qlever", text)))
    pyoxigraph.Store().query(asked("bif", text))
    pyoxigraph.Store().query(asked("qlever", text))


@pytest.mark.parametrize("text", ['x" . } DROP ALL #', "it's \\ 'over", "line\nbreak"])
def test_wikidata_s_search_gets_the_text_itself(text: str) -> None:
    """As one literal: the query keeps its shape."""
    plain, hostile = asked("mwapi", "text"), asked("mwapi", text)
    pattern = re.escape(plain).replace('"text"', r'"(?:[^"\\]|\\.)*"')
    assert re.fullmatch(pattern, hostile)


def test_one_full_text_search_and_no_union() -> None:
    """Virtuoso takes it once, behind a triple pattern, whatever the number of predicates."""
    query = asked("bif", "museum")
    assert (query.count("bif:contains"), "UNION" in query) == (1, False)
    assert query.index("?e ?p ?l") < query.index("bif:contains")
    assert all(f"<{predicate}>" in query for predicate in (*LABELS.predicates, *LABELS.aliases))


def test_an_engine_without_a_search_is_not_asked() -> None:
    """So for a text that no look-up can take."""
    for kind in ("", "none", "wikidata"):
        with pytest.raises(InputError, match="no search"):
            asked(kind, "museum")
    for kind in KINDS:
        with pytest.raises(InputError, match="no words"):
            asked(kind, "museum " * 40)


def test_what_entities_are() -> None:
    """Descriptions and the labels of types, in the wanted languages, as rows that tell one from the other."""
    store = pyoxigraph.Store()
    store.load(
        input=b"""
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://x/> .
        :a :about "a thing"@en, "ein Ding"@de ; :is :kind . :kind rdfs:label "kind"@en, "Art"@de . :b :is :nameless .
        """,
        format=pyoxigraph.RdfFormat.TURTLE,
    )
    shape = Labels(description="http://x/about", type="http://x/is")
    query = queries.about([Iri("http://x/a"), Iri("http://x/b")], shape, ("en",), 100)
    solutions = store.query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    rows = [{name.value: row[name].value for name in solutions.variables if row[name]} for row in solutions]
    assert sorted(rows, key=len) == [
        {"e": "http://x/a", "d": "a thing"},
        {"e": "http://x/a", "t": "http://x/kind", "l0": "kind"},
    ]
