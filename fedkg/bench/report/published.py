"""The figures that the papers print, as data, to stand beside ours; they come from other models and other graphs."""

from functools import cache

import msgspec

from fedkg.bench.report.tables import Table
from fedkg.common import toml
from fedkg.config.resources import folder
from fedkg.errors import DatasetError

__all__ = ["Figures", "published"]


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A paper: what we call it, and how it is cited."""

    name: str
    cite: str


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of a paper.

    `section` is the part of a report that it stands in; "-" is a figure that the paper does not have.
    """

    paper: str
    table: str
    section: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Published(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `eval/published.toml` holds."""

    papers: dict[str, Paper]
    table: tuple[Figures, ...]


def published(section: str) -> tuple[Table, ...]:
    """The papers' tables for a part of a report, each marked as what it is."""
    known = _known()
    return tuple(_table(figures, known.papers[figures.paper]) for figures in known.table if figures.section == section)


@cache
def _known() -> Published:
    return toml.read(folder("eval") / "published.toml", Published, DatasetError)


def _table(figures: Figures, paper: Paper) -> Table:
    title = f"{paper.name}, {figures.table} (published, other model and graph)"
    return Table(title, figures.columns, figures.rows, f"{figures.table} of: {paper.cite}")
