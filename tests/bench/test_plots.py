"""Plots: what is drawn, and that the same figures give the same file."""

import pytest

pytest.importorskip("matplotlib", reason="plots need the extra `report`")

from fedkg.bench.plots import curves

LINES = {"with": [(1.0, 0.9), (4.0, 0.95)], "without": [(1.0, 0.7), (4.0, 0.8)]}


def test_a_plot_shows_its_title_its_axes_and_each_line() -> None:
    """Texts stay texts, so that they can be searched for and read aloud."""
    svg = curves("Noise", "beam width", "Hits@1", LINES)
    assert svg.startswith("<?xml")
    assert all(f">{text}<" in svg for text in ("Noise", "beam width", "Hits@1", "with", "without"))


def test_the_same_figures_give_the_same_file() -> None:
    """A result file changes only where a figure does."""
    assert curves("Noise", "x", "y", LINES) == curves("Noise", "x", "y", LINES)
