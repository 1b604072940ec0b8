"""What becomes of planned and written paths, as figures."""

from fedkg.core.path_errors import PathErrors


def test_the_rest_is_in_the_graph() -> None:
    """Each fault has its figure, also where there is none of it; they add up."""
    errors = PathErrors(5, {"format errors": 1, "steps not in the graph": 2})
    assert errors.measures == {
        "paths written": 5,
        "paths in the graph": 2,
        "format errors": 1,
        "relations not in the graph": 0,
        "steps not in the graph": 2,
    }


def test_nothing_written_has_no_figures() -> None:
    """No share is to be had of nothing."""
    assert PathErrors().measures == {}
