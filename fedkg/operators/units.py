"""Units of length, mass, area and time, by what graphs and questions call them: the table is a data file.

A graph states a unit as the datatype of a number (DBpedia), or beside it at the same node: by schema.org's unitCode and
unitText, QUDT's unit, OM's hasUnit. Units that the table lacks are compared with themselves alone.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files

import msgspec

from fedkg.core.terms import Iri, Literal, Qualifier

__all__ = ["Unit", "stated_unit", "unit_of"]

STATED = frozenset({"unit", "unitcode", "unittext", "hasunit", "quantityunit", "units"})
"""What relations to a unit are called: `schema:unitCode`, `qudt:unit`, `om:hasUnit`, `wikibase:quantityUnit`."""
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
SPELLINGS = (("meter", "metre"), ("liter", "litre"), ("sq.", "sq"))


class Unit(msgspec.Struct, frozen=True):
    """A unit by its dimension, and how many of the dimension's first unit it is."""

    dimension: str
    factor: Decimal


@lru_cache(1)
def _units() -> Mapping[str, Unit]:
    """The units by their names."""
    data = tomllib.loads((files("fedkg.operators") / "units.toml").read_text(encoding="utf-8"))
    table = msgspec.convert(data, dict[str, dict[str, list[str]]])
    return {
        name: Unit(dimension, Decimal(factor))
        for dimension, factors in table.items()
        for factor, names in factors.items()
        for name in names
    }


@lru_cache(1_000)
def unit_of(name: str) -> Unit | None:
    """The unit of that name, or of an IRI whose local name is one; None for any other."""
    local = re.split(r"[/#:]", name)[-1] if ":" in name else name
    words = " ".join(HUMP.sub(" ", local).replace("_", " ").split())
    plain = words.casefold()
    for other, ours in SPELLINGS:
        plain = plain.replace(other, ours)
    forms = (words, plain, plain.removesuffix("s"))
    return next((unit for form in forms if (unit := _units().get(form))), None)


def stated_unit(qualifiers: Sequence[Qualifier], names: Mapping[Iri, str] | None = None) -> str:
    """The unit that stands beside a number; "" for none. An entity is known by its name, or else by its IRI."""
    for leg in qualifiers:
        if leg.relation.local_name.replace(" ", "").casefold() in STATED:
            if isinstance(leg.value, Literal):
                return leg.value.value
            if isinstance(leg.value, Iri):
                return (names or {}).get(leg.value) or leg.value.value
    return ""
