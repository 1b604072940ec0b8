"""Operations as queries, on a small real graph."""

from typing import Any

import pyoxigraph
import pytest

from fedkg.core.operation import Computation, Condition, Deciding, SetChain
from fedkg.core.terms import DirectedRelation, Literal
from fedkg.sparql.operation_query import operation_query
from fedkg.sparql.query_writer import QueryWriter
from tests.sparql.test_query_writer import n

INTEGER, DATE = "http://www.w3.org/2001/XMLSchema#integer", "http://www.w3.org/2001/XMLSchema#date"
GRAPH = f"""
<http://x/ann> <http://x/film> <http://x/one> .
<http://x/ann> <http://x/film> <http://x/two> .
<http://x/ann> <http://x/film> <http://x/six> .
<http://x/bob> <http://x/film> <http://x/two> .
<http://x/one> <http://x/length> "90"^^<{INTEGER}> .
<http://x/two> <http://x/length> "120"^^<{INTEGER}> .
<http://x/six> <http://x/length> "120"^^<{INTEGER}> .
<http://x/two> <http://x/length> "110"^^<{INTEGER}> .
<http://x/mid> <http://x/length> "115"^^<{INTEGER}> .
<http://x/one> <http://x/date> "1990-05-01"^^<{DATE}> .
<http://x/two> <http://x/date> "1994-01-01"^^<{DATE}> .
<http://x/one> <http://x/genre> <http://x/war> .
<http://x/two> <http://x/genre> <http://x/war> .
<http://x/six> <http://x/genre> <http://x/love> .
"""
LENGTH, BORN = DirectedRelation(n("length"), "out"), DirectedRelation(n("date"), "out")
GENRE = DirectedRelation(n("genre"), "out")
DATED = (Deciding(n("one"), Literal("1990-05-01", DATE), 0),)
SEVERAL = tuple(Deciding(n("two"), Literal(length, INTEGER), 0) for length in ("120", "110"))


def films(name: str) -> tuple[SetChain, ...]:
    """The films of someone, as a set."""
    return (SetChain(n(name), (DirectedRelation(n("film"), "out"),)),)


def dated(name: str) -> tuple[SetChain, ...]:
    """The date of a film, as a set of one."""
    return (SetChain(n(name), (BORN,)),)


def itself(name: str) -> tuple[SetChain, ...]:
    """A film itself, as a set of one."""
    return (SetChain(n(name), ()),)


def returned(computation: Computation) -> set[str] | bool:
    """What an engine returns: the values of the only column, or the verdict."""
    store = pyoxigraph.Store()
    store.load(GRAPH.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    result: Any = store.query(operation_query(computation, QueryWriter({})))
    if isinstance(result, pyoxigraph.QueryBoolean):
        return bool(result)
    return {str(row[0].value).rpartition("/")[2] for row in result}


@pytest.mark.parametrize(
    ("computation", "expected"),
    [
        (Computation("count", (films("ann"),)), {"3"}),
        (Computation("ends", (films("ann"), films("bob")), "intersect"), {"two"}),
        (Computation("ends", (films("ann"), films("bob")), "difference"), {"one", "six"}),
        (Computation("ends", (films("ann"), films("bob"))), {"one", "two", "six"}),
        (Computation("extreme", (films("ann"),), by=LENGTH), {"two", "six"}),
        (Computation("extreme", (films("ann"),), by=LENGTH, rank=2), {"one"}),
        (Computation("extreme", (films("ann"),), by=LENGTH, most=False), {"one"}),
        (Computation("extreme", (films("ann"),), by=BORN, most=False, deciding=DATED), {"one"}),
        (Computation("group", (films("ann"),), by=GENRE), {"war"}),
        (Computation("group", (films("ann"),), by=GENRE, most=False), {"love"}),
        (Computation("ends", (films("ann"),), filters=(Condition("more", ("100",), LENGTH),)), {"two", "six"}),
        (Computation("count", (films("ann"),), filters=(Condition("after", ("1990",), BORN),)), {"1"}),
        (Computation("ends", (films("ann"),), filters=(Condition("between", ("1990", "1993"), BORN),)), {"one"}),
        (Computation("compare", (dated("one"), dated("two")), deciding=DATED), {"two"}),
        (Computation("compare", (dated("one"), dated("two")), most=False, deciding=DATED), {"one"}),
        (Computation("compare", (itself("one"), itself("two")), by=BORN, most=False, deciding=DATED), {"one"}),
        (Computation("compare", (itself("one"), itself("six")), by=LENGTH), {"six"}),
        (Computation("compare", (itself("two"), itself("mid")), by=LENGTH, deciding=SEVERAL), {"two"}),
        (Computation("compare", (itself("mid"), itself("two")), by=LENGTH, most=False, deciding=SEVERAL), {"two"}),
        (Computation("compare", (itself("mid"), itself("two")), by=LENGTH, form="whether", deciding=SEVERAL), False),
        (Computation("ends", (itself("one"), itself("two")), filters=(Condition("less", ("100",), LENGTH),)), {"one"}),
        (Computation("compare", (dated("one"), dated("two")), form="difference", deciding=DATED), {"4"}),
        (Computation("compare", (dated("one"), dated("two")), form="whether", most=False, deciding=DATED), True),
        (Computation("compare", (dated("one"), dated("two")), form="whether", deciding=DATED), False),
    ],
)
def test_an_operation_is_computed_at_the_endpoint(computation: Computation, expected: set[str] | bool) -> None:
    """Counts, combinations, extremes with their ties, groups, conditions and comparisons."""
    assert returned(computation) == expected
