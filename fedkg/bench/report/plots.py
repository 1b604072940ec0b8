"""Plots as SVG: the same figures give the same file."""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["Lines", "bars", "curves", "dots"]

Lines = Mapping[str, Sequence[tuple[float, float]]]
"""By name (x, y) points."""

SIZE = (6.4, 4.0)
"""Inches."""
MARKERS = "osD^vPX*<>"
FILLS: tuple[Literal["full", "none", "left"], ...] = ("full", "none", "left")
"""How the marks are filled, so that of thirty series no two share a mark."""
HATCHES = ("", "//", "..")
"""What tells bars of the same colour apart: ten have one of their own."""
COLOURS = 10
BAR = 0.3
"""Inches that each bar adds to the height."""


def curves(title: str, x: str, y: str, lines: Lines) -> str:
    """An SVG with one line per name through its points; `x` and `y` are what the axes show."""
    return _drawn(title, x, y, lines, "-")


def dots(title: str, x: str, y: str, points: Lines) -> str:
    """An SVG with one mark per point, which are not connected; those of one name look alike."""
    return _drawn(title, x, y, points, "none")


def bars(title: str, x: str, names: Sequence[str], parts: Mapping[str, Sequence[float]]) -> str:
    """An SVG with one bar for each of `names`, of parts of so many each that lie end to end."""
    figure = Figure(figsize=(SIZE[0], SIZE[1] / 2 + BAR * len(names)), layout="constrained")
    axes = figure.subplots()
    left = [0.0] * len(names)
    places = range(len(names))
    for number, (name, lengths) in enumerate(parts.items()):
        hatch = HATCHES[number // COLOURS % len(HATCHES)]
        axes.barh(places, lengths, left=left, label=_text(name), hatch=hatch)
        left = [start + length for start, length in zip(left, lengths, strict=True)]
    axes.set_yticks(places, [_text(name) for name in names])
    axes.invert_yaxis()
    return _finished(figure, axes, title, x, "")


def _drawn(title: str, x: str, y: str, lines: Lines, style: str) -> str:
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    for number, (name, points) in enumerate(lines.items()):
        marker, fill = MARKERS[number % len(MARKERS)], FILLS[number // len(MARKERS) % len(FILLS)]
        axes.plot(*zip(*points, strict=True), marker=marker, fillstyle=fill, linestyle=style, label=_text(name))
    return _finished(figure, axes, title, x, y)


def _finished(figure: Figure, axes: Axes, title: str, x: str, y: str) -> str:
    axes.set(title=_text(title), xlabel=_text(x), ylabel=_text(y))
    axes.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2)
    return _svg(figure)


def _text(name: str) -> str:
    """The name as it is: a dollar sign would begin a formula, an underscore would hide it from the legend."""
    plain = name.replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    # without a salt the marks' names are random, and with a date every file is a new one
    with mpl.rc_context({"svg.hashsalt": "fedkg", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of characters that a font lacks: other readers have them
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
