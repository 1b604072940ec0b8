"""A small film graph that the steps are tested on."""

from collections.abc import Callable

import pytest

from fedkg.graph.endpoint import SparqlGraph

FILMS = """
:kong rdfs:label "King Kong"@en ; r:directed_by :jackson ; r:starring :watts, :black ; r:year "2005"^^xsd:integer .
:rings rdfs:label "The Two Towers"@en ; r:directed_by :jackson ; r:starring :wood .
:jackson rdfs:label "Peter Jackson"@en ; r:spouse :walsh ; r:born_in :pukerua .
:walsh rdfs:label "Fran Walsh"@en ; r:spouse :jackson .
:watts rdfs:label "Naomi Watts"@en . :black rdfs:label "Jack Black"@en . :wood rdfs:label "Elijah Wood"@en .
:pukerua rdfs:label "Pukerua Bay"@en .
r:directed_by rdfs:label "directed by"@en . r:starring rdfs:label "starring"@en . r:year rdfs:label "release year"@en .
r:spouse rdfs:label "spouse"@en . r:born_in rdfs:label "place of birth"@en .
"""


@pytest.fixture
def films(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Two films, their director and cast."""
    return make_graph(FILMS, name="films")
