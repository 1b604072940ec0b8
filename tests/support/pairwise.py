"""Large matrices of cases, thinned so that every two values of different parameters still meet in some case.

Most faults need two circumstances at once, hardly any three (Kuhn, Wallace and Gallo 2004), so the pairs find nearly
what the whole matrix finds. `pytest --all` runs the matrix whole.
"""

import itertools
from collections.abc import Hashable, Mapping, Sequence

import pytest

__all__ = ["Case", "covering", "thinned"]

MARKERS = {"pairwise": 2, "each_value": 1}
"""How many values at once are to meet in some case, by the marker that says so."""
Case = Mapping[str, Hashable]
"""The values of a case by parameter."""


def covering(cases: Sequence[Case], size: int = 2) -> list[int]:
    """The numbers of some of the cases, ascending, in which every pair of values stands that stands in any of them.

    With another `size` it is every combination of so many values, of different parameters. Greedy: the case with most
    new pairs is taken next, the first of several, so that the choice is the same each time. Cases with fewer than two
    parameters have no pairs, and all stay.
    """
    pairs = [set(itertools.combinations(sorted(case.items(), key=lambda item: item[0]), size)) for case in cases]
    if not all(pairs):
        return list(range(len(cases)))
    open_, chosen = set().union(*pairs), []
    while open_:
        best = max(range(len(cases)), key=lambda number: len(pairs[number] & open_))
        chosen.append(best)
        open_ -= pairs[best]
    return sorted(chosen)


def thinned(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The items to run, and those left out.

    Of each test marked `pairwise` or `each_value` the cases of a covering set are run.
    """
    matrices: dict[tuple[int, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            for size in (size for marker, size in MARKERS.items() if item.get_closest_marker(marker)):
                matrices.setdefault((size, item.nodeid.partition("[")[0]), []).append(item)
    left_out = {item for (size, _), matrix in matrices.items() for item in _left_out(matrix, size)}
    return [item for item in items if item not in left_out], [item for item in items if item in left_out]


def _left_out(matrix: Sequence[pytest.Function], size: int) -> list[pytest.Function]:
    # values by identity: some cannot be hashed, and all cases of a test share the objects of its parameters
    cases = [{name: id(value) for name, value in item.callspec.params.items()} for item in matrix]
    kept = set(covering(cases, size))
    return [item for number, item in enumerate(matrix) if number not in kept]
