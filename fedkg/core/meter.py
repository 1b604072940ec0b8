"""What questions cost, counted where it happens.

The counts of a session go on as long as it lives. What one question costs is counted beside them: its own meter belongs
to the running task and the tasks that it starts, so it need not be handed through every call.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Literal

from fedkg.core.usage import Usage

__all__ = ["Meter", "asker", "count"]

_own: ContextVar["Meter | None"] = ContextVar("meter", default=None)


def count(figure: Literal["cache_hits", "labels_embedded"], number: int) -> None:
    """Counts what was no request, for the question that is being answered; for none where there is none."""
    if meter := _own.get():
        meter.add(figure, number)


def asker() -> "Meter | None":
    """The meter of the question that is being answered, by which questions are told apart; None where there is none."""
    return _own.get()


class Meter:
    """Counts what endpoints were asked; several endpoints may share one.

    A round trip is a wave of requests: it begins when a request starts while no other is in flight. `counts` are the
    figures of a usage by name, but for the requests.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._by_kind: Counter[str] = Counter()
        self._in_flight = 0
        self._lock = threading.Lock()  # a session's meter counts for all of its threads

    def add(self, name: str, number: int) -> None:
        """Adds to one of the counts."""
        with self._lock:
            self.counts[name] += number

    @contextlib.contextmanager
    def own(self) -> Iterator[None]:
        """Counts what is done inside here, too, whichever meter it is counted by."""
        token = _own.set(self)
        try:
            yield
        finally:
            _own.reset(token)

    @contextlib.contextmanager
    def request(self, kind: str) -> Iterator[None]:
        """Counts one request of that kind while it is in flight."""
        meters = self._both()
        for meter in meters:
            meter._started(kind)  # noqa: SLF001  # another one of this class
        try:
            yield
        finally:
            for meter in meters:
                meter._ended()  # noqa: SLF001

    def received(self, size: int) -> None:
        """Counts `size` bytes of a body."""
        for meter in self._both():
            meter.add("bytes", size)

    def usage(self) -> Usage:
        """Everything since the meter was made; cache hits and embedded labels where it is a question's own."""
        with self._lock:
            kinds, counts = self._by_kind.copy(), self.counts.copy()
        return Usage(
            requests=kinds.total(),
            round_trips=counts["round_trips"],
            bytes=counts["bytes"],
            cache_hits=counts["cache_hits"],
            labels_embedded=counts["labels_embedded"],
            by_kind=dict(sorted(kinds.items())),
        )

    def since(self, before: Usage) -> Usage:
        """What came on top of an earlier `usage()`."""
        return self.usage().since(before)

    def _both(self) -> set["Meter"]:
        """This one and that of the running question."""
        return {self, _own.get() or self}

    def _started(self, kind: str) -> None:
        with self._lock:
            self._by_kind[kind] += 1
            self.counts["round_trips"] += self._in_flight == 0
            self._in_flight += 1

    def _ended(self) -> None:
        with self._lock:
            self._in_flight -= 1
