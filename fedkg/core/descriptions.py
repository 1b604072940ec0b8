"""Descriptions: short texts by which a graph tells what an entity is. Those of topics are shown beside their names."""

from collections.abc import Iterable

from fedkg.core.terms import Edge, Iri, Literal

__all__ = ["SHORT", "brief"]

DESCRIPTIONS = frozenset(
    map(
        Iri,
        (
            "http://schema.org/description",
            "http://dbpedia.org/ontology/description",
            "http://purl.org/dc/terms/description",
            "http://purl.org/dc/elements/1.1/description",
            "http://www.w3.org/2000/01/rdf-schema#comment",
            "http://www.w3.org/2004/02/skos/core#definition",
            "http://rdf.freebase.com/ns/common.topic.description",
        ),
    )
)
SHORT = 120
"""Most characters of a description that is shown beside a name."""


def brief(edges: Iterable[Edge]) -> str:
    """The description that these edges of one entity lead to.

    Nothing where there are several, and where it is too long to be shown whole.
    """
    texts = {edge.object.value for edge in edges if _describes(edge) and isinstance(edge.object, Literal)}
    text = texts.pop() if len(texts) == 1 else ""
    return text if len(text) <= SHORT else ""


def _describes(edge: Edge) -> bool:
    return edge.direction == "out" and edge.relation in DESCRIPTIONS
