"""Cells: vectors put into groups of neighbours, so that a search looks at the groups that are near and no others.

Each vector belongs to the cell whose centre it is most like (k-means by cosine, as in an inverted file with an exact
comparison inside of its lists).
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from fedkg.embed.base import Matrix, unit_rows
from fedkg.embed.cosine import HalfMatrix

__all__ = ["Numbers", "centres", "nearest_cells", "parted"]

Numbers = NDArray[np.int64]

SAMPLE = 16
"""Vectors for each cell that its centre is learnt from."""
ROUNDS = 5
BLOCK = 2_048
"""Rows that are compared with all centres at once: 33 MB of cosines with 4,000 of them."""


def centres(count: int, rows: Callable[[Numbers], HalfMatrix]) -> HalfMatrix:
    """The centres of 4 · √count cells, shape (cells, d), learnt from some of the vectors that `rows` returns.

    Numbers are those of vectors from 0 to `count`. The same vectors give the same centres.
    """
    cells = max(1, min(count, round(4 * count**0.5)))
    picked = np.unique(np.linspace(0, count - 1, min(count, SAMPLE * cells)).astype(np.int64))
    sample = np.concatenate([rows(part) for part in parted(picked)])
    middle = sample[np.linspace(0, len(sample) - 1, cells).astype(np.int64)].astype(np.float32)
    for _ in range(ROUNDS):
        middle = _moved(middle, sample)
    return middle.astype(np.float16)


def nearest_cells(rows: HalfMatrix, middle: HalfMatrix | Matrix) -> Numbers:
    """Shape (len(rows),): the cell of each row."""
    wide = middle.astype(np.float32).T
    cells = [(block @ wide).argmax(axis=1) for block in _blocks(rows)]
    return np.concatenate(cells) if cells else np.zeros(0, dtype=np.int64)


def _moved(middle: Matrix, sample: HalfMatrix) -> Matrix:
    """The mean direction of each cell's vectors; an empty cell stays where it is."""
    sums = np.zeros_like(middle)
    for block in _blocks(sample):
        cells = (block @ middle.T).argmax(axis=1)
        order = np.argsort(cells, kind="stable")
        used, starts = np.unique(cells[order], return_index=True)
        sums[used] += np.add.reduceat(block[order], starts, axis=0)
    return np.where(sums.any(axis=1, keepdims=True), unit_rows(sums), middle)


def _blocks(rows: HalfMatrix) -> Iterator[Matrix]:
    """The rows in single precision, some thousand at a time: so large are never all of them in memory."""
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK].astype(np.float32)


def parted(numbers: Numbers) -> Iterator[Numbers]:
    """The numbers, some thousand at a time."""
    for start in range(0, len(numbers), BLOCK):
        yield numbers[start : start + BLOCK]
