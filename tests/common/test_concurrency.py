"""What runs at the same time ends at the same time."""

import asyncio

import pytest

from fedkg.common.concurrency import concurrently


class Slow:
    """Waits until it is cancelled, and takes a moment to end; tells when it has ended."""

    def __init__(self) -> None:
        self.ended = False

    async def __call__(self) -> None:
        """Ends with an error of its own, which nobody is to meet."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.ended = True
            raise OSError("an error while it is cancelled")


async def failure() -> None:
    """Fails once the others have begun."""
    await asyncio.sleep(0)
    raise ValueError("first")


async def test_results_come_in_the_order_of_the_awaitables() -> None:
    """Whichever ends first."""
    assert await concurrently(asyncio.sleep(0.01, "a"), asyncio.sleep(0, "b"), asyncio.sleep(0, "c")) == ("a", "b", "c")


async def test_nothing_gives_nothing() -> None:
    """No awaitables, no results."""
    assert await concurrently() == ()


async def test_the_first_error_is_raised_when_the_others_have_ended() -> None:
    """They are cancelled, and their own errors are lost."""
    slow = Slow()
    with pytest.raises(ValueError, match="first"):
        await concurrently(slow(), failure())
    assert slow.ended


async def test_who_is_cancelled_cancels_them_all() -> None:
    """No work goes on for a caller that has gone."""
    slow = Slow()
    task = asyncio.ensure_future(concurrently(slow(), slow()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, OSError)):
        await task
    assert slow.ended
