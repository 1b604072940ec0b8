"""Several awaitables at the same time, none of which outlives the others."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar, overload

__all__ = ["concurrently"]

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


@overload
async def concurrently(first: Awaitable[A], second: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def concurrently(*awaitables: Awaitable[T]) -> tuple[T, ...]: ...
async def concurrently(*awaitables: Awaitable[Any]) -> tuple[Any, ...]:
    """The results in the order of the awaitables.

    Raises the first error of any of them, once the others are cancelled and have ended: `asyncio.gather` would leave
    them running, to end with an error that is never read when the event loop is closed. A single one needs no task.
    """
    if len(awaitables) <= 1:
        return tuple([await awaitable for awaitable in awaitables])
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return tuple(await asyncio.gather(*tasks))
    finally:
        if not all(task.done() for task in tasks):
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
