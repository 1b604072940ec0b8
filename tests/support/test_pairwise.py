"""The thinned matrices of `make test`."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from tests.support.pairwise import covering

SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=4)


@given(SIZES, st.randoms(use_true_random=False))
def test_every_pair_of_values_stays(sizes: list[int], draw: random.Random) -> None:
    """Of any part of a product, and no case stays that has nothing of its own to show."""
    product = [dict(zip("abcd", values, strict=False)) for values in itertools.product(*map(range, sizes))]
    cases = draw.sample(product, draw.randint(1, len(product)))
    kept = [cases[number] for number in covering(cases)]
    assert _pairs(kept) == _pairs(cases)
    assert len(kept) <= len(_pairs(cases))


def test_a_large_matrix_becomes_small() -> None:
    """Of ten methods by four switches a fifth of the cases is left, of two parameters every case."""
    matrix = [dict(zip("abcde", values, strict=True)) for values in itertools.product(range(10), *[range(2)] * 4)]
    assert 20 <= len(covering(matrix)) <= 24
    table = [{"method": method, "model": model} for method in range(10) for model in range(4)]
    assert covering(table) == list(range(40))
    assert covering([{"method": method} for method in range(10)]) == list(range(10))


def test_each_value_stays_once() -> None:
    """Of ten methods by four models ten cases, in which each of both stands."""
    table = [{"method": method, "model": model} for method in range(10) for model in range(4)]
    kept = [table[number] for number in covering(table, 1)]
    assert len(kept) == 10
    assert {case["method"] for case in kept} == set(range(10))
    assert {case["model"] for case in kept} == set(range(4))


def _pairs(cases: list[dict[str, int]]) -> set[tuple[tuple[str, int], ...]]:
    return {pair for case in cases for pair in itertools.combinations(sorted(case.items()), 2)}
