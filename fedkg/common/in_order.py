"""Work on items that arrive one by one: several at a time, and the results in the order of the items."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from fedkg.common.concurrency import concurrently

__all__ = ["in_order"]

T = TypeVar("T")
R = TypeVar("R")
AHEAD = 4
"""Results that may wait for an earlier one, for each item that is worked on at a time."""


async def in_order(
    items: AsyncIterator[T],
    work: Callable[[T], Awaitable[R]],
    take: Callable[[R], Awaitable[None]],
    width: int,
) -> None:
    """Hands what `work` makes of each item to `take`, in the order of the items, as soon as it is its turn.

    At most `width` items are worked on at a time. Raises the first error of any of the three; what is under way is
    cancelled then.
    """
    turns = asyncio.Semaphore(width)
    tasks: asyncio.Queue[asyncio.Task[R] | None] = asyncio.Queue(AHEAD * width)
    running: set[asyncio.Task[R]] = set()

    async def worked(item: T) -> R:
        async with turns:
            return await work(item)

    async def start() -> None:
        async for item in items:
            task = asyncio.create_task(worked(item))
            running.add(task)
            await tasks.put(task)
        await tasks.put(None)

    async def finish() -> None:
        while task := await tasks.get():
            await take(await task)
            running.discard(task)

    try:
        await concurrently(start(), finish())
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
