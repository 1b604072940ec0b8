"""What questions of ComplexWebQuestions ask to be computed."""

from fedkg.bench.data.composed_operations import composed_operation
from fedkg.bench.data.gold_operations import GoldFilter, GoldOperation, GoldSet

NS = "http://rdf.freebase.com/ns/"
HEAD = "PREFIX ns: <http://rdf.freebase.com/ns/> SELECT DISTINCT ?x WHERE { "
BROTHERS = "ns:m.jfk ns:person.sibling_s ?y . ?y ns:sibling.sibling ?x . "
NAMES = "?x ns:person.gender ns:m.male . "
FROM = "?x ns:politician.positions_held ?c . ?c ns:position_held.from ?num . "
SETS = (
    GoldSet((f"{NS}m.male",), (f"^{NS}person.gender",)),
    GoldSet((f"{NS}m.jfk",), (f"{NS}person.sibling_s..sibling.sibling",)),
)
BY = (f"{NS}politician.positions_held", f"{NS}position_held.from")


def test_a_conjunction_is_an_intersection() -> None:
    """Of the ends of each condition; what one path answers is no operation."""
    assert composed_operation("conjunction", f"{HEAD}{BROTHERS}{NAMES}}}") == GoldOperation(SETS, "intersect")
    assert composed_operation("conjunction", f"{HEAD}{BROTHERS}}}") is None
    assert composed_operation("composition", f"{HEAD}{BROTHERS}{NAMES}}}") is None
    assert composed_operation("conjunction", "") is None


def test_a_comparative_is_a_filter() -> None:
    """By the value, over a mediator."""
    query = f'{HEAD}{BROTHERS}{NAMES}{FROM}FILTER (?num < "1962-11-06"^^xsd:dateTime) . }}'
    stated = composed_operation("comparative", query)
    assert stated == GoldOperation(SETS, "intersect", (GoldFilter(BY, "less", ("1962-11-06",)),))


def test_a_superlative_is_an_extreme() -> None:
    """The first of an order, of which the direction tells which."""
    latest = composed_operation("superlative", f"{HEAD}{BROTHERS}{NAMES}{FROM}}} ORDER BY DESC(?num) LIMIT 1")
    assert latest == GoldOperation(SETS, "intersect", result="extreme", by=BY)
    earliest = composed_operation("superlative", f"{HEAD}{BROTHERS}{FROM}}} ORDER BY ?num LIMIT 1")
    assert earliest == GoldOperation(SETS[1:], result="extreme", by=BY, most=False)
