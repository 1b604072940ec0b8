"""The instant at which the caller needs an answer, known to everything that is done for them.

A deadline belongs to the running task and the tasks that it starts, so it need not be handed through every call.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event

__all__ = ["left", "until_left", "within"]

_end: ContextVar[float] = ContextVar("deadline", default=float("inf"))
_gone: ContextVar[Event | None] = ContextVar("gone", default=None)


def left() -> float:
    """Seconds until the deadline, never less than 0; infinite where there is none."""
    if (gone := _gone.get()) and gone.is_set():
        return 0.0
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


@contextmanager
def until_left() -> Iterator[None]:
    """Ends the time of a thread that is started inside when the block is left, however that comes about.

    A thread cannot be cancelled; one that looks at `left` from time to time so ends with its caller.
    """
    gone = Event()
    token = _gone.set(gone)
    try:
        yield
    finally:
        gone.set()
        _gone.reset(token)
