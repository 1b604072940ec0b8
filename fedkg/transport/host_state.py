"""What is remembered of hosts beyond one request: bans, pauses, failures, engines.

Shared by all processes of one machine.

A ban holds for every client behind the address, so a process that was not there has to know of it. The store is shared;
each process looks at it once a second at most, and writes only what has changed.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from fedkg.cache.off_loop import at_once, off_loop
from fedkg.cache.store import Store
from fedkg.common.one_line import line
from fedkg.config.dialects import Engine
from fedkg.config.settings import masked
from fedkg.errors import Action, EndpointError, TruncatedError

__all__ = ["MOST_ERRORS", "PAUSE", "Clock", "DetectedEngine", "HostRegistry", "HostState", "origin"]

NAMESPACE = "manners"
FRESH = 1.0
MINUTE = 60.0
MONTH = 30 * 86_400.0
WEEK = 7 * 86_400.0
STEP = 2.0
URLS = 50
MOST_ERRORS = 1000
"""Errors of a minute that are counted: a larger budget is none."""
LONG = 60.0
"""A longer wait than these seconds is nothing to sit through: the caller is told instead."""
FAILURES = 5
"""So many failures in a row shut a host."""
PAUSE = 30.0
"""Seconds for which a host that fails is left alone."""

log = logging.getLogger(__name__)

Instant = Annotated[float, msgspec.Meta(ge=0)]


class Clock(msgspec.Struct, frozen=True):
    """Time as it passes: `now` in seconds, `sleep` waits that many, `wall` in seconds since 1970.

    Tests bring their own.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], float] = time.time


class DetectedEngine(msgspec.Struct, frozen=True):
    """The engine that the replies of one URL showed, and when; `generic`: it was asked and showed none."""

    engine: Engine
    at: Instant


class HostState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of one host; instants are seconds since 1970, so that every process understands them.

    A short wait that it asked for is waited for (`not_before`). A long one, a ban, a row of failures or too many in a
    minute shut it (`shut_until`); after that one request goes first (until `trial_until`), and only when it is answered
    may the others. `failures` in a row, `errors`: when the last requests failed, `why` the last of them did, `engines`
    by URL. `at`: when this was written; where that is later than now the clock has gone back since.
    """

    shut_until: Instant = 0.0
    not_before: Instant = 0.0
    trial_until: Instant = 0.0
    failures: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    errors: Annotated[tuple[Instant, ...], msgspec.Meta(max_length=MOST_ERRORS)] = ()
    why: Annotated[str, msgspec.Meta(max_length=500)] = ""
    engines: Annotated[dict[str, DetectedEngine], msgspec.Meta(max_length=URLS)] = {}
    at: Instant = 0.0

    def ahead(self, now: float) -> bool:
        """Whether the clock has gone back since this was written; small steps are those that keep clocks right."""
        return self.at > now + STEP

    def moved(self, now: float) -> "HostState":
        """With its instants as far ahead of now as they were when it was written, where the clock has gone back."""
        if not self.ahead(now):
            return self
        back = self.at - now
        return msgspec.structs.replace(
            self,
            at=now,
            shut_until=max(0.0, self.shut_until - back),
            not_before=max(0.0, self.not_before - back),
            trial_until=max(0.0, self.trial_until - back),
            errors=tuple(max(0.0, at - back) for at in self.errors),
        )

    def shut(self, now: float) -> float:
        """Seconds for which it is not asked at all."""
        return max(0.0, self.shut_until - now)

    def delay(self, now: float) -> float:
        """Seconds to wait before the next request."""
        return max(0.0, self.not_before - now)

    def on_trial(self, now: float) -> bool:
        """Whether one request has to find out whether it is back."""
        return 0.0 < self.shut_until <= now

    def tried(self, now: float, seconds: float) -> "HostState":
        """With a request under way that finds out, for at most so many seconds; the same where another one does."""
        free = self.on_trial(now) and self.trial_until <= now
        return msgspec.structs.replace(self, trial_until=now + seconds) if free else self

    def untried(self) -> "HostState":
        """Without a request that finds out."""
        return msgspec.structs.replace(self, trial_until=0.0)

    def answered(self, now: float) -> "HostState":
        """After an answer, whatever it says. A ban that another request has met stays."""
        over = self.on_trial(now)
        return msgspec.structs.replace(self, failures=0, trial_until=0.0, shut_until=0.0 if over else self.shut_until)

    def failed(self, error: EndpointError, now: float, budget: int) -> "HostState":
        """After an error: one that may pass is a failure in a row; `budget` failed requests are left in a minute."""
        host = self._refused(error, now) if error.action is Action.RETRY else self
        host = host.answered(now) if error.status and error.action is not Action.RETRY else host
        if isinstance(error, TruncatedError):
            return host
        late = tuple(at for at in self.errors if at > now - MINUTE)
        errors = (*late, now)[-budget:] if budget <= MOST_ERRORS else ()
        full = len(errors) == budget
        shut_until = max(host.shut_until, errors[0] + MINUTE) if full else host.shut_until
        return msgspec.structs.replace(host, errors=errors, shut_until=shut_until, why=error.message[:500])

    def with_engine(self, url: str, engine: DetectedEngine) -> "HostState":
        """With the engine of one of its URLs; of very many the last are kept."""
        others = [(key, value) for key, value in self.engines.items() if key != url]
        return msgspec.structs.replace(self, engines=dict([*others, (url, engine)][-URLS:]))

    def _refused(self, error: EndpointError, now: float) -> "HostState":
        pause = PAUSE if self.failures + 1 >= FAILURES or self.on_trial(now) else 0.0
        pause = max(pause, error.wait if error.wait > LONG else 0.0)
        short = now + error.wait if 0 < error.wait <= LONG else 0.0
        return msgspec.structs.replace(
            self,
            failures=self.failures + 1,
            trial_until=0.0,
            not_before=max(self.not_before, short),
            shut_until=max(self.shut_until, now + min(pause, WEEK) if pause else 0.0),
        )


class HostRegistry:
    """The memory of hosts by origin (`scheme://host:port`), in a store that processes share, or in this one only."""

    def __init__(self, store: Store | None = None, clock: Clock | None = None) -> None:
        self._store = store
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._known: dict[str, HostState] = {}
        self._read_at: dict[str, float] = {}

    def known(self, where: str) -> HostState:
        """What this process knows of the host, without a look at the store."""
        return self._known.get(where, HostState())

    async def host(self, where: str) -> HostState:
        """What is known of the host, at most a second old."""
        now = self._clock.now()
        if self._store and now - self._read_at.get(where, float("-inf")) >= FRESH:
            if where in self._known:
                # one looks, the others go by what was known a second ago
                self._read_at[where] = now
            await self._look(self._store, where)
        if self.known(where).ahead(self._clock.wall()):
            await self._put(where, lambda host: host)
        return self.known(where)

    async def change(self, where: str, change: Callable[[HostState], HostState]) -> HostState:
        """Puts what `change` makes of the host in its place, for all processes.

        Nothing is written where it is the same.

        `change` may be called several times.
        """
        known = await self.host(where)
        if change(known) != known:
            await self._put(where, change)
            _log(where, known, self.known(where), self._clock.wall())
        return self.known(where)

    def engine(self, url: str) -> Engine | None:
        """The engine that the URL's replies have shown in the last month, as far as this process knows."""
        detected = self.known(origin(url)).engines.get(url)
        return detected.engine if detected and detected.at > self._clock.wall() - MONTH else None

    async def remember_engine(self, url: str, engine: Engine) -> None:
        """Remembers the engine of a URL."""
        if url:  # what runs in this process has none, and no secret of its engine
            log.info("%s: its replies are those of the engine %s", masked(url), engine)
        detected = DetectedEngine(engine, self._clock.wall())
        await self.change(origin(url), lambda host: host.with_engine(url, detected))

    async def forget(self, where: str) -> None:
        """Forgets everything about a host, given by any URL on it."""
        await self._put(origin(where), lambda _: HostState())

    async def _put(self, where: str, change: Callable[[HostState], HostState]) -> None:
        if self._store:
            await off_loop(self._store, self._write, self._store, where, change)
        else:
            self._known[where] = self._changed(self.known(where), change)

    async def _look(self, store: Store, where: str) -> None:
        """Reads what the store holds, here where that takes less than the way to a thread and nobody is writing it."""
        if at_once(store, [where]) and self._lock.acquire(blocking=False):
            try:
                self._read(store, where)
            finally:
                self._lock.release()
        else:
            await off_loop(store, self._read_in_turn, store, where)

    def _read_in_turn(self, store: Store, where: str) -> None:
        with self._lock:
            self._read(store, where)

    def _read(self, store: Store, where: str) -> None:
        value = store.get_many(NAMESPACE, [where]).get(where)
        self._keep(where, self._checked(value, self.known(where)))

    def _write(self, store: Store, where: str, change: Callable[[HostState], HostState]) -> None:
        with self._lock:
            known = self.known(where)

            def changed(value: bytes | None) -> bytes:
                self._keep(where, host := self._changed(self._checked(value, known), change))
                return msgspec.json.encode(host)

            store.update(NAMESPACE, where, changed)

    def _changed(self, host: HostState, change: Callable[[HostState], HostState]) -> HostState:
        """What is written: with the instant of writing, and with instants that a clock gone back has moved."""
        now = self._clock.wall()
        return msgspec.structs.replace(change(host.moved(now)), at=now)

    def _keep(self, where: str, host: HostState) -> None:
        self._known[where] = host
        self._read_at[where] = self._clock.now()

    def _checked(self, value: bytes | None, known: HostState) -> HostState:
        """The host that the bytes stand for; what cannot have been written is left out.

        Where the store holds nothing, because it could not be written, this process keeps what it knows.
        """
        if value is None:
            return known
        try:
            host = msgspec.json.decode(value, type=HostState)
            return _plausible(host, max(host.at, self._clock.wall()))
        except msgspec.MsgspecError:
            return HostState()


@lru_cache(URLS)
def origin(url: str) -> str:
    """Scheme, host and port of a URL, `https://host:443`: what an operator's ban holds for; "" for what is no URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}" if parts.hostname and port else ""


def _log(where: str, before: HostState, after: HostState, now: float) -> None:
    """What a maintainer wants to know of a host's change: it is shut, paused, or asked again."""
    if after.shut_until > max(before.shut_until, now):
        log.info("%s is not asked for %.0f s: %s", where, after.shut_until - now, line(after.why, 300))
    elif after.not_before > max(before.not_before, now):
        log.info("%s asked to wait for %.0f s", where, after.not_before - now)
    if before.shut_until and not after.shut_until:
        log.info("%s has replied and is asked again", where)


def _plausible(host: HostState, now: float) -> HostState:
    """The host without instants that lie too far ahead: a clock that was wrong must not shut it for years."""

    def soon(instant: float, seconds: float = WEEK) -> float:
        return instant if instant <= now + seconds else 0.0

    return msgspec.structs.replace(
        host,
        shut_until=soon(host.shut_until),
        not_before=soon(host.not_before, LONG),
        trial_until=soon(host.trial_until, LONG),
        errors=tuple(at for at in host.errors if at <= now + MINUTE),
        why="".join(sign if sign.isprintable() else " " for sign in host.why),
    )
