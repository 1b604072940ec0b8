"""Units by what graphs and questions call them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.terms import Iri, Literal, Qualifier, Term
from fedkg.operators.over_sets import ranked
from fedkg.operators.units import Unit, stated_unit, unit_of
from fedkg.operators.values import ReadValue

LENGTHS = st.sampled_from(["m", "km", "cm", "miles", "feet", "inches"])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kilometers", Unit("length", Decimal(1000))),
        ("km", Unit("length", Decimal(1000))),
        ("http://dbpedia.org/datatype/squareKilometre", Unit("area", Decimal(1000000))),
        ("Square miles", Unit("area", Decimal("2589988.110336"))),
        ("feet", Unit("length", Decimal("0.3048"))),
        ("minutes", Unit("time", Decimal(60))),
        ("years", None),
        ("http://dbpedia.org/datatype/usDollar", None),
        ("", None),
    ],
)
def test_units_by_their_names(name: str, expected: Unit | None) -> None:
    """Symbols, plurals, American spellings and datatypes; what has no exact length, and money, is none."""
    assert unit_of(name) == expected


@pytest.mark.parametrize(
    ("relation", "value", "expected"),
    [
        ("http://schema.org/unitText", Literal("km"), "km"),
        ("http://qudt.org/schema/qudt/unit", Iri("http://x/km"), "kilometre"),
        ("http://qudt.org/schema/qudt/unit", Iri("http://x/mile"), "http://x/mile"),
        ("http://x/united", Literal("km"), ""),
    ],
)
def test_a_unit_beside_a_number(relation: str, value: Term, expected: str) -> None:
    """By the relation's name; an entity by its name, or else by its IRI."""
    assert stated_unit([Qualifier(Iri(relation), value)], {Iri("http://x/km"): "kilometre"}) == expected


@given(st.dictionaries(st.integers(0, 5), st.tuples(st.integers(1, 9), LENGTHS), min_size=1), st.booleans())
def test_the_order_is_that_of_lengths(measured: dict[int, tuple[int, str]], most: bool) -> None:
    """Whatever units they are stated in: every length is compared, and the longest one comes out."""
    values = {
        end: [ReadValue("number", (Decimal(n),), (Decimal(n),), unit=unit)] for end, (n, unit) in measured.items()
    }
    metres = {end: n * unit.factor for end, (n, name) in measured.items() if (unit := unit_of(name))}
    best = (max if most else min)(metres.values())
    result = ranked(values, most=most)
    assert set(result.ends) == {end for end, length in metres.items() if length == best}
    assert not result.missing
