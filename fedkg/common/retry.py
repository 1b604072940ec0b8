"""How what failed is tried again: after growing waits, and without a warning for each.

That a service is asked again is daily business and a line for those who debug; giving up is an error of its own. The
loop is written here because stamina reports each retry to hooks that are global: they belong to the program that
imports fedkg. Its test mode (`stamina.set_testing`) is followed: there is no waiting in it.
"""

import asyncio
import random
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Self

__all__ = ["LONGEST", "RetryAttempt", "Retrying", "retrying"]

FIRST, JITTER = 0.1, 1.0
MOST_DOUBLED = 10
LONGEST = 5.0
"""Seconds of the longest wait that is not one that the other side asked for."""
Worth = Callable[[Exception], bool | float]
"""Says of an exception whether to try again, or after how many seconds."""


class RetryAttempt:
    """One of the attempts, a context manager: an exception that is worth another attempt goes no further.

    `num` counts from 1; `wait` is how many seconds to wait before the next one, None where there is none.
    """

    def __init__(self, num: int, on: Worth, *, last: bool) -> None:
        self.num = num
        self.wait: float | None = None
        self._on = on
        self._last = last

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        worth = self._on(error)
        if worth is False or self._last:
            return False
        self.wait = _backoff(self.num) if worth is True else worth
        return True


class Retrying:
    """The attempts, one after the other, until one of them ends without an exception."""

    def __init__(self, on: Worth, attempts: int) -> None:
        self._on = on
        self._attempts = attempts
        self._attempt: RetryAttempt | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RetryAttempt:
        number = 1
        if previous := self._attempt:
            if previous.wait is None:
                raise StopAsyncIteration
            await asyncio.sleep(0 if _testing() else previous.wait)
            number += previous.num
        self._attempt = RetryAttempt(number, self._on, last=number >= self._attempts)
        return self._attempt


def retrying(on: Worth, attempts: int) -> Retrying:
    """At most that many attempts, each a context manager, until one ends without an exception.

    `on` says of an exception whether to try again, or after how many seconds; otherwise it is raised.
    """
    return Retrying(on, attempts)


def _testing() -> bool:
    """Whether the program has switched stamina to its test mode."""
    stamina = sys.modules.get("stamina")
    return stamina is not None and stamina.is_testing()


def _backoff(number: int) -> float:
    """Seconds after the attempt of that number: twice as many each time, and some at random."""
    growing = FIRST * 2.0 ** min(number - 1, MOST_DOUBLED)
    return min(LONGEST, growing + random.uniform(0, JITTER))  # noqa: S311  # no secret
