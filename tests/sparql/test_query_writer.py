"""Chains of relations as patterns of a query."""

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import DirectedRelation, Iri, Term
from fedkg.errors import TermError
from fedkg.sparql.query_writer import ANSWERS, QueryChain, QueryStep, QueryWriter, Way

GRAPH = """
<http://x/ann> <http://x/child> <http://x/ben> .
<http://x/ann> <http://x/child> <http://x/eve> .
<http://x/zoe> <http://x/parent> <http://x/ben> .
<http://x/ben> <http://x/job> _:m .
_:m <http://x/at> <http://x/mill> .
<http://x/eve> <http://x/same> <http://x/eva> .
<http://x/eva> <http://x/job> <http://x/smith> .
"""


def n(name: str) -> Iri:
    """A node or relation."""
    return Iri(f"http://x/{name}")


def step(*names: str, back: bool = False, ahead: bool = True) -> QueryStep:
    """A step over any of these relations: ^ before one walked backwards, / before a second leg."""
    return QueryStep(tuple(Way(relation(name), "") for name in names), back, ahead)


def relation(name: str) -> DirectedRelation:
    """The relation of that name."""
    first, _, second = name.removeprefix("^").partition("/")
    return DirectedRelation(n(first), "in" if name.startswith("^") else "out", n(second) if second else None)


def rows(query: str, graph: str = GRAPH) -> set[str]:
    """What an engine returns for the query, by the last part of each IRI."""
    store = pyoxigraph.Store()
    store.load(graph.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    solutions = store.query(query)
    assert isinstance(solutions, pyoxigraph.QuerySolutions)
    return {str(row["answer"]).strip("<>").rpartition("/")[2] for row in solutions}


def ends(*steps: QueryStep, writer: QueryWriter | None = None) -> set[str]:
    """The ends of the steps from Ann."""
    writer = writer or QueryWriter({})
    return rows(writer.whole(ANSWERS, writer.chain(QueryChain(n("ann"), steps))))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((step("child"),), {"ben", "eve"}),
        ((step("child"), step("^parent")), {"zoe"}),
        ((step("child"), step("job/at")), {"mill"}),
        ((step("child"), step("job", "^parent", back=True)), {"zoe"}),
    ],
)
def test_a_chain_leads_to_its_ends(steps: tuple[QueryStep, ...], expected: set[str]) -> None:
    """Over relations against their direction, over mediators, and over any of several ways."""
    assert {end for end in ends(*steps) if not end.startswith("_")} >= expected


def test_a_walk_does_not_go_back_unless_it_did() -> None:
    """A brother is no brother of himself."""
    siblings = (step("child"), step("^child"), step("child"))
    assert ends(*siblings) == set()
    assert ends(step("child"), step("^child", back=True)) == {"ann"}


def test_a_walk_that_only_went_back_leads_nowhere_else() -> None:
    """Of both parents of Ben it is Ann."""
    both = "<http://x/zoe> <http://x/child> <http://x/ben> ." + GRAPH
    returned = {}
    for back, ahead in ((False, True), (True, False), (True, True)):
        writer = QueryWriter({})
        chain = QueryChain(n("ann"), (step("child"), step("^child", back=back, ahead=ahead)))
        returned[back, ahead] = rows(writer.whole(ANSWERS, writer.chain(chain)), both)
    assert returned == {(False, True): {"zoe"}, (True, False): {"ann"}, (True, True): {"ann", "zoe"}}


def test_a_mediator_does_not_lead_back_to_who_has_it() -> None:
    """A marriage has two spouses, and nobody is married to himself."""
    spouses = "".join(f"_:m <http://x/who> <http://x/{name}> .\n" for name in ("ann", "bob"))
    marriage = f"<http://x/ann> <http://x/wed> _:m .\n{spouses}"
    writer = QueryWriter({})
    assert rows(writer.whole(ANSWERS, writer.chain(QueryChain(n("ann"), (step("wed/who"),)))), marriage) == {"bob"}


def test_a_link_to_a_copy_is_crossed() -> None:
    """The job stands with the copy."""
    over = QueryStep((Way(relation("job"), "", relation("same")),))
    assert ends(step("child"), over) == {"smith"}


def test_another_endpoint_is_asked_in_a_service_clause() -> None:
    """What is walked at the endpoint that is asked stands without one; no URL is no query."""
    writer = QueryWriter({}, "here", {"there": "http://there.example/sparql"})
    steps = QueryStep((Way(relation("child"), "here"),)), QueryStep((Way(relation("job"), "there"),))
    lines = writer.chain(QueryChain(n("ann"), steps))
    assert "SERVICE <http://there.example/sparql> { ?x1 <http://x/job> ?answer . }" in lines[1]
    assert "SERVICE" not in lines[0]
    with pytest.raises(KeyError):
        QueryWriter({}, "here").chain(QueryChain(n("ann"), steps))


def test_known_namespaces_are_shortened() -> None:
    """Only what can stand as a local name without being escaped."""
    writer = QueryWriter({})
    assert writer.term(Iri("http://www.wikidata.org/entity/Q42")) == "wd:Q42"
    assert writer.term(Iri("http://www.wikidata.org/entity/Q4.2")) == "<http://www.wikidata.org/entity/Q4.2>"
    assert writer.whole("ASK", []).startswith("PREFIX wd: <http://www.wikidata.org/entity/>\nASK {")


@given(st.text())
def test_a_label_is_never_more_than_a_comment(label: str) -> None:
    """Whatever a label holds, the query returns what it returns without labels."""
    names: dict[Term, str] = {n("ann"): label, n("child"): label}
    assert ends(step("child"), writer=QueryWriter(names)) == {"ben", "eve"}


@pytest.mark.parametrize("text", ["http://x/a> } ; DROP", "http://x/a b", 'http://x/"'])
def test_what_no_query_can_carry_is_refused(text: str) -> None:
    """A term is written whole or not at all."""
    with pytest.raises(TermError):
        QueryWriter({}).term(Iri(text))


def test_a_comment_has_no_codes_of_characters() -> None:
    """An engine that reads codes before anything else would see the comment end in its midst."""
    assert QueryWriter({}).comment("a \\u000A} DROP") == "  # a /u000A} DROP"
