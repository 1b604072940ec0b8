import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.plain_text import plain


@given(st.text(st.characters(exclude_categories=[])))
def test_plain_text_is_harmless(text: str) -> None:
    """Whatever goes in, one bounded line without control characters comes out."""
    shown = plain(text, 50)
    assert len(shown) <= 50
    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in shown)


@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="\ufeff"), max_size=50))
def test_plain_text_keeps_what_is_harmless(text: str) -> None:
    """Letters, digits and signs of all scripts stay as they are."""
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\x", "x"),
        ("\x9b2Jx", "x"),
        ("\x1b", ""),
        ("a\r\nb\tc", "a b c"),
        ("gr\x08een", "green"),
        ("\u202eevil", "evil"),
        ("[bold]x[/bold] :smile:", "[bold]x[/bold] :smile:"),
    ],
)
def test_terminal_sequences(text: str, shown: str) -> None:
    """Whole sequences go, not only their first character; markup is plain text."""
    assert plain(text) == shown
