"""What is read of a reply."""

import pytest

from fedkg.core.terms import Literal
from fedkg.sparql.reply import counted
from tests.support.neighbourhoods import iri


@pytest.mark.parametrize(
    ("written", "number"), [("7", 7), ("21", 21), ("007", 7), ("-1", 20), ("x", 20), ("9" * 5_000, 20), ("", 20)]
)
def test_numbers(written: str, number: int) -> None:
    """What is no number, or has more digits than any count, is not known."""
    assert counted(Literal(written), 20) == number
    assert counted(iri("a"), 20) == 20
