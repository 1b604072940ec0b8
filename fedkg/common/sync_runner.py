"""Coroutines run for callers that are not asynchronous, from as many threads as they come."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fedkg.errors import InputError

__all__ = ["SyncRunner", "check_no_loop", "in_loop"]

T = TypeVar("T")


class SyncRunner:
    """Runs coroutines, each in an event loop that no other one runs in meanwhile.

    Loops are kept for later runs, so that their connections stay open: as many as there were runs at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[asyncio.Runner] = []
        self._closed = False

    def run(self, work: Coroutine[object, object, T]) -> T:
        """The coroutine's result. Raises what it raises; no event loop may run in this thread."""
        runner = self._take()
        try:
            return runner.run(work)
        finally:
            self._put_back(runner)

    def close(self) -> None:
        """Closes the loops that run nothing, and each of the others as soon as its run has ended."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for runner in idle:
            runner.close()

    def _take(self) -> asyncio.Runner:
        with self._lock:
            return self._idle.pop() if self._idle else asyncio.Runner(loop_factory=_loop)

    def _put_back(self, runner: asyncio.Runner) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(runner)
                return
        runner.close()


class _UnawaitedThreads(ThreadPoolExecutor):
    """Threads that are not waited for when their loop closes: what one of them is doing cannot be stopped anyway."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Lets the threads end."""
        del wait, cancel_futures
        super().shutdown(wait=False, cancel_futures=True)


def in_loop() -> bool:
    """Whether this thread runs an event loop now."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def check_no_loop() -> None:
    """Raises InputError inside a running event loop."""
    if in_loop():
        raise InputError(
            "an event loop is running already", hint="await the coroutine instead: fedkg.aask, Session.ask"
        )


def _loop() -> asyncio.AbstractEventLoop:
    with contextlib.ExitStack() as made:
        with _uninterrupted():
            loop = asyncio.new_event_loop()
            made.callback(loop.close)
        loop.set_default_executor(_UnawaitedThreads(thread_name_prefix="fedkg"))
        made.pop_all()
    return loop


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C comes when this is done: an event loop that is made by half shows a traceback when it is thrown away."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
