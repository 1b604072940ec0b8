"""All that an owner has under way, in any thread and event loop, ended at once when it closes."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from fedkg.errors import FedkgError

__all__ = ["InFlight"]


class InFlight:
    """The work of one owner; once ended it ends with the error that `error` makes, and none begins any more."""

    def __init__(self, error: Callable[[], FedkgError]) -> None:
        self.ended = False
        self._error = error
        self._lock = threading.Lock()
        self._under_way: dict[asyncio.Task[object], _Work] = {}

    def check(self) -> None:
        """Raises the error where the work was ended."""
        if self.ended:
            raise self._error()

    def one(self) -> "_Part":
        """Work of the running task, which `end` ends. Within other such work of the task it is a part of that.

        Raises the error at its beginning where all was ended, and in place of whatever error it ends with after that.
        """
        return _Part(self)

    async def end(self, seconds: float) -> None:
        """Ends all work but that of the running task; waits so many seconds at most until it has ended."""
        if pending := self.signal():
            await asyncio.to_thread(concurrent.futures.wait, pending, seconds)

    def signal(self) -> list[concurrent.futures.Future[None]]:
        """Ends all work but that of the running task, without waiting; what is returned is done when that has ended."""
        task = _running()
        with self._lock:
            self.ended = True
            others = [work for of, work in self._under_way.items() if of is not task and not work.loop.is_closed()]
            done = [work.waited_for() for work in others]
        for work in others:
            with contextlib.suppress(RuntimeError):  # its loop was closed this very moment
                work.loop.call_soon_threadsafe(work.expire)
        return done

    def _begin(self) -> "_Work | None":
        """The work of the running task from now on; None where it has some. Raises the error where all was ended."""
        task = _running()
        assert task is not None, "work belongs to a task"
        with self._lock:
            if task in self._under_way:
                return None
            self.check()
            self._under_way[task] = work = _Work(asyncio.get_running_loop(), task)
            return work

    def _finish(self, work: "_Work") -> None:
        with self._lock:
            del self._under_way[work.task]
            work.ended = True
        if work.done is not None:
            work.done.set_result(None)


@dataclass(slots=True)
class _Work:
    """One task's work; `scope` ends it from within its loop, `done` is there where somebody waits for its end."""

    loop: asyncio.AbstractEventLoop
    task: asyncio.Task[object]
    scope: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))
    done: concurrent.futures.Future[None] | None = None
    ended: bool = False

    def waited_for(self) -> concurrent.futures.Future[None]:
        """What is done when it has ended; called under the owner's lock."""
        if self.done is None:
            self.done = concurrent.futures.Future()
        return self.done

    def expire(self) -> None:
        """Ends it; called by its own loop."""
        if not self.ended:
            self.scope.reschedule(self.loop.time())


class _Part:
    """The running task's work for an owner, as `async with` enters and leaves it: a dozen times a question."""

    __slots__ = ("_owner", "_work")

    def __init__(self, owner: InFlight) -> None:
        self._owner = owner
        self._work: _Work | None = None

    async def __aenter__(self) -> None:
        self._work = self._owner._begin()  # noqa: SLF001  # a part of it
        if self._work:
            await self._work.scope.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._work is None:
            return
        try:
            await self._work.scope.__aexit__(kind, error, trace)
        except Exception as late:
            if self._owner.ended:
                raise self._owner._error() from late  # noqa: SLF001
            raise
        finally:
            self._owner._finish(self._work)  # noqa: SLF001
        if self._owner.ended and isinstance(error, Exception):
            raise self._owner._error() from error  # noqa: SLF001


def _running() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
