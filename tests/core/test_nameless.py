"""Entities without a name: neither a label nor an IRI that can be read."""

import pytest

from fedkg.core.nameless import nameless
from fedkg.core.terms import UNKNOWN, Iri, Literal


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("http://rdf.freebase.com/ns/m.08mbj5d", True),
        ("http://rdf.freebase.com/ns/en.ada_lovelace", False),
        ("http://www.wikidata.org/entity/Q42", True),
        ("http://x/U2", False),
        ("http://dbpedia.org/resource/Ada_Lovelace", False),
        ("http://dbpedia.org/resource/1984", False),
        ("http://x/compound/DB00945", False),
        ("urn:uuid:123e4567-e89b-12d3-a456-426614174000", True),
        ("http://purl.uniprot.org/taxonomy/559292", True),
        ("http://example.org/.well-known/genid/f00", True),
    ],
)
def test_iris_that_say_nothing(iri: str, *, expected: bool) -> None:
    """Without a label an identifier is no name; with one, nothing is nameless."""
    term = Iri(iri)
    assert nameless(term, {}) == nameless(term, {term: term.local_name}) == expected
    assert not nameless(term, {term: "Ada"})


def test_literals_and_unknown_values_are_named() -> None:
    """A literal is its own name, and "unknown value" is what a graph may answer."""
    assert not nameless(Literal("559292"), {})
    assert not nameless(UNKNOWN, {})
