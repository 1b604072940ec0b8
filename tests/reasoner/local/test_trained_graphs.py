"""The weights of a trained scorer by graph: which graph is asked, and how the file is read."""

from pathlib import Path

import pytest

from fedkg.errors import ModelNameError
from fedkg.reasoner.local.trained_graphs import FILE, TrainedGraph, graph_of, read, written

ASKED = {"directed by": ("who made X", "who is behind X")}
FILMS = TrainedGraph(("films.nt",), 3.2, frozenset({"directed by", "genre", "language"}), ASKED, topics_answer=False)
BOOKS = TrainedGraph(("books.nt",), 1.6, frozenset({"author", "genre"}))


@pytest.mark.parametrize(
    ("relations", "graph"),
    [
        ({"genre", "language"}, FILMS),
        ({"author", "genre", "publisher"}, BOOKS),
        ({"genre", "treats", "causes"}, None),
        (set(), None),
    ],
)
def test_the_graph_is_the_one_that_most_relations_are_of(relations: set[str], graph: TrainedGraph | None) -> None:
    """Not one that has fewer than half of them."""
    assert graph_of((FILMS, BOOKS), relations) == graph


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A folder without one has no graphs."""
    assert read(tmp_path) == ()
    (tmp_path / FILE).write_bytes(written([FILMS, BOOKS]))
    assert read(tmp_path) == (FILMS, BOOKS)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """With what is wrong with it."""
    (tmp_path / FILE).write_text("[{}]")
    with pytest.raises(ModelNameError, match=f"{FILE} of the scorer in .* cannot be read"):
        read(tmp_path)
