"""Manners towards an endpoint: how many requests at once, how often, how long, and when to leave it alone.

Everything that leaves for the network goes through here. A request waits for a slot first, and only then its clock runs.
What may work later is tried again after the time that the endpoint asked for; who bans or is down is not asked at all.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec
import stamina
from aiolimiter import AsyncLimiter

from fedkg.dialects import DIALECTS, Engine, Query
from fedkg.errors import Action, EndpointError, EndpointTimeoutError, RefusedError, UnreachableError
from fedkg.fetch.base import Reply, Rows, Transport
from fedkg.profiles import Limits
from fedkg.records import Usage

__all__ = ["Clock", "Meter", "Polite"]

# a longer wait than this is nothing to sit through: the caller is told instead
PATIENCE = 60.0
FAILURES = 5
PAUSE = 30.0
# how long a mirror that failed is asked only after the others
REST = 300.0


class Clock(msgspec.Struct, frozen=True):
    """Time as it passes: `now` in seconds, `sleep` waits that many; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Meter:
    """Counts what endpoints were asked; several endpoints may share one.

    A round trip is a wave of requests: it begins when a request starts while no other is in flight.
    """

    def __init__(self) -> None:
        self._in_flight = 0
        self._round_trips = 0
        self._bytes = 0
        self._by_kind: Counter[str] = Counter()

    @contextlib.contextmanager
    def request(self, kind: str) -> Iterator[None]:
        """Counts one request of that kind while it is in flight."""
        self._by_kind[kind] += 1
        self._round_trips += self._in_flight == 0
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1

    def received(self, size: int) -> None:
        """Counts `size` bytes of a body."""
        self._bytes += size

    def usage(self) -> Usage:
        """Everything since the meter was made: requests, round trips, bytes and the requests by kind."""
        return Usage(
            requests=self._by_kind.total(),
            round_trips=self._round_trips,
            bytes=self._bytes,
            by_kind=dict(sorted(self._by_kind.items())),
        )

    def since(self, before: Usage) -> Usage:
        """What came on top of an earlier `usage()`."""
        return self.usage().since(before)


class Mirror:
    """One place where the endpoint is served, and when it may be asked again.

    A short wait that it asked for is waited for (`delay`); a long one, a ban, or a row of failures shuts it (`shut`).
    """

    def __init__(self, transport: Transport, clock: Clock, engine: Engine) -> None:
        self.transport = transport
        self.engine = engine
        self._now = clock.now
        self._failures = 0
        self._not_before = self._shut_until = self._rest_until = float("-inf")
        self._why = ""

    @property
    def delay(self) -> float:
        """Seconds to wait before the next request."""
        return max(0.0, self._not_before - self._now())

    @property
    def shut(self) -> float:
        """Seconds for which it is not asked at all."""
        return max(0.0, self._shut_until - self._now())

    @property
    def resting(self) -> bool:
        """Whether the others are asked first."""
        return self._rest_until > self._now()

    def check(self, endpoint: str) -> None:
        """Raises RefusedError, with the time that is left, where it is shut."""
        if wait := self.shut:
            message = f"{endpoint} is left alone for another {wait:.0f} s: {self._why}"
            raise RefusedError(message, endpoint=endpoint, wait=wait)

    def answered(self) -> None:
        """Notes that it is alive."""
        self._failures = 0

    def failed(self, error: EndpointError) -> None:
        """Notes an error that may pass; the fifth in a row shuts it, and every further one until it answers."""
        self._failures += 1
        self._why = error.message
        now = self._now()
        if error.wait > PATIENCE:
            self._shut_until = max(self._shut_until, now + error.wait)
        elif error.wait:
            self._not_before = max(self._not_before, now + error.wait)
        if self._failures >= FAILURES:
            self._shut_until = max(self._shut_until, now + PAUSE)

    def rest(self) -> None:
        """Lets the others go first for a while."""
        self._rest_until = self._now() + REST


class Polite:
    """A Select over the transports of one endpoint, the first choice first.

    `accept` is the acceptance test, `endpoint` the name that errors carry. All transports share the endpoint's slots and
    pace; which of them answers makes no difference to the caller.
    """

    def __init__(
        self,
        transports: Sequence[Transport],
        accept: Callable[[Reply], Rows],
        *,
        endpoint: str,
        limits: Limits | None = None,
        meter: Meter | None = None,
        clock: Clock | None = None,
        engine: Engine = "generic",
    ) -> None:
        if not transports:
            raise ValueError("an endpoint needs a transport")
        self.endpoint = endpoint
        self.meter = meter or Meter()
        self._accept = accept
        self._limits = limits or Limits()
        self._clock = clock or Clock()
        self._mirrors = [Mirror(transport, self._clock, engine) for transport in transports]
        self._gates: dict[asyncio.AbstractEventLoop, tuple[asyncio.Semaphore, AsyncLimiter | None]] = {}

    async def select(self, query: Query, kind: str = "") -> Rows:
        """The accepted rows of `query`, from the first mirror that gives them; `kind` is what the meter counts it as.

        Raises the EndpointError of the last mirror, after as many retries as the limits allow.
        """
        slots, pace = self._gate()
        async with slots:
            for mirror in (waiting := self._order()):
                try:
                    return await self._patiently(mirror, query, kind, pace)
                except (UnreachableError, RefusedError):
                    mirror.rest()
                    if mirror is waiting[-1]:
                        raise
        raise AssertionError("the last mirror returns or raises")

    async def close(self) -> None:
        """Frees the connections of all transports."""
        for mirror in self._mirrors:
            await mirror.transport.close()

    def _order(self) -> list[Mirror]:
        return sorted(self._mirrors, key=lambda mirror: mirror.resting)

    async def _patiently(self, mirror: Mirror, query: Query, kind: str, pace: AsyncLimiter | None) -> Rows:
        def worth_it(error: Exception) -> bool:
            passes = isinstance(error, EndpointError) and error.action is Action.RETRY
            return passes and not mirror.shut

        attempts = stamina.retry_context(on=worth_it, attempts=self._limits.retries + 1, timeout=None)
        async for attempt in attempts:
            with attempt:
                return await self._once(mirror, query, kind, pace)
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, mirror: Mirror, query: Query, kind: str, pace: AsyncLimiter | None) -> Rows:
        mirror.check(self.endpoint)
        if delay := mirror.delay:
            await self._clock.sleep(delay)
        if pace:
            await pace.acquire()
        try:
            text = query if isinstance(query, str) else query(DIALECTS[mirror.engine])
            rows = self._accept(await self._reply(mirror.transport, text, kind))
        except EndpointError as error:
            error.endpoint, error.asked = self.endpoint, error.asked or kind
            if error.action is Action.RETRY:
                mirror.failed(error)
            elif error.status:
                mirror.answered()
            raise
        mirror.answered()
        return rows

    async def _reply(self, transport: Transport, query: str, kind: str) -> Reply:
        seconds = self._limits.timeout
        with self.meter.request(kind):
            try:
                async with asyncio.timeout(seconds):
                    reply = await transport.send(query)
            except TimeoutError as error:
                message = f"{self.endpoint}: no whole reply within {seconds:g} s"
                raise EndpointTimeoutError(message, endpoint=self.endpoint) from error
        self.meter.received(len(reply.body))
        return reply

    def _gate(self) -> tuple[asyncio.Semaphore, AsyncLimiter | None]:
        """Slots and pace of the running event loop: neither may be shared between loops."""
        loop = asyncio.get_running_loop()
        for old in tuple(self._gates):
            if old.is_closed():
                self._gates.pop(old, None)
        if loop not in self._gates:
            pace = AsyncLimiter(1, self._limits.interval) if self._limits.interval else None
            self._gates[loop] = (asyncio.Semaphore(self._limits.concurrency), pace)
        return self._gates[loop]
