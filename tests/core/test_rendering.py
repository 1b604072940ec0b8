import re

import pytest

from fedkg.core.answer import AnswerValue, PathEdge
from fedkg.core.rendering import closest_line, edge_line, html, text, usage_line
from fedkg.core.terms import Iri, Literal, Qualifier, Through
from fedkg.core.usage import Usage

ADA, GRACE, KNOWS = Iri("http://ex.org/ada"), Iri("http://ex.org/grace"), Iri("http://ex.org/knows")
LABELS = {ADA.text: "Ada", GRACE.text: "Grace", KNOWS.text: "knows"}
EDGE = PathEdge(ADA, KNOWS, GRACE, "out", "g.ttl", "", labels=LABELS)


def written(edge: PathEdge) -> str:
    """The line of an edge, without colours."""
    return text([edge_line(edge)])


def test_edge_in_walking_direction() -> None:
    """An edge is written from where the walk came: arrows tell which way it points."""
    back = PathEdge(ADA, KNOWS, GRACE, "in", "g.ttl", "", labels=LABELS)
    assert written(EDGE) == "Ada → knows → Grace  [g.ttl]"
    assert written(back) == "Grace ← knows ← Ada  [g.ttl]"


def test_edge_over_a_mediator_with_qualifiers() -> None:
    """Both legs of a mediator and every qualifier are shown; what has no label gets its own name."""
    since, through = Iri("http://ex.org/since"), Through(Iri("http://ex.org/m1"), Iri("http://ex.org/to_person"))
    year = Literal("1950", "http://www.w3.org/2001/XMLSchema#gYear")
    qualifiers = (Qualifier(since, year), Qualifier(since, GRACE))
    edge = PathEdge(ADA, KNOWS, GRACE, "out", "g.ttl", "", qualifiers, through, LABELS)
    assert written(edge) == "Ada → knows / to person → Grace  (since: 1950; since: Grace)  [g.ttl]"


def test_an_identifier_with_what_it_stands_for() -> None:
    """The literal is shown as the endpoint said it, and beside it the entity, in whichever direction."""
    out, back = (
        PathEdge(ADA, KNOWS, Literal("G7"), way, "g.ttl", "", labels=LABELS, identifies=GRACE) for way in ("out", "in")
    )
    assert written(out) == "Ada → knows → G7 = Grace  [g.ttl]"
    assert written(back) == "G7 = Grace ← knows ← Ada  [g.ttl]"


def test_labels_cannot_pretend_to_be_edges() -> None:
    """Arrows in a label are not arrows of ours, and a label of nothing visible gives way to the term."""
    forged = PathEdge(ADA, KNOWS, GRACE, "out", "g", "", labels=LABELS | {ADA.text: "X → is → Y", GRACE.text: "\x07"})
    assert written(forged) == "X -> is -> Y → knows → <http://ex.org/grace>  [g]"


@pytest.mark.parametrize(
    ("usage", "replayed", "shown"),
    [
        (Usage(price=0.0), 0, "0 model calls, 0.0 s"),
        (Usage(model_calls=2, tokens_in=10, tokens_out=5), 0, "2 model calls, 10 + 5 tokens, price unknown, 0.0 s"),
        (Usage(model_calls=1, tokens_in=10, cached=7, price=0.00421), 0, "10 + 0 tokens (7 cached), $0.0042, 0.0 s"),
        (Usage(model_calls=1, price=0.00001), 0, "1 model call, 0 + 0 tokens, less than $0.0001, 0.0 s"),
        (Usage(model_calls=1, price=0.0), 0, "1 model call, 0 + 0 tokens, $0.0000, 0.0 s"),
        (
            Usage(model_calls=3, price=1234.5),
            2,
            "3 model calls (2 replayed), 0 + 0 tokens, $1234.5000, partly replayed, 0.0 s",
        ),
        (Usage(model_calls=1, price=0.0023), 1, "(1 replayed), 0 + 0 tokens, $0.0023, all replayed, 0.0 s"),
        (Usage(model_calls=1, price=None, spent="money"), 0, "0.0 s; the budget of money cannot hold"),
        (Usage(price=0.0, spent="run money"), 0, "0.0 s; the budget of run money is spent"),
    ],
)
def test_what_a_question_cost(usage: Usage, replayed: int, shown: str) -> None:
    """Money is told where calls were made: unknown is not nothing, and a trifle is not nothing either."""
    assert text([usage_line(usage, replayed)]).endswith(shown)


def test_any_term_of_an_edge_has_a_name() -> None:
    """Its label, as the endpoint returned it, else its own name: the local name of an IRI, the value of a literal."""
    since, year = Iri("http://ex.org/in_year"), Literal("1950", "http://www.w3.org/2001/XMLSchema#gYear")
    edge = PathEdge(ADA, KNOWS, GRACE, "out", "g", "", (Qualifier(since, year),), labels={ADA.text: "Ada <b>"})
    assert [edge.label(term) for term in edge.edge.terms] == ["Ada <b>", "knows", "grace", "in year", "1950"]


def test_html_is_escaped() -> None:
    """Labels, endpoints and qualifiers are text in a page, whatever they hold; nothing is loaded and nothing runs."""
    hostile = "<script>alert(1)</script><img src=x onerror='a'>\"&\x1b[31m"
    labels = {ADA.text: hostile, GRACE.text: hostile, KNOWS.text: hostile}
    edge = PathEdge(ADA, KNOWS, GRACE, "out", hostile, "", (Qualifier(KNOWS, Literal(hostile)),), labels=labels)
    page = html([edge_line(edge)])
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#x27;a&#x27;&gt;&quot;&amp;") == 6
    assert set(re.findall(r"<[^>]*", page)) == {
        '<pre style="white-space:pre-wrap"',
        '<span style="color:color-mix(in srgb,currentColor 45%,#1c86b8)"',
        '<span style="opacity:.75"',
        "</span",
        "</pre",
    }
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        (["Rex"], "is Rex"),
        (["Rex", "Tom\x1b"], "are Rex and Tom"),
        (["a", "b", "c", "d", "e"], "are a, b, c and 2 more"),
    ],
)
def test_what_came_closest_is_named(values: list[str], listed: str) -> None:
    """The first few of it, made harmless for a terminal."""
    shown = text([closest_line([AnswerValue(value) for value in values])])
    assert shown == f"The closest {listed}, which the graph states, but it may not answer this."
