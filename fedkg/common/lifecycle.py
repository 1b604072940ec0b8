"""The life of what asks asynchronously: run from plain programs, in any thread.

Closed at once, with all that is under way.
"""

import asyncio
import contextlib
from collections.abc import Coroutine
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from fedkg.common.in_flight import InFlight
from fedkg.common.sync_runner import SyncRunner, check_no_loop, in_loop
from fedkg.errors import InputError, SessionClosedError

__all__ = ["Lifecycle"]

T = TypeVar("T")

ENDING = 0.1
"""Seconds that closing waits for the work that it ends."""


class Lifecycle:
    """An asynchronous context manager, and a plain one with `run`.

    Who inherits from it does all its work within `self._in_flight.one()`, and frees in `_free` and `_free_files` what
    it has opened.
    """

    def __init__(self) -> None:
        self._in_flight = InFlight(partial(SessionClosedError, "the session is closed"))
        self._sync = SyncRunner()
        self._freed = False

    def run(self, work: Coroutine[object, object, T]) -> T:
        """Runs one of the session's coroutines to its end, for callers that are not asynchronous, in whichever thread.

        Raises InputError inside a running event loop, such as a notebook's, and SessionClosedError after `close`.
        """
        try:
            check_no_loop()
            self._in_flight.check()
        except InputError:
            work.close()
            raise
        return self._sync.run(self._ended_with_session(work))

    async def aclose(self) -> None:
        """Ends what is under way, writes down the labels that were shown, and frees what the session has opened.

        All of it is freed, whatever fails. The first call counts; raises the last error of what could not be closed.
        """
        await self._in_flight.end(ENDING)
        self._freed = True
        try:
            await self._free()
        finally:
            await asyncio.to_thread(self._sync.close)

    def close(self) -> None:
        """`aclose` for callers that are not asynchronous.

        Inside a running event loop it frees files and threads only, and raises InputError: connections need `aclose`.
        """
        if self._freed:
            return
        if in_loop():
            self._in_flight.signal()
            self._freed = True
            self._free_files()
            raise InputError("an event loop is running already", hint="await Session.aclose instead")
        self._sync.run(self.aclose())

    async def _free(self) -> None:
        """Frees all that was opened. Raises the last error of what could not be closed."""

    def _free_files(self) -> None:
        """Frees what can be freed without an event loop: files and threads."""

    async def _ended_with_session(self, work: Coroutine[object, object, T]) -> T:
        with contextlib.closing(work):
            async with self._in_flight.one():
                return await work

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        check_no_loop()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
