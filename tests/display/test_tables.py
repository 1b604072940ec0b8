from html import unescape

from fedkg.core.path import Neighbourhood
from fedkg.core.terms import Edge, Iri, Literal
from fedkg.display.tables import MOST_EDGES

ADA, KNOWS = Iri("http://ex.org/ada"), Iri("http://ex.org/knows")


def around(count: int, cut: str = "", failed: str = "") -> Neighbourhood:
    """Ada, and so many edges."""
    edges = (Edge(ADA, KNOWS, Literal(f"<b>{number}</b>"), "out", "g.ttl", "") for number in range(count))
    return Neighbourhood(ADA, "out", tuple(edges), "g.ttl", "", cut=cut, failed=failed)


def test_a_neighbourhood_is_a_table() -> None:
    """A row for each edge, values escaped, with the endpoint that returned it."""
    page = around(2)._repr_html_()
    assert "ada: 2 edges →  [g.ttl]".replace("  ", " ") in page
    assert page.count("<tr>") == 3
    assert "<b>" not in page
    assert "<b>1</b>" in unescape(page)


def test_what_is_left_out_is_told() -> None:
    """By the endpoint, or since there are too many for a page."""
    page = around(MOST_EDGES + 5, cut="at most 55 are fetched")._repr_html_()
    assert "… and 5 more" in page
    assert "cut: at most 55 are fetched" in page
    assert "failed: down" in around(0, failed="down")._repr_html_()
