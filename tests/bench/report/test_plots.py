"""Plots: what is drawn, and that the same figures give the same file."""

import re

import pytest

pytest.importorskip("matplotlib", reason="plots need the extra `report`")

from fedkg.bench.report.plots import bars, curves, dots

LINES = {"with": [(1.0, 0.9), (4.0, 0.95)], "without": [(1.0, 0.7), (4.0, 0.8)]}


def test_a_plot_shows_its_title_its_axes_and_each_line() -> None:
    """Texts stay texts, so that they can be searched for and read aloud."""
    svg = curves("Noise", "beam width", "Hits@1", LINES)
    assert svg.startswith("<?xml")
    assert all(f">{text}<" in svg for text in ("Noise", "beam width", "Hits@1", "with", "without"))


def test_the_same_figures_give_the_same_file() -> None:
    """A result file changes only where a figure does."""
    assert curves("Noise", "x", "y", LINES) == curves("Noise", "x", "y", LINES)


def test_dots_are_not_connected() -> None:
    """A line between two runs would promise what lies between them."""
    connected, alone = (draw("Cost", "tokens", "Hits@1", LINES).count("stroke-linecap") for draw in (curves, dots))
    assert connected > alone


def test_bars_have_a_part_for_each_name() -> None:
    """End to end, with the names beside them."""
    svg = bars("Errors", "%", ["one", "other"], {"linking": [10.0, 0.0], "choice": [20.0, 5.0]})
    assert all(f">{text}<" in svg for text in ("Errors", "one", "other", "linking", "choice"))
    assert svg == bars("Errors", "%", ["one", "other"], {"linking": [10.0, 0.0], "choice": [20.0, 5.0]})


@pytest.mark.parametrize("name", ["$x^2$", "$\\frac{$", "_x", "日本"])
def test_a_name_is_no_formula(name: str) -> None:
    """It is drawn as it is written, and without a warning."""
    assert name in curves("t", "x", "y", {name: [(0.0, 1.0)]})


def test_no_two_series_share_a_mark() -> None:
    """Twenty series have ten marks more than ten series: another filling, where marker and colour come again."""
    marks = []
    for series in (10, 20):
        svg = dots("t", "x", "y", {str(number): [(number % 10, 1.0)] for number in range(series)})
        marks.append(len(set(re.findall(r'href="#(m\w+)"', svg))))
    assert marks[1] - marks[0] == 10
