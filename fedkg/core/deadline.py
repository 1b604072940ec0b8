"""The instant at which the caller needs an answer, known to everything that is done for them.

A deadline belongs to the running task and the tasks that it starts, so it need not be handed through every call.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["left", "within"]

_end: ContextVar[float] = ContextVar("deadline", default=float("inf"))


def left() -> float:
    """Seconds until the deadline, never less than 0; infinite where there is none."""
    return max(0.0, _end.get() - time.monotonic())


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Sets the deadline for what is done inside; an earlier one that is set already stays. None sets none."""
    end = _end.get() if seconds is None else min(_end.get(), time.monotonic() + seconds)
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)
