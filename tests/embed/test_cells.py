"""Cells: each vector is in the cell of the centre that it is most like."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedkg.embed import cells
from tests.support.vectors import halves


@given(st.integers(1, 60), st.integers(1, 12))
def test_each_row_is_with_its_nearest_centre(count: int, centres: int) -> None:
    """As a product with all centres tells."""
    rows, middle = halves(count), halves(centres, seed=1)
    table = rows.astype(np.float32) @ middle.astype(np.float32).T
    chosen = cells.nearest_cells(rows, middle)
    assert chosen.shape == (count,)
    assert np.allclose(table[np.arange(count), chosen], table.max(axis=1), atol=1e-6)


def test_centres_are_where_the_vectors_are() -> None:
    """Of vectors in a few heaps, most have a centre in their own; the same vectors give the same centres."""
    heaps = halves(4, seed=2)
    rows = (np.repeat(heaps, 100, axis=0) + halves(400, seed=3) * np.float16(0.1)).astype(np.float16)
    middle = cells.centres(400, lambda numbers: rows[numbers])
    assert middle.shape == (80, 32)
    assert np.isfinite(middle).all()
    near = cells.nearest_cells(rows, middle)
    assert len(set(near[:100]) & set(near[100:])) == 0
    assert np.array_equal(middle, cells.centres(400, lambda numbers: rows[numbers]))


@given(st.integers(1, 9))
def test_few_or_equal_vectors_have_cells_too(count: int) -> None:
    """One vector, vectors of zeros, and the same one several times."""
    for rows in (halves(count), np.zeros((count, 4), dtype=np.float16), np.repeat(halves(1), count, axis=0)):
        middle = cells.centres(count, lambda numbers, rows=rows: rows[numbers])  # type: ignore[misc]
        assert 1 <= len(middle) <= count
        assert np.isfinite(middle).all()


def test_parts_are_the_whole() -> None:
    """In their order."""
    numbers = np.arange(3 * cells.BLOCK + 5)
    assert np.array_equal(np.concatenate(list(cells.parted(numbers))), numbers)
