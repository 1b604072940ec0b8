"""What the gold of a question is in a graph: entities by name, facts by their words."""

from pathlib import Path

import pytest

from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.bench.run.gold_table import gold_table, means
from fedkg.core.terms import Iri, Literal
from fedkg.session import Session

WDT, WD = "http://www.wikidata.org/prop/direct/", "http://www.wikidata.org/entity/"
TOWNS = f"""
<{WD}Q1> <http://www.w3.org/2000/01/rdf-schema#label> "Horsens"@en .
<{WD}Q2> <http://www.w3.org/2000/01/rdf-schema#label> "Danish language"@en .
<{WD}Q3> <http://www.w3.org/2000/01/rdf-schema#label> "Horsens"@en .
<{WD}P1> <http://wikiba.se/ontology#directClaim> <{WDT}P1> .
<{WD}P1> <http://www.w3.org/2000/01/rdf-schema#label> "population"@en .
<{WD}Q1> <{WDT}P1> "59449"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<{WD}Q1> <{WDT}P2> <{WD}Q2> .
<{WD}Q1> <http://schema.org/description> "town in Denmark"@en .
"""


async def test_answers_and_facts_of_a_graph(tmp_path: Path) -> None:
    """All entities of a name are meant; a fact by relation and value, else by one of them; descriptions are facts."""
    file = tmp_path / "towns.nt"
    file.write_text(TOWNS)
    facts = (
        ("Horsens", "population", "59,449 people"),
        ("Horsens", "description", "town in Denmark"),
        ("Horsens", "speaks", "Danish Language"),
        ("Ikast", "population", "15,979"),
    )
    answers = (Gold("Horsens"), Gold("Danish Language"), Gold("Nowhere"), Gold("x", "http://x/given"))
    question = BenchmarkQuestion("1", "?", answers=answers, gold_facts=facts)
    async with Session(f"crlt@{file}", cache=False) as session:
        table = await gold_table(question, await session.graph())
    assert [gold.entities for gold in table.answers] == [(f"{WD}Q1", f"{WD}Q3"), (f"{WD}Q2",), (), ()]
    relations = [{fact[1].value for fact in facts} for facts in table.facts]
    assert relations == [{f"{WDT}P1"}, {"http://schema.org/description"}, {f"{WDT}P2"}]
    assert table.names == {f"{WD}Q1", f"{WD}Q3", f"{WD}Q2", "Nowhere", "http://x/given"}


@pytest.mark.parametrize(
    ("worded", "value", "meant"),
    [
        ("27 September 1928", "1928-09-27T00:00:00Z", True),
        ("1928", "1928-01-01T00:00:00Z", True),
        ("27 September 1928", "1928-09-28", False),
        ("13,012 hectare", "13012", True),
        ("13,012 hectare", "13013", False),
        ("hectare", "13012", False),
        ("A name", "a name", True),
    ],
)
def test_words_mean_a_value(worded: str, value: str, *, meant: bool) -> None:
    """Dates in words, numbers with a unit, and names however they are written."""
    assert means(worded, Literal(value), value) is meant


def test_a_name_means_an_entity_by_its_label() -> None:
    """Nothing else of it is looked at."""
    assert means("The Town", Iri("http://x/1"), "town")
    assert not means("7", Iri("http://x/7"), "town")
