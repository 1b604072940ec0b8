"""USearch compares: its cosines are numpy's, for any shape, and loading it harms no other library."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.embed.base import unit_rows
from fedkg.embed.cosine import HalfMatrix, cosine_table, cosines, cosines_in_parts
from tests.support.extras import needs


def halves(count: int, size: int, seed: int = 0) -> HalfMatrix:
    """Random unit vectors in half precision."""
    matrix = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    return unit_rows(matrix).astype(np.float16)


@given(st.integers(1, 40), st.integers(1, 400), st.integers(0, 1_000))
def test_cosines_are_numpy_s(count: int, size: int, seed: int) -> None:
    """For any number of rows and dimensions they are those of float32, to the last digits."""
    rows, vector = halves(count, size, seed), halves(1, size, seed + 1)[0]
    expected = unit_rows(rows.astype(np.float32)) @ unit_rows(vector.astype(np.float32)[np.newaxis])[0]
    scores = cosines(vector, rows)
    assert scores.dtype == np.float32
    assert scores.shape == (count,)
    assert np.allclose(scores, expected, atol=1e-6)


def test_a_cosine_does_not_depend_on_the_rows_beside_it() -> None:
    """Bit for bit the same alone, among others, from a slice and from memory that cannot be written."""
    rows, vector = halves(50, 384), halves(1, 384, 1)[0]
    scores = cosines(vector, rows)
    assert [float(cosines(vector, row[np.newaxis])[0]) for row in rows] == scores.tolist()
    assert cosines(vector, rows[::7]).tolist() == scores[::7].tolist()
    assert cosines(vector, np.frombuffer(rows.tobytes(), dtype="<f2").reshape(50, 384)).tolist() == scores.tolist()


@given(st.lists(st.integers(0, 9), max_size=6), st.booleans())
def test_rows_in_several_places_have_the_same_numbers(sizes: list[int], zeros: bool) -> None:
    """Bit for bit those of all rows in one place, in their order; empty places, and a vector of zeros, do no harm."""
    rows, vector = halves(60, 24), halves(1, 24, 1)[0] * np.float16(not zeros)
    ends = np.cumsum([0, *sizes])
    parts = [rows[start:end] for start, end in pairwise(ends)]
    assert cosines_in_parts(vector, parts).tolist() == cosines(vector, rows[: ends[-1]]).tolist()
    with pytest.raises(ValueError, match="beside rows of shape"):
        cosines_in_parts(vector, [*parts, rows[:, :5]])


@given(st.integers(1, 20), st.integers(0, 20), st.booleans())
def test_a_table_has_the_same_numbers(count: int, others: int, zeros: bool) -> None:
    """Vectors that are compared together get the cosines that each gets alone, to the digit; so do zeros and NaN."""
    vectors, rows = halves(count, 24), halves(others, 24, 1)
    vectors[:1] = 0.0 if zeros else vectors[:1]
    rows[:1] = np.nan if zeros and count % 2 else rows[:1]
    alone = np.stack([cosines(vector, rows) for vector in vectors])
    assert np.array_equal(cosine_table(vectors, rows), alone, equal_nan=True)


def test_nothing_beside_nothing_and_zeros() -> None:
    """No rows give no cosines; a vector of zeros is near to nothing, on either side."""
    rows = halves(3, 8)
    rows[1] = 0
    assert cosines(rows[0], rows[:0]).shape == (0,)
    assert cosines(np.zeros(8, dtype=np.float16), rows).tolist() == [0, 0, 0]
    assert cosines(rows[0], rows)[1] == 0


def test_numbers_that_are_none_stay_where_they_are() -> None:
    """A row that is not finite has no cosine; those beside it do."""
    rows = halves(4, 8)
    expected = cosines(rows[0], rows)
    rows[1], rows[2] = np.nan, np.inf
    scores = cosines(rows[0], rows)
    assert np.isnan(scores[1:3]).all()
    assert scores[[0, 3]].tolist() == expected[[0, 3]].tolist()


@pytest.mark.parametrize("shape", [(8, 2), (9,), (2, 7)])
def test_shapes_have_to_fit(shape: tuple[int, ...]) -> None:
    """What USearch would read beyond its end is refused before."""
    with pytest.raises(ValueError, match="beside rows of shape"):
        cosines(halves(1, 8)[0], np.ones(shape, dtype=np.float16))


@needs("embeddings", "onnxruntime")
def test_onnxruntime_loads_after_usearch() -> None:
    """Vectors from the cache are compared before the model is needed; it loads all the same."""
    code = (
        "import numpy as np\n"
        "from fedkg.embed.cosine import cosines\n"
        "cosines(np.ones(4, np.float16), np.ones((2, 4), np.float16))\n"
        "import onnxruntime\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
