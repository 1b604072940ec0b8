"""Slots that are given in turns: one who asks for much keeps nobody waiting for longer than one who asks for little."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Hashable

__all__ = ["FairSlots"]


class FairSlots:
    """So many slots of one event loop; whoever waits has its turn by owner, and each owner's turns are in order.

    Fair queuing (Nagle 1987, RFC 970) with one request a turn: an owner with a hundred requests waiting and one with a
    single one get every other slot.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @contextlib.asynccontextmanager
    async def taken(self, owner: Hashable) -> AsyncIterator[None]:
        """A slot for what is done inside, as soon as it is the owner's turn."""
        await self._take(owner)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, owner: Hashable) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it came just now
                self._give_back()
            raise

    def _give_back(self) -> None:
        """Gives the slot to the owner whose turn it is, who then comes last; without any it is free."""
        while self._waiting:
            owner = next(iter(self._waiting))
            turns = self._waiting.pop(owner)
            turn = turns.popleft()
            if turns:
                self._waiting[owner] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
