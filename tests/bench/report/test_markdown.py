"""Markdown of texts that would be markup."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.bench.report import markdown

LIVE = re.compile(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|~$&]")


@pytest.mark.parametrize(
    ("plain", "written"),
    [
        ("a | b", r"a \| b"),
        (r"a \| b", r"a \\\| b"),
        ("[x](http://evil)", r"\[x\](http://evil)"),
        ("**bold** `code`", r"\*\*bold\*\* 'code'"),
        ("<script>alert(1)</script>", "‹script›alert(1)‹/script›"),
        ("&lt;b&gt;", r"\&lt;b\&gt;"),
        ("one\n# two\r\n| three", r"one # two \| three"),
        ("a\u202eb\u200f\x00\x1b[1m", r"ab\[1m"),
    ],
)
def test_text_stays_text(plain: str, written: str) -> None:
    """No cell ends early, no tag begins, no line is broken, nothing changes the direction of writing."""
    assert markdown.text(plain) == written


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_a_table_has_its_rows_whatever_is_in_it(rows: list[tuple[str, str]]) -> None:
    """One line each, with as many cells as it has columns."""
    lines = markdown.table(("one", "two"), rows).splitlines()
    assert len(lines) == 2 + len(rows)
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines)


@given(st.text())
def test_no_markup_is_left(plain: str) -> None:
    """Every sign that means something is escaped."""
    assert not LIVE.search(markdown.text(plain))
    assert "\n" not in markdown.heading(2, plain).removesuffix("\n")


def test_a_table_has_a_line_for_each_row() -> None:
    """The first row names the columns; None is nothing."""
    assert markdown.records([{"a": 1, "b": None}]) == "| a | b |\n| --- | --- |\n| 1 |  |\n"
