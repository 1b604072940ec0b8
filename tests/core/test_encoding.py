"""Records and terms as JSON, and back."""

import pytest

from fedkg.core import encoding
from fedkg.core.terms import DirectedRelation
from fedkg.errors import TermError


def test_a_literal_is_no_relation() -> None:
    """Where an IRI belongs, another kind of term is refused."""
    with pytest.raises(TermError, match="expected an IRI"):
        encoding.decode(b'{"relation": "\\"x\\"", "direction": "out"}', DirectedRelation)


def test_foreign_objects_have_no_json() -> None:
    """Only records and terms are written; anything else is a programming error."""
    with pytest.raises(TypeError, match="no JSON for object"):
        encoding.encode({"x": object()})
