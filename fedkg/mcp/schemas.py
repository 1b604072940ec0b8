"""Records as the JSON schemas of tools, whose root is an object."""

from typing import Any

import msgspec

__all__ = ["schema"]


def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a record; those within it stand under `$defs`."""
    _, parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for part in parts.values():
        part["description"] = " ".join(part["description"].split())  # a docstring is folded, which a model pays for
    root = parts.pop(kind.__name__)
    return {**root, "$defs": parts} if parts else root
