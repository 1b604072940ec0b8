"""Tables of figures, as the commands about results print them."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.bench.scoring.summary import MeanEstimate
from fedkg.cli import show
from fedkg.cli.show import plain

__all__ = ["add_row", "cells", "new_table", "show_table"]


def new_table(*columns: str) -> Table:
    """An empty table with those columns."""
    table = Table(*columns[:1], box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns[1:]:
        table.add_column(column)
    return table


def show_table(out: Console, table: Table) -> None:
    """Prints a table that has any rows."""
    if table.row_count:
        out.print()
        show.table(out, table)


def add_row(table: Table, *cells: str) -> None:
    """Adds a row, each cell as plain text."""
    table.add_row(*(Text(plain(cell)) for cell in cells))


def cells(estimate: MeanEstimate | None, name: str = "") -> tuple[str, str]:
    """The mean, with the measure's own name where it needs one, and its interval."""
    if estimate is None:
        return "" if not name else f"- {name}", ""
    mean = f"{estimate.mean:.4f} {name}".strip()
    return mean, f"{estimate.low:.4f} to {estimate.high:.4f}"
