"""Figures as bars that are read at a glance, without a script or a picture: as a part of a page, and as Markdown."""

from collections.abc import Sequence

import msgspec

from fedkg.bench.report import markdown
from fedkg.bench.report.page import Element, element

__all__ = ["Bar", "BarChart", "as_element", "as_markdown"]

SHORTEST = 0.4
"""Per cent of the width that a bar has at least: what is little is not nothing."""
BLOCKS = 30
"""Characters of the longest bar in Markdown."""
BLOCK = "█"


class Bar(msgspec.Struct, frozen=True):
    """One figure with its name; `ours` are told apart from those of others."""

    name: str
    value: float
    ours: bool = False


class BarChart(msgspec.Struct, frozen=True):
    """Figures of one unit, from zero on; `note` says how they were measured."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    note: str = ""

    @property
    def longest(self) -> float:
        """The value of the longest bar; 1 where all are nothing."""
        return max((bar.value for bar in self.bars), default=0.0) or 1.0


def as_element(chart: BarChart) -> Element:
    """The chart as a table whose middle column is the bars."""
    rows = [_row(bar, chart) for bar in chart.bars]
    note = [element("p", chart.note, cls="note")] if chart.note else []
    table = element("table", element("caption", chart.title), element("tbody", *rows), cls="bars")
    return element("div", table, *note)


def as_markdown(chart: BarChart, level: int = 3) -> str:
    """The chart as a table under a heading of that level."""
    rows = [(f"{bar.name}", _figure(bar.value), BLOCK * _blocks(bar, chart)) for bar in chart.bars]
    parts = [markdown.heading(level, chart.title), markdown.table(("", chart.unit, ""), rows)]
    return "\n".join([*parts, f"{markdown.text(chart.note)}\n"] if chart.note else parts)


def _row(bar: Bar, chart: BarChart) -> Element:
    width = max(SHORTEST, 100 * bar.value / chart.longest)
    drawn = element("div", cls="bar ours" if bar.ours else "bar", style=f"width: {width:.1f}%")
    cells: Sequence[Element] = (
        element("th", bar.name, scope="row"),
        element("td", drawn, cls="track"),
        element("td", f"{_figure(bar.value)} {chart.unit}"),
    )
    return element("tr", *cells)


def _blocks(bar: Bar, chart: BarChart) -> int:
    return max(1, round(BLOCKS * bar.value / chart.longest))


def _figure(value: float) -> str:
    """Three digits that count; whole from a hundred on."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
