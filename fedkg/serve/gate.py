"""How many questions a server answers at once; some more wait for their turn, all others are told to come back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fedkg.errors import DrainingError, OverLimitError

__all__ = ["Gate"]

PAUSE = 2.0
"""Seconds after which who found the server busy may try again."""


class Gate:
    """Lets `at_once` through at a time, and `most_waiting` wait in the order in which they came."""

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._most_waiting = most_waiting
        self.under_way = 0
        self.waiting = 0
        self.closed = False

    @property
    def empty(self) -> bool:
        """Whether nothing is under way and nothing waits."""
        return not self.under_way and not self.waiting

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """One turn. Raises OverLimitError where as many are waiting as may, DrainingError where the gate is closed."""
        if self.closed:
            raise DrainingError("the server is shutting down", wait=PAUSE)
        if self._free.locked() and self.waiting >= self._most_waiting:
            raise OverLimitError("the server has too many questions under way", wait=PAUSE)
        await self._wait()
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self._free.release()

    async def _wait(self) -> None:
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
