"""What tests of the engine share."""

from collections.abc import Callable

import pytest

from fedkg.graph.endpoint import SparqlGraph
from tests.support.played_runs import FILMS


@pytest.fixture
def films(make_graph: Callable[..., SparqlGraph]) -> SparqlGraph:
    """Two films with director, cast and year."""
    return make_graph(FILMS, name="films")
