"""What published queries compute, as operations."""

import pytest

from eval.support.stated_operations import counted, operation
from fedkg.bench.data.gold_operations import GoldFilter, GoldOperation, GoldSet

PREFIXES = (
    "PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> "
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
)
WDT, WD = "http://www.wikidata.org/prop/direct/", "http://www.wikidata.org/entity/"
TWO = (GoldSet((f"{WD}Q1",)), GoldSet((f"{WD}Q2",)))


@pytest.mark.parametrize(
    ("query", "stated"),
    [
        (
            "SELECT (COUNT(DISTINCT ?o) AS ?r) WHERE { wd:Q1 wdt:P1 ?o }",
            GoldOperation((GoldSet((f"{WD}Q1",), (f"{WDT}P1",)),), result="count"),
        ),
        (
            'SELECT DISTINCT ?r WHERE { ?r wdt:P1 wd:Q1; wdt:P2 ?n FILTER(?n > xsd:integer("200")) }',
            GoldOperation(
                (GoldSet((f"{WD}Q1",), (f"^{WDT}P1",)),), filters=(GoldFilter((f"{WDT}P2",), "more", ("200",)),)
            ),
        ),
        (
            "SELECT DISTINCT ?r WHERE { wd:Q1 wdt:P3 ?a. wd:Q2 wdt:P3 ?b BIND(IF((?a < ?b), wd:Q1, wd:Q2) AS ?r) }",
            GoldOperation(TWO, result="compare", by=(f"{WDT}P3",), most=False),
        ),
        (
            "ASK { wd:Q1 wdt:P4 ?n FILTER(?n > 5) }",
            GoldOperation(
                TWO[:1], filters=(GoldFilter((f"{WDT}P4",), "more", ("5",)),), result="compare", form="whether"
            ),
        ),
        ("SELECT (AVG(?n) AS ?r) WHERE { wd:Q1 wdt:P1 ?n }", None),
        ("SELECT (COUNT(?x) AS ?r) WHERE { ?x wdt:P31/wdt:P279* wd:Q1 }", None),
        ("SELECT (COUNT(?x) AS ?r) WHERE { wd:Q1 wdt:P1 ?x. ?x wdt:P2 ?y }", None),
    ],
)
def test_a_query_is_an_operation_or_none(query: str, stated: GoldOperation | None) -> None:
    """Counts, filters, comparisons and verdicts; nothing where a part of the query would be lost."""
    assert operation(PREFIXES + query) == stated


def test_what_is_counted_can_be_asked_for() -> None:
    """The group of each aggregate, whole, as a query of its own; of a query without one there is none."""
    query = f"{PREFIXES}SELECT ?r WHERE {{{{SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE {{?x wdt:P1 wd:Q1}}}}}}"
    [asked] = counted(query)
    assert asked.endswith("ASK {?x wdt:P1 wd:Q1}")
    assert counted(f"{PREFIXES}SELECT ?r WHERE {{ wd:Q1 wdt:P1 ?r }}") == []
