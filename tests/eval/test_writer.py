"""The rows of trained writers: which model writes in each, and how they are shown."""

from typing import Any

from eval.quality.writer import SETS, VARIANTS, table
from fedkg.bench.data import definitions
from fedkg.config.settings import SearchSettings


def cell(hits: float, **measures: float) -> dict[str, Any]:
    """The figures of one row and set."""
    return {"questions": 30, "hits_at_1": hits, "hit": hits, "path_validity": 1.0, "measures": measures}


def test_every_row_can_be_asked() -> None:
    """Its settings exist, its sets have a graph, and its writer is an option."""
    assert all(definitions.find(name).graph for name in SETS)
    for row in VARIANTS.values():
        SearchSettings(**row.search)
        assert row.method in {"gcr", "eperm"}
        assert row.writer in {"writer", "base", "planner", ""}


def test_rows_are_shown_by_set_with_the_share_of_paths_that_exist() -> None:
    """A set that a row was not asked is an empty cell; invented paths are those of rows without the constraint."""
    free = cell(0.0, **{"paths in the graph": 1, "paths written": 4})
    shown = table(
        {
            "writer": {"steps": 3},
            "trie, K = 1": {"a": cell(0.9), "b": cell(0.8)},
            "without constraint, K = 1": {"a": free},
        }
    )
    assert "| trie, K = 1 | 0.900 (30) | 0.800 (30) |" in shown
    assert "| without constraint, K = 1 | 0.000 (30) |  |" in shown
    assert "steps" not in shown
    assert "without the constraint: 0.250." in shown


def test_hit_is_shown_where_answers_are_ranked_alike() -> None:
    """Where many ends answer, Hits@1 is a share of them."""
    assert "| trie, K = 3 | 0.500, Hit 1.000 (30) |" in table({"trie, K = 3": {"a": cell(0.5) | {"hit": 1.0}}})
