"""Names that are written otherwise than the graph writes them."""

from collections.abc import Callable

import pytest

from fedkg.core.question import Match
from fedkg.core.terms import Iri
from fedkg.engine.mentions import ALIAS
from fedkg.engine.spelled import spelled, word_alone
from fedkg.graph.endpoint import SparqlGraph

GRAPH = """
:akhmatova rdfs:label "Anna Akhmatova"@en . :dvorak rdfs:label "Antonin Dvorak"@en . :unep rdfs:label "UNEP"@en .
:alien rdfs:label "Alien 3"@en . :ann rdfs:label "Ann Hathaway"@en . :anne rdfs:label "Anne Hathaway"@en .
:bern rdfs:label "Bern"@en .
"""


@pytest.fixture
def graph(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Some names."""
    return make_graph(GRAPH)


@pytest.mark.parametrize(
    ("name", "iri", "mention"),
    [
        ("Anna Akmatova", "akhmatova", "Anna Akmatova"),
        ("anna akhmatowa", "akhmatova", "anna akhmatowa"),
        ("anna akmatova husband", "akhmatova", "anna akmatova"),
        ("antonin dvorack birth place", "dvorak", "antonin dvorack"),
        ("alienn 3", "alien", "alienn 3"),
        ("unep", "unep", "unep"),
    ],
)
async def test_a_name_with_a_letter_wrong_is_found(graph: SparqlGraph, name: str, iri: str, mention: str) -> None:
    """Also where words behind it, in small letters, say what is asked; initials in small letters are no error."""
    match = await spelled(graph, name)
    assert match is not None
    assert (match.iri.value, match.mention) == (f"http://x/{iri}", mention)
    assert (match.score >= ALIAS) == (iri == "unep")


@pytest.mark.parametrize(
    "name",
    [
        "Anna Karenina",  # one word alone is alike
        "Anna Akmatova Husband",  # all of it is written as a name
        "alien 4",  # another figure
        "anna hathaway",  # two are called almost so
        "brn",  # too short for an error
        "bonn",
        "dvorak anna",
    ],
)
async def test_another_name_is_not_found(graph: SparqlGraph, name: str) -> None:
    """Nor one that may be either of two."""
    match = await spelled(graph, name)
    assert match is None


def test_a_misspelled_word_that_asks_for_something_is_no_name() -> None:
    """A name is one, and so is a word that is written as its label is."""
    match = Match(Iri("http://x/l"), "language", 0.7)
    assert word_alone(match)
    assert not word_alone(Match(Iri("http://x/l"), "language", 1.0))
    assert not word_alone(Match(Iri("http://x/l"), "Languedoc", 0.7))
