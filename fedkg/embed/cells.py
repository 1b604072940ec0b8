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

SAMPLE = 32
"""Vectors for each cell that its centre is learnt from."""
ROUNDS = 8
BLOCK = 4_096
"""Rows that are compared with all centres at once: 33 MB of cosines with 2,000 of them."""


def centres(count: int, rows: Callable[[Numbers], HalfMatrix]) -> HalfMatrix:
    """The centres of 2 · √count cells, shape (cells, d), learnt from some of the vectors that `rows` returns.

    Numbers are those of vectors from 0 to `count`. The same vectors give the same centres.
    """
    cells = max(1, min(count, round(2 * count**0.5)))
    picked = np.unique(np.linspace(0, count - 1, min(count, SAMPLE * cells)).astype(np.int64))
    sample = np.concatenate([rows(part) for part in parted(picked)]).astype(np.float32)
    middle = sample[np.linspace(0, len(sample) - 1, cells).astype(np.int64)]
    for _ in range(ROUNDS):
        middle = _moved(middle, sample, nearest_cells(sample, middle))
    return middle.astype(np.float16)


def nearest_cells(rows: HalfMatrix | Matrix, middle: HalfMatrix | Matrix) -> Numbers:
    """Shape (len(rows),): the cell of each row."""
    wide = middle.astype(np.float32).T
    blocks = (rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK))
    parts = [(block.astype(np.float32) @ wide).argmax(axis=1) for block in blocks]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _moved(middle: Matrix, sample: Matrix, cells: Numbers) -> Matrix:
    """The mean direction of each cell's vectors; an empty cell stays where it is."""
    order = np.argsort(cells, kind="stable")
    used, starts = np.unique(cells[order], return_index=True)
    moved = middle.copy()
    moved[used] = unit_rows(np.add.reduceat(sample[order], starts, axis=0))
    return moved


def parted(numbers: Numbers) -> Iterator[Numbers]:
    """The numbers, some thousand at a time."""
    for start in range(0, len(numbers), BLOCK):
        yield numbers[start : start + BLOCK]
