"""The one fact of a published query."""

import pytest

from fedkg.bench.data.gold_queries import GoldFact, gold_fact
from fedkg.core.terms import DirectedRelation, Direction, Iri

E, P = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"


def fact(topic: str, relation: str, direction: Direction, value: str = "") -> GoldFact:
    """A fact by local names."""
    return GoldFact(Iri(E + topic), DirectedRelation(Iri(P + relation), direction), Iri(E + value) if value else None)


@pytest.mark.parametrize(
    ("query", "known"),
    [
        ("SELECT DISTINCT ?r WHERE {wd:Q1 wdt:P5 ?r}", fact("Q1", "P5", "out")),
        ("SELECT ?r WHERE { ?r p:P5/ps:P5 wd:Q1 . }", fact("Q1", "P5", "in")),
        ("ASK {wd:Q1 wdt:P5 wd:Q2, wd:Q3}", fact("Q1", "P5", "out", "Q2")),
        ("SELECT ?r WHERE {wd:Q1 wdt:P5 ?m . ?m wdt:P6 ?r}", None),
        ("SELECT ?r WHERE {{SELECT ?r WHERE {wd:Q1 wdt:P5 ?r}}}", None),
        ("", None),
    ],
)
def test_a_query_of_one_triple_is_a_fact(query: str, known: GoldFact | None) -> None:
    """Others are none."""
    assert gold_fact(query) == known
