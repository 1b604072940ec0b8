"""Time that passes only where everybody waits: what is about patience and pace is the same on machines of any speed."""

import asyncio
import functools
import selectors
import time
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec

import pytest

__all__ = ["virtual_time"]

P = ParamSpec("P")
TICK = 1e-6
"""What each turn of the loop takes: a pace may want to wait for less than the clock's rounding lets through."""


class _Skipping(selectors.DefaultSelector):
    """A selector that does not wait for the next timer: it lets the clock jump there.

    Whoever waits for a thread or a connection, and has set a timer, would be told at once that it is over.
    """

    now = 1_000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready; waits for real where no timer is set."""
        ready = super().select(0 if timeout else timeout)
        self.now += TICK if ready or not timeout else max(timeout, TICK)
        return ready


def virtual_time(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """The asynchronous test as one whose loop and `time.monotonic` have a clock that jumps from timer to timer.

    For tests without threads, connections and asynchronous fixtures.
    """

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        selector = _Skipping()
        with (
            pytest.MonkeyPatch.context() as patch,
            asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner,
        ):
            patch.setattr(time, "monotonic", lambda: selector.now)
            runner.run(_awaited(test(*args, **kwargs)))

    return run


async def _awaited(result: Awaitable[Any]) -> None:
    await result
