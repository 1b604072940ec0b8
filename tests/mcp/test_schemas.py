import json

import msgspec

from fedkg.mcp.schemas import schema


class Inner(msgspec.Struct):
    """What is within.

    More of it.
    """

    name: str


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    """The root."""

    inner: Inner
    number: int = 3


def test_the_root_is_an_object() -> None:
    """As the protocol wants it, with the other records beside it and descriptions in one line."""
    made = schema(Outer)
    assert (made["type"], made["required"], made["additionalProperties"]) == ("object", ["inner"], False)
    assert made["properties"]["inner"] == {"$ref": "#/$defs/Inner"}
    assert made["$defs"]["Inner"]["description"] == "What is within. More of it."
    assert "Outer" not in json.dumps(made["$defs"])


def test_a_record_of_plain_fields_needs_no_others() -> None:
    """Nothing is defined that is not used."""
    assert "$defs" not in schema(Inner)
