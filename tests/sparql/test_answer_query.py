"""The query of an answer, on a small real graph."""

import pyoxigraph

from fedkg.core.terms import Term
from fedkg.sparql.answer_query import Check, answer_query
from fedkg.sparql.query_writer import QueryChain, QueryStep, QueryWriter
from tests.sparql.test_query_writer import GRAPH, n, rows, step

FILMS = """
<http://x/ann> <http://x/film> <http://x/one> .
<http://x/ann> <http://x/film> <http://x/two> .
<http://x/bob> <http://x/film> <http://x/two> .
<http://x/one> <http://x/genre> <http://x/war> .
"""


def chain(name: str, *steps: QueryStep) -> QueryChain:
    """A chain from the node of that name."""
    return QueryChain(n(name), steps)


def answers(*alternatives: list[QueryChain], picked: tuple[Term, ...] = (), checks: tuple[Check, ...] = ()) -> set[str]:
    """What the query returns."""
    return rows(answer_query(alternatives, QueryWriter({}), picked=picked, checks=checks), FILMS)


def test_alternatives_are_united_and_chains_are_joined() -> None:
    """Films of either, and films of both."""
    ann, bob = chain("ann", step("film")), chain("bob", step("film"))
    assert answers([ann], [bob]) == {"one", "two"}
    assert answers([ann, bob]) == {"two"}


def test_answers_that_were_picked_are_named() -> None:
    """The others are left out."""
    assert answers([chain("ann", step("film"))], picked=(n("one"),)) == {"one"}


def test_a_check_is_a_condition_on_the_answers() -> None:
    """A war film."""
    assert answers([chain("ann", step("film"))], checks=(Check(step("genre"), (n("war"),)),)) == {"one"}


def test_a_count_is_one_row() -> None:
    """Of distinct ends."""
    query = answer_query([[chain("ann", step("child"))]], QueryWriter({}), count=True)
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    solutions = store.query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    assert [row["count"].value for row in solutions] == ["2"]
