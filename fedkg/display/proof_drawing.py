"""Paths drawn as a graph in SVG: topics on the left, what they lead to on the right, edges as the graph states them.

No script, no link, nothing from elsewhere; all texts are escaped. Lines and texts take the colour of the page around
them, so that they can be read on a light one and on a dark one.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

import msgspec

from fedkg.common.plain_text import plain
from fedkg.core.proof import Path, PathEdge
from fedkg.core.terms import Term

__all__ = ["MOST_PATHS", "drawing"]

MOST_PATHS = 20
"""Paths that are drawn."""
WIDTH, HEIGHT = 170, 26
"""Pixels of a node."""
GAP, ROW = 190, 46
"""Pixels between two columns, which hold the relations, and from row to row."""
LETTERS, RELATION_LETTERS = 24, 28
"""Most characters in a node and on an edge; the whole text is shown where the mouse rests."""
LINE = 13
"""Pixels from one line of text to the next."""
MARGIN = 4
GREEN, BLUE = "#2f9e63", "#3f86c9"
"""Of answers and of topics; both stand out from white and from black."""


class _Node(msgspec.Struct, frozen=True):
    """A node in its column and row."""

    term: Term
    name: str
    column: int
    row: float

    @property
    def left(self) -> float:
        return MARGIN + self.column * (WIDTH + GAP)

    @property
    def middle(self) -> float:
        return MARGIN + LINE + self.row * ROW + HEIGHT / 2


def drawing(paths: Sequence[Path], answers: Collection[Term] = ()) -> str:
    """The paths as one SVG element, the first of them if there are many; "" where there is none.

    `answers` are the terms that stand out. Paths that share nodes share them in the drawing.
    """
    shown = [path for path in paths[:MOST_PATHS] if path.edges]
    if not shown:
        return ""
    nodes = _placed(shown)
    width = 2 * MARGIN + max(node.left for node in nodes.values()) + WIDTH
    height = MARGIN + max(node.middle for node in nodes.values()) + HEIGHT
    size = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "width": f"{width:.0f}", "height": f"{height:.0f}"}
    style = "max-width:100%;height:auto;font:12px system-ui,sans-serif"
    root = Element("svg", {**size, "xmlns": "http://www.w3.org/2000/svg", "role": "img", "style": style})
    ET.SubElement(root, "title").text = "; ".join(_sentence(path) for path in shown)
    for element in (*_edges(shown, nodes), *_boxes(shown, nodes, answers)):
        root.append(element)
    return ET.tostring(root, encoding="unicode")


def _walk(edge: PathEdge) -> tuple[Term, Term]:
    """Where the step starts and ends, as it was walked."""
    return (edge.subject, edge.object) if edge.direction == "out" else (edge.object, edge.subject)


def _placed(paths: Sequence[Path]) -> Mapping[Term, _Node]:
    """Each term in the column of its first place on a path, and in the rows from top to bottom as they come."""
    columns: dict[Term, int] = {}
    names: dict[Term, str] = {}
    for path in paths:
        for depth, edge in enumerate(path.edges):
            for place, term in enumerate(_walk(edge), depth):
                columns.setdefault(term, place)
            names |= {term: edge.label(term) for term in _walk(edge)}
    count = Counter(columns.values())
    tallest = max(count.values())
    rows: Counter[int] = Counter()
    nodes = {}
    for term, column in columns.items():
        row = (tallest - count[column]) / 2 + rows[column]
        nodes[term] = _Node(term, names.get(term, term.text), column, row)
        rows[column] += 1
    return nodes


def _edges(paths: Sequence[Path], nodes: Mapping[Term, _Node]) -> Iterator[Element]:
    """Each step once, with its relation beside the place where it arrives."""
    arrived: Counter[Term] = Counter()
    for edge in _distinct(edge for path in paths for edge in path.edges):
        start, end = (nodes[term] for term in _walk(edge))
        group = Element("g")
        ET.SubElement(group, "title").text = _told(edge)
        curve = {"fill": "none", "stroke": "currentColor", "stroke-opacity": "0.55", "d": _curve(start, end)}
        ET.SubElement(group, "path", curve)
        ET.SubElement(group, "path", {"fill": "currentColor", "d": _head(start, end, edge)})
        # on the side of the line from which it does not come
        side = LINE * (arrived[end.term] + 1) if start.middle < end.middle else -5 - LINE * arrived[end.term]
        place = {"x": f"{end.left - 12:.0f}", "y": f"{end.middle + side:.0f}"}
        look = {"text-anchor": "end", "fill": "currentColor", "font-size": "11", "font-style": "italic"}
        ET.SubElement(group, "text", place | look).text = plain(_relation(edge), RELATION_LETTERS)
        arrived[end.term] += 1
        yield group


def _distinct(edges: Iterable[PathEdge]) -> Iterable[PathEdge]:
    """The edges, each statement once."""
    return {(edge.subject, edge.relation, edge.object, edge.through): edge for edge in edges}.values()


def _boxes(paths: Sequence[Path], nodes: Mapping[Term, _Node], answers: Collection[Term]) -> Iterator[Element]:
    topics = {_walk(path.edges[0])[0] for path in paths}
    colours = defaultdict(lambda: "currentColor", dict.fromkeys(topics, BLUE) | dict.fromkeys(answers, GREEN))
    for term, node in nodes.items():
        group = Element("g")
        ET.SubElement(group, "title").text = plain(f"{node.name} {term.text}", 500)
        box = {"x": f"{node.left:.0f}", "y": f"{node.middle - HEIGHT / 2:.0f}", "width": f"{WIDTH}", "rx": "6"}
        look = {"height": f"{HEIGHT}", "fill": colours[term], "fill-opacity": "0.12", "stroke": colours[term]}
        ET.SubElement(group, "rect", box | look)
        middle = {"x": f"{node.left + WIDTH / 2:.0f}", "y": f"{node.middle + 4:.0f}", "text-anchor": "middle"}
        weight = {"font-weight": "bold"} if term in answers else {}
        text = ET.SubElement(group, "text", {**middle, "fill": "currentColor", **weight})
        text.text = plain(node.name, LETTERS)
        yield group


def _curve(start: _Node, end: _Node) -> str:
    """From the right side of a node to the left side of a later one; to one that is not later, around it."""
    x, y, to_x, to_y = start.left + WIDTH, start.middle, end.left, end.middle
    if end.column > start.column:
        bend, flat = x + GAP * 0.35, to_x - GAP * 0.85  # flat where the relation is written
        return f"M{x:.0f} {y:.0f}C{bend:.0f} {y:.0f} {flat:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
    return f"M{x:.0f} {y:.0f}C{x + 60:.0f} {y - 40:.0f} {to_x - 60:.0f} {to_y - 40:.0f} {to_x:.0f} {to_y:.0f}"


def _head(start: _Node, end: _Node, edge: PathEdge) -> str:
    """The arrow's head, at the object of the statement."""
    if edge.direction == "out":
        return f"M{end.left:.0f} {end.middle:.0f}l-8 -4v8z"
    return f"M{start.left + WIDTH:.0f} {start.middle:.0f}l8 -4v8z"


def _relation(edge: PathEdge) -> str:
    legs = (edge.relation, edge.through.relation) if edge.through else (edge.relation,)
    return " / ".join(map(edge.label, legs))


def _told(edge: PathEdge) -> str:
    """The statement with its qualifiers, and the endpoint that returned it."""
    statement = f"{edge.label(edge.subject)} → {_relation(edge)} → {edge.label(edge.object)}"
    qualifiers = "; ".join(f"{edge.label(leg.relation)}: {edge.label(leg.value)}" for leg in edge.qualifiers)
    return plain(f"{statement}{f' ({qualifiers})' if qualifiers else ''} [{edge.endpoint}]", 1_000)


def _sentence(path: Path) -> str:
    return ", ".join(_told(edge) for edge in path.edges)
