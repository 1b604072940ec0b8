"""What belongs to an event loop: locks, slots and connections of one loop may not be used in another."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["PerLoop"]

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value for each event loop, which `make` makes at its first use; those of closed loops are dropped."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[asyncio.AbstractEventLoop, T] = {}

    def __len__(self) -> int:
        """How many loops have a value."""
        return len(self._values)

    def here(self) -> T:
        """The value of the running event loop."""
        loop = asyncio.get_running_loop()
        for old in tuple(self._values):
            if old.is_closed():
                self._values.pop(old, None)
        if loop not in self._values:
            self._values[loop] = self._make()
        return self._values[loop]

    def pop(self) -> T | None:
        """Takes out the value of the running event loop, to be closed; None where there is none."""
        return self._values.pop(asyncio.get_running_loop(), None)
