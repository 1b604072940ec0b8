import asyncio
from collections.abc import AsyncIterator

import pytest

from fedkg.common.in_order import in_order


async def counting(most: int) -> AsyncIterator[int]:
    """The numbers below `most`, one by one."""
    for number in range(most):
        yield number


async def test_results_come_in_the_order_of_the_items() -> None:
    """Whichever is ready first, and never more at a time than were allowed."""
    running: set[int] = set()
    most = 0
    taken: list[int] = []

    async def work(number: int) -> int:
        nonlocal most
        running.add(number)
        most = max(most, len(running))
        for _ in range(7 * number % 5):
            await asyncio.sleep(0)
        running.remove(number)
        return number

    async def take(number: int) -> None:
        taken.append(number)

    await in_order(counting(30), work, take, 3)
    assert taken == list(range(30))
    assert most == 3


async def test_a_result_waits_for_no_later_item() -> None:
    """Who types the second question after the first answer gets the first answer."""
    taken: asyncio.Queue[int] = asyncio.Queue()

    async def typed() -> AsyncIterator[int]:
        yield 1
        assert await taken.get() == 1
        yield 2

    async def work(number: int) -> int:
        return number

    await in_order(typed(), work, taken.put, 1)
    assert taken.get_nowait() == 2


async def test_an_error_ends_what_is_under_way() -> None:
    """Nothing runs on behind the caller's back."""
    ended: list[int] = []

    async def work(number: int) -> int:
        if number == 1:
            raise ValueError(number)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)
        return number

    async def take(number: int) -> None:
        raise AssertionError(number)

    with pytest.raises(ValueError, match="1"):
        await in_order(pair(), work, take, 2)
    assert ended == [2]


async def pair() -> AsyncIterator[int]:
    """One, which fails, then two."""
    yield 1
    yield 2
