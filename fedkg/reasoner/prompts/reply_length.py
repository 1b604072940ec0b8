"""The longest reply that a call can need, from its schema and its offers: models that run on are stopped there.

A model is told how many tokens it may write. A strong one never comes near that; a weak one repeats itself until it is
stopped, which takes minutes on a machine without an accelerator.
"""

import math
from collections.abc import Mapping
from typing import Any

from fedkg.common.tokens import estimate

__all__ = ["longest"]

AROUND = 150
"""Tokens for a fence, indentation, and a sentence around the JSON."""
OTHER_VOCABULARY = 1.3
"""More tokens that other vocabularies make of a reply than that of the estimate."""
ENTRIES, TEXT, VALUE = 20, 80, 4
"""Entries of a list, tokens of a text, where a call does not say how many; tokens of a number or a truth value."""


def longest(schema: Mapping[str, Any], lengths: Mapping[str, int]) -> int:
    """Tokens of the longest reply of that schema, by the estimate, with room for other vocabularies.

    `lengths` are by the keys of the schema: the most entries of a list, the most tokens of a text, or of all texts of a
    list together.
    """
    return math.ceil(OTHER_VOCABULARY * _tokens(schema, "", lengths)) + AROUND


def _tokens(schema: Mapping[str, Any], key: str, lengths: Mapping[str, int]) -> int:
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {})
            return 2 + sum(estimate(f'"{name}": ,\n') + _tokens(part, name, lengths) for name, part in parts.items())
        case "array" if schema["items"].get("type") != "string":
            return 2 + lengths.get(key, ENTRIES) * (1 + _tokens(schema["items"], key, lengths))
        case "array" | "string" if "enum" not in schema:
            return 2 + lengths.get(key, TEXT)
    return VALUE
