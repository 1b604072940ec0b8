"""Short descriptions: what a graph says an entity is."""

import pytest

from fedkg.core.descriptions import SHORT, brief
from fedkg.core.terms import Direction, Edge, Iri, Literal

SCHEMA = "http://schema.org/description"


def edge(text: str, relation: str = SCHEMA, direction: Direction = "out") -> Edge:
    """An edge that describes Rex."""
    return Edge(Iri("http://x/rex"), Iri(relation), Literal(text), direction, "e")


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([edge("a dog"), edge("brown", "http://x/colour")], "a dog"),
        ([edge("a dog"), edge("a cat")], ""),
        ([edge("a dog"), edge("a dog", "http://purl.org/dc/terms/description")], "a dog"),
        ([edge("x" * SHORT)], "x" * SHORT),
        ([edge("x" * (SHORT + 1))], ""),
        ([edge("a dog", direction="in")], ""),
        ([], ""),
    ],
)
def test_the_one_short_description(edges: list[Edge], expected: str) -> None:
    """It is the text that all describing edges lead to, unless there are several or it is long."""
    assert brief(edges) == expected
