"""The papers' figures as data."""

import re

import pytest

from fedkg.bench.report.published import Figures, _known, published

FIGURE = re.compile(r"-|\d{1,3}(\.\d{1,2})?|\d{1,2},\d{3}")


@pytest.mark.parametrize("table", _known().table, ids=lambda table: f"{table.paper} {table.table}")
def test_every_figure_has_its_source(table: Figures) -> None:
    """Paper and table are named, every row has a figure or a dash in every column, and a share is no more than all."""
    assert _known().papers[table.paper].cite
    assert re.fullmatch(r"Table \d+", table.table)
    for _, *figures in table.rows:
        assert len(figures) == len(table.columns) - 1
        assert all(FIGURE.fullmatch(figure) for figure in figures)
        shares = [
            figure for name, figure in zip(table.columns[1:], figures, strict=True) if "%" in name and figure != "-"
        ]
        assert all(0 < float(figure) <= 100 for figure in shares)


def test_published_tables_are_marked_and_cited() -> None:
    """Nobody takes them for ours."""
    tables = published("ablation")
    assert [table.title.split(" (")[0] for table in tables] == [
        "FiDeLiS v4, Table 2",
        "GCR, Table 3",
        "EPERM, Table 3",
        "EPERM, Table 4",
    ]
    assert all("published, other model and graph" in table.title for table in tables)
    assert "arXiv:2405.13873v4" in tables[0].note
    assert published("nothing") == ()
