"""What is wrong with a setting, in words: `depth must be 1 or more`, and which setting was meant by an unknown key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import inspect

__all__ = ["Source", "sentence"]

PLACED = re.compile(r"(.*?)(?: - at `\$\.?([^`]*)`)?", re.DOTALL)
UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
LIMIT = re.compile(r"Expected `\w+` ([<>]=?) (\S+)")
CHOICE = re.compile(r"Invalid enum value (.*)", re.DOTALL)
ELEMENT = re.compile(r"\[[^\]]*\]$")
LIMITS = {">=": "{:,.15g} or more", ">": "more than {:,.15g}", "<=": "{:,.15g} or less", "<": "less than {:,.15g}"}
NOUNS: dict[type[inspect.Type], str] = {
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.StrType: "a text",
    inspect.VarTupleType: "a list",
    inspect.StructType: "a table",
}
LETTERS_PER_SLIP = 3
"""One letter in so many may be wrong, missing or swapped in a key that means another."""


class Source(NamedTuple):
    """Where settings were given: `names` maps a dotted key to what is written there for it, `place` follows a key."""

    names: Mapping[str, str]
    place: str = ""

    def name(self, key: str) -> str:
        """The key as it is written there; of a nested one the part in front may have a name of its own."""
        outer, dot, rest = key, "", ""
        while outer not in self.names and "." in outer:
            outer, _, last = outer.rpartition(".")
            dot, rest = ".", f"{last}{dot}{rest}"
        return f"{self.names.get(outer, outer)}{dot}{rest}{self.place}"


def sentence(error: msgspec.ValidationError, kind: type[msgspec.Struct], source: Source) -> str:
    """What is wrong, as a sentence that names the setting as the source writes it; `kind` is what was to be made."""
    match = PLACED.fullmatch(str(error))
    fault, key = (match[1], match[2] or "") if match else (str(error), "")
    if unknown := UNKNOWN.fullmatch(fault):
        return _unknown(f"{key}.{unknown[1]}".removeprefix("."), kind, source)
    setting, elements = ELEMENT.subn("", key)
    name = f"each of {source.name(setting)}" if elements else source.name(setting)
    return f"{name} must be {_wanted(fault, _type(kind, setting, element=bool(elements)))}"


def _unknown(key: str, kind: type[msgspec.Struct], source: Source) -> str:
    """That there is no such setting, and the one with the nearest name."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415  # only a slip needs it

    spellings: dict[str, str] = {}
    for known in _keys(kind):
        for spelling in (known, known.replace(".", "_"), source.names.get(known, known), known.rpartition(".")[2]):
            spellings.setdefault(spelling, known)
    nearest = min(spellings, key=lambda spelling: (OSA.distance(key, spelling), abs(len(key) - len(spelling))))
    if OSA.distance(key, nearest) * LETTERS_PER_SLIP > len(key):
        return f"{source.name(key)} is no setting"
    meant = spellings[nearest]
    return f"{source.name(key)} is no setting; did you mean {source.names.get(meant, meant)}?"


def _keys(kind: type[msgspec.Struct]) -> Iterator[str]:
    """All dotted keys, those of the tables behind the tables themselves."""
    for field in _fields(kind):
        yield field.encode_name
        if isinstance(field.type, inspect.StructType):
            yield from (f"{field.encode_name}.{inner.encode_name}" for inner in field.type.fields)


def _fields(kind: type[msgspec.Struct]) -> Sequence[inspect.Field]:
    made = inspect.type_info(kind)
    assert isinstance(made, inspect.StructType)
    return made.fields


def _type(kind: type[msgspec.Struct], key: str, *, element: bool) -> inspect.Type:
    """The type of the setting with that dotted key, or of its elements; without what only says that it may be unset."""
    expected: inspect.Type = inspect.type_info(kind)
    for part in key.split(".") if key else ():
        assert isinstance(expected, inspect.StructType)
        expected = next(field.type for field in expected.fields if field.encode_name == part)
    if element and isinstance(expected, inspect.VarTupleType):
        expected = expected.item_type
    if isinstance(expected, inspect.UnionType):
        expected = next(option for option in expected.types if not isinstance(option, inspect.NoneType))
    return expected


def _wanted(fault: str, kind: inspect.Type) -> str:
    """What the value must be."""
    described = kind.extra_json_schema if isinstance(kind, inspect.Metadata) else None
    if described:
        return str(described["description"])
    if limit := LIMIT.fullmatch(fault):
        return LIMITS[limit[1]].format(float(limit[2]))
    if isinstance(kind, inspect.LiteralType):
        given = CHOICE.fullmatch(fault)
        *others, last = map(str, kind.values)
        return f"{', '.join(others)} or {last}" + (f", not {given[1]}" if given else "")
    return NOUNS.get(type(kind), fault)
