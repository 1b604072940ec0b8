"""The sentences of a text, as far as its punctuation tells them apart."""

import re

__all__ = ["sentences"]

END = re.compile(r"(?<=[?!])\s+(?![a-z])|(?<=[a-z]{3}\.)\s+(?=[A-Z])")
"""A mark before a small letter belongs to a name ("the Airplane! actors"); so may a full stop after a short word:
"Dr. No", "J. R. R. Tolkien", "St. Louis"."""


def sentences(text: str) -> list[str]:
    """The sentences, each with its mark at the end; the whole text where it has but one."""
    return [part for part in END.split(text.strip()) if part]
