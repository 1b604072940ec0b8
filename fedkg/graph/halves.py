"""Batches that are too much for an endpoint are asked again in halves, a bounded number of times."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from fedkg.errors import Action, EndpointError

__all__ = ["FAILURES", "Patience", "halves", "in_halves"]

FAILURES = 8
"""Requests of one batch that may fail: enough to find the one of fifty that is too much, too few to wear out a host."""

K = TypeVar("K")
V = TypeVar("V")


class Patience:
    """How many more requests of one batch may fail before the rest of the batch is given up."""

    def __init__(self, failures: int = FAILURES) -> None:
        self.left = failures

    def lasts(self, error: EndpointError) -> bool:
        """Whether to ask for less after this error, which it counts."""
        self.left -= 1
        return error.action is Action.RESHAPE and self.left > 0


def halves(items: Sequence[K]) -> list[Sequence[K]]:
    """Two or more items in two parts."""
    middle = len(items) // 2
    return [items[:middle], items[middle:]]


async def in_halves(
    items: Sequence[K], ask: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], patience: Patience | None = None
) -> dict[K, V]:
    """What `ask` says of all items, asked at once or, where that is too much, in parts.

    Raises the EndpointError of an item that is too much alone, of the last failure that is borne, or that smaller
    requests do not help with.
    """
    patience = patience or Patience()
    try:
        return dict(await ask(items))
    except EndpointError as error:
        if not patience.lasts(error) or len(items) < 2:
            raise
    left, right = await asyncio.gather(*(in_halves(part, ask, patience) for part in halves(items)))
    return left | right
