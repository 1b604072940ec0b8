"""Tests of figures as bars."""

import re

import pytest

from fedkg.bench.report import page
from fedkg.bench.report.bars import Bar, BarChart, as_element, as_markdown

CHART = BarChart("Seconds", "s", (Bar("fedkg", 0.5, ours=True), Bar("one by one", 10.0), Bar("nothing", 0.0)), "cold")


def test_lengths_are_those_of_the_figures() -> None:
    """The longest bar fills its column, the others are as long as their part of it; what is nothing is seen."""
    text = page.rendered("Bars", as_element(CHART))
    assert re.findall(r"width: ([\d.]+)%\"", text) == ["5.0", "100.0", "0.4"]
    assert [row.count("█") for row in as_markdown(CHART).splitlines() if "█" in row] == [2, 30, 1]


def test_figures_stand_beside_their_bars() -> None:
    """Each with its unit, ours told apart from the others."""
    text = page.rendered("Bars", as_element(CHART))
    assert ">0.5 s<" in text
    assert ">10 s<" in text
    assert text.count('class="bar ours"') == 1
    assert "| fedkg | 0.5 |" in as_markdown(CHART)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "a | b\n# c", "[x](javascript:1)"])
def test_no_name_is_markup(name: str) -> None:
    """Names from files are texts, on the page and in Markdown."""
    chart = BarChart(name, name, (Bar(name, 1.0),), name)
    text, beside = page.rendered("Bars", as_element(chart)), as_markdown(chart)
    assert "<script" not in text
    assert "<img" not in text
    assert len(beside.splitlines()) == len(as_markdown(CHART).splitlines()) - 2
    assert "](" not in beside.replace("\\]", "")


def test_all_nothing() -> None:
    """A chart whose figures are all zero, or that has none, is drawn all the same."""
    assert "0 s" in page.rendered("Bars", as_element(BarChart("t", "s", (Bar("a", 0.0),))))
    assert as_markdown(BarChart("t", "s", ()))
