"""Tables as a notebook shows them, and the edges of an entity as one."""

import html
from collections.abc import Iterable, Sequence

from fedkg.common.plain_text import plain
from fedkg.core.path import Neighbourhood
from fedkg.core.rendering import counted
from fedkg.core.terms import own_name

__all__ = ["neighbourhood_html", "table_html"]

MOST_EDGES = 50
CELL = "padding:.15em .8em .15em 0;text-align:left;vertical-align:top"


def neighbourhood_html(neighbourhood: Neighbourhood) -> str:
    """The edges of the entity in one direction, the first of many, by the names that the terms have themselves."""
    arrow = "→" if neighbourhood.direction == "out" else "←"
    count = f"{counted(len(neighbourhood.edges), 'edge')} {arrow}  [{neighbourhood.endpoint}]"
    notes = [
        neighbourhood.failed and f"failed: {neighbourhood.failed}",
        neighbourhood.cut and f"cut: {neighbourhood.cut}",
    ]
    if len(neighbourhood.edges) > MOST_EDGES:
        notes.append(f"… and {len(neighbourhood.edges) - MOST_EDGES} more")
    rows = ((own_name(edge.relation), own_name(edge.end), edge.end.text) for edge in neighbourhood.edges[:MOST_EDGES])
    title = f"{own_name(neighbourhood.entity)}: {count}"
    return table_html(title, ("relation", "leads to" if arrow == "→" else "comes from", ""), rows, notes)


def table_html(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """A table of texts with its title, and notes below it; all of them are escaped."""
    caption = f'<caption style="text-align:left;font-weight:bold">{_safe(title)}</caption>'
    body = "".join(_row(row, "td") for row in rows)
    below = "".join(f"<div>{_safe(note)}</div>" for note in notes)
    return f'<table style="border-collapse:collapse">{caption}{_row(columns, "th")}{body}</table>{below}'


def _row(cells: Sequence[str], tag: str) -> str:
    inside = "".join(f'<{tag} style="{CELL}">{_safe(cell)}</{tag}>' for cell in cells)
    return f"<tr>{inside}</tr>"


def _safe(text: str) -> str:
    return html.escape(plain(text, 500))
