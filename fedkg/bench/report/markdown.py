"""Markdown that holds whatever it is given: what would be markup is escaped, and nothing has more than one line."""

import re
from collections.abc import Iterable, Mapping, Sequence

from fedkg.common.one_line import line

__all__ = ["heading", "records", "table", "text"]

MARKUP = re.compile(r"([\\`*_\[\]<>|~$&])")
LONGEST = 500


def text(plain: str) -> str:
    """The text as it is, without any meaning to Markdown or HTML."""
    return MARKUP.sub(r"\\\1", line(plain, LONGEST))


def heading(level: int, title: str) -> str:
    """A heading."""
    return f"{'#' * level} {text(title)}\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    head = [_row(map(text, columns)), _row(["---"] * len(columns))]
    return "\n".join([*head, *(_row(map(text, row)) for row in rows)]) + "\n"


def records(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows of the same columns as a table; the first one names them, and None is an empty cell."""
    return table(list(rows[0]), (["" if value is None else str(value) for value in row.values()] for row in rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
