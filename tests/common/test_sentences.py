"""Sentences of a text."""

import pytest

from fedkg.common.sentences import sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who wrote Emma?", ["Who wrote Emma?"]),
        ("My aunt has gout. What helps against it?", ["My aunt has gout.", "What helps against it?"]),
        ("Who sang Help! in 1965? Ringo?", ["Who sang Help! in 1965?", "Ringo?"]),
        ("Who played Dr. No in St. Louis?", ["Who played Dr. No in St. Louis?"]),
        ("", []),
    ],
)
def test_a_mark_ends_a_sentence(text: str, parts: list[str]) -> None:
    """A full stop only does so after a word that is no abbreviation."""
    assert sentences(text) == parts
