import asyncio

import pytest

from fedkg.core import deadline


def test_without_a_deadline_there_is_all_the_time() -> None:
    """Nothing is set by default, and None sets nothing."""
    assert deadline.left() == float("inf")
    with deadline.within(None):
        assert deadline.left() == float("inf")


@pytest.mark.parametrize(("outer", "inner"), [(10, 1000), (1000, 10), (10, None)])
def test_the_earlier_one_counts(outer: float, inner: float | None) -> None:
    """An inner deadline can only be an earlier one, and ends with its block."""
    with deadline.within(outer):
        with deadline.within(inner):
            assert 5 < deadline.left() <= 10
        assert outer - 5 < deadline.left() <= outer
    assert deadline.left() == float("inf")


def test_what_is_over_is_over() -> None:
    """There is never less than no time."""
    with deadline.within(-1):
        assert deadline.left() == 0


async def test_it_belongs_to_the_task_and_those_it_starts() -> None:
    """Two tasks side by side have their own; a task that one of them starts has its starter's."""

    async def seen(seconds: float) -> float:
        with deadline.within(seconds):
            await asyncio.sleep(0)
            return await asyncio.create_task(left())

    async def left() -> float:
        return deadline.left()

    short, long = await asyncio.gather(seen(10), seen(1000))
    assert short <= 10
    assert 900 < long <= 1000
    assert deadline.left() == float("inf")
