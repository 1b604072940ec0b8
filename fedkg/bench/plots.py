"""Curves as SVG: the same figures give the same file."""

import io
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["curves"]

SIZE = (6.4, 4.0)
"""Inches."""
MARKERS = "osD^vPX*<>"


def curves(title: str, x: str, y: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """An SVG with one line per name through its (x, y) points; `x` and `y` are what the axes show."""
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    for number, (name, points) in enumerate(lines.items()):
        axes.plot(*zip(*points, strict=True), marker=MARKERS[number % len(MARKERS)], label=name)
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return _svg(figure)


def _svg(figure: Figure) -> str:
    # without a salt the marks' names are random, and with a date every file is a new one
    with mpl.rc_context({"svg.hashsalt": "fedkg", "svg.fonttype": "none"}):
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
