"""Gold chains from what a set states: an operation, or a query with one fact."""

import pytest

from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_operations import GoldFilter, GoldOperation, GoldSet
from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.bench.data.stated_chains import stated
from fedkg.core.terms import Iri
from fedkg.reasoner.gold_chain import GoldBound, GoldChain, GoldSlots

E, P = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"


@pytest.fixture
def facts() -> Facts:
    """Labels of two entities and two properties."""
    known = Facts()
    for name, label in (("Q1", "Ann"), ("Q2", "Bob"), ("P5", "born"), ("P6", "member of")):
        known.name(Iri(E + name), label, label=True)
    known.name(Iri(f"{E}Q1"), "Annie")
    return known


def test_one_fact_is_a_chain(facts: Facts) -> None:
    """From the topic by any of its names; a verdict where that is asked."""
    plain = BenchmarkQuestion("1", "?", answers=(Gold("1990"),))
    assert stated(plain, "SELECT ?x WHERE {wd:Q1 wdt:P5 ?x}", facts) == GoldChain(
        (("born", "out"),), ("1990",), id="1", starts=("Ann", "Annie")
    )
    asked = BenchmarkQuestion("1", "?", answers=(Gold("yes"),), kind="yesno")
    chain = stated(asked, "ASK {wd:Q1 wdt:P6 wd:Q2}", facts)
    assert (chain.steps, chain.kind, chain.verdict) == ((("member of", "out"),), "yesno", "yes")


def test_an_operation_has_a_chain_to_each_set(facts: Facts) -> None:
    """Of a comparison to the values of both."""
    operation = GoldOperation(
        (GoldSet((f"{E}Q1",)), GoldSet((f"{E}Q2",))), result="compare", by=(f"{P}P5",), most=False
    )
    chain = stated(BenchmarkQuestion("1", "?", operation=operation), "", facts)
    born = GoldChain((("born", "out"),), (), starts=("Ann", "Annie"))
    assert chain.operation == GoldSlots((born, born._replace(starts=("Bob",))), "compare", most=False)


def test_filters_are_named(facts: Facts) -> None:
    """And the ends that they are about are walked to."""
    operation = GoldOperation(
        (GoldSet((f"{E}Q2",), (f"^{P}P6",)),), filters=(GoldFilter((f"{P}P5",), "after", ("1990",)),), result="count"
    )
    chain = stated(BenchmarkQuestion("1", "?", operation=operation), "", facts)
    assert (chain.steps, chain.kind) == ((("member of", "in"),), "count")
    assert chain.operation is not None
    assert chain.operation.filters == (GoldBound(("born", "out"), "after", ("1990",)),)


def test_where_nothing_is_stated_nothing_is_proven(facts: Facts) -> None:
    """An empty chain."""
    assert not stated(BenchmarkQuestion("1", "?"), "", facts).proven
