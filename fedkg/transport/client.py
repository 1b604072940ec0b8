"""HostRegistry towards an endpoint: how many requests at once, how often, how long, and when to leave it alone.

Everything that leaves for the network goes through here. A query has a time in which it must be answered, and all its
waiting counts: for a slot, for the pace, for what the endpoint asked for. What may work later is tried again within
that time; who bans or is down is not asked at all.
"""

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from aiolimiter import AsyncLimiter

from fedkg.common.one_line import line
from fedkg.common.per_loop import PerLoop
from fedkg.common.retry import retrying
from fedkg.config.dialects import GENERIC, Query, find
from fedkg.config.profiles import Limits
from fedkg.core import deadline
from fedkg.core.meter import Meter
from fedkg.errors import Action, EndpointError, EndpointTimeoutError, QueryRejectedError, RefusedError, UnreachableError
from fedkg.sparql import detect
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.transport.base import Transport
from fedkg.transport.host_state import Clock, HostRegistry
from fedkg.transport.replica import Replica, RequestAttempt

__all__ = ["EndpointClient"]

SHARE = 1 / 3
"""The part of what is left of a question that one request may take: two that stall leave time for what others say."""
PROBE_SECONDS = 10.0
LARGE = 1 << 18
"""A reply of more bytes takes so long to read that nobody else should have to wait for it."""
TELLING = (200, 400)
"""Statuses of hosts that are well: others are not asked for their engine."""

log = logging.getLogger(__name__)


class EndpointClient:
    """A Select over the transports of one endpoint, the first choice first.

    `accept` is the acceptance test, `endpoint` the name that errors carry. All transports share the endpoint's slots
    and pace; which of them answers makes no difference to the caller. `host_registry` is what is remembered of their
    hosts. `engine` is believed of each of them until its replies show another; with `detects` = False it is believed
    always.
    """

    def __init__(
        self,
        transports: Sequence[Transport],
        accept: Callable[[EndpointReply], Rows],
        *,
        endpoint: str,
        limits: Limits | None = None,
        meter: Meter | None = None,
        clock: Clock | None = None,
        host_registry: HostRegistry | None = None,
        engine: str = "generic",
        detects: bool = True,
    ) -> None:
        if not transports:
            raise ValueError("an endpoint needs a transport")
        self.endpoint = endpoint
        self.meter = meter or Meter()
        self._accept = accept
        self._limits = limits or Limits()
        clock = clock or Clock()
        host_registry = host_registry or HostRegistry(clock=clock)
        self._mirrors = [Replica(transport, host_registry, clock, engine, detects=detects) for transport in transports]
        self._gates = PerLoop(partial(_gate, self._limits))

    @property
    def engines(self) -> Mapping[str, str]:
        """The engine that is believed of each mirror, by its URL; "" stands for what is in this process."""
        return {mirror.url: mirror.engine for mirror in self._mirrors}

    async def select(self, query: Query, kind: str = "") -> Rows:
        """The accepted rows of `query`, from the first mirror that gives them; `kind` is what the meter counts it as.

        Raises the EndpointError of the last mirror, after as many retries as the limits allow; EndpointTimeoutError,
        with what the time went to, after the limits' patience or a third of what is left until the question's deadline:
        then there is time for what others have to say.
        """
        seconds, turn = min(self._limits.patience, SHARE * deadline.left()), RequestAttempt()
        try:
            with deadline.within(seconds):
                async with asyncio.timeout(seconds):
                    return await self._first(query, kind, turn)
        except TimeoutError as error:
            if turn.asked:
                turn.asked.given_up(turn)
            message = f"{self.endpoint}: no answer within {seconds:.3g} s: {turn.doing}"
            raise EndpointTimeoutError(message, endpoint=self.endpoint, asked=kind) from error

    async def close(self) -> None:
        """Frees the connections of all transports."""
        for mirror in self._mirrors:
            await mirror.transport.close()

    async def _first(self, query: Query, kind: str, turn: RequestAttempt) -> Rows:
        """The rows from the first mirror that gives them; those that failed lately go last."""
        slots, _ = self._gates.here()
        async with slots:
            for mirror in (waiting := sorted(self._mirrors, key=lambda mirror: mirror.resting)):
                try:
                    return await self._patiently(mirror, query, kind, turn)
                except (UnreachableError, RefusedError):
                    mirror.rest()
                    if mirror is waiting[-1]:
                        raise
        raise AssertionError("the last mirror returns or raises")

    async def _patiently(self, mirror: Replica, query: Query, kind: str, turn: RequestAttempt) -> Rows:
        asked = weakref.proxy(mirror)  # the retries are objects in a cycle, and would keep the transport

        def worth_it(error: Exception) -> bool:
            if not isinstance(error, EndpointError) or error.action is not Action.RETRY:
                return False
            turn.doing = f"it was to be asked again: {error.message}"
            log.debug("%s: %s", self.endpoint, line(turn.doing, 500))
            return not asked.shut and error.wait < deadline.left()

        async for attempt in retrying(worth_it, self._limits.retries + 1):
            with attempt:
                rows = await self._once(mirror, query, kind, turn)
                log.debug("%s: %s: %d rows, attempt %d", self.endpoint, kind, len(rows.rows), attempt.num)
                return rows
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, mirror: Replica, query: Query, kind: str, turn: RequestAttempt) -> Rows:
        trial = await mirror.enter(turn, self.endpoint)
        try:
            rows = await self._rows(mirror, query, kind, turn)
            await mirror.answered()
        except EndpointError as error:
            turn.asked = None
            error.endpoint, error.asked = self.endpoint, error.asked or kind
            await mirror.failed(error, turn, self._limits.errors)
            raise
        finally:
            if trial:
                await mirror.leave()
        return rows

    async def _rows(self, mirror: Replica, query: Query, kind: str, turn: RequestAttempt) -> Rows:
        """The accepted rows; a query that was rejected because another engine answers is put to that one once more."""
        believed = mirror.engine
        reply = await self._reply(mirror, query, kind, turn)
        try:
            return await self._accepted(reply)
        except QueryRejectedError:
            if isinstance(query, str) or mirror.engine == believed:
                raise
        return await self._accepted(await self._reply(mirror, query, kind, turn))

    async def _accepted(self, reply: EndpointReply) -> Rows:
        if len(reply.body) < LARGE:
            return self._accept(reply)
        return await asyncio.to_thread(self._accept, reply)

    async def _reply(self, mirror: Replica, query: Query, kind: str, turn: RequestAttempt) -> EndpointReply:
        """The reply to the query in the replica's dialect; the engine that it shows is remembered."""
        text = query if isinstance(query, str) else query(find(mirror.engine) or GENERIC)
        reply = await self._send(mirror, text, kind, turn)
        await mirror.learn(reply)
        if mirror.puzzling and reply.status in TELLING:
            await self._probe(mirror, turn)
        return reply

    async def _probe(self, mirror: Replica, turn: RequestAttempt) -> None:
        """Asks once who answers there; whoever does not say so soon is not waited for."""
        mirror.probing()
        with contextlib.suppress(EndpointError, TimeoutError):
            async with asyncio.timeout(min(PROBE_SECONDS, deadline.left() / 2)):
                await mirror.probed(await self._send(mirror, detect.PROBE, "engine", turn))
        turn.asked = None

    async def _send(self, mirror: Replica, text: str, kind: str, turn: RequestAttempt) -> EndpointReply:
        if pace := self._gates.here()[1]:
            turn.doing = "waiting for the pace that the profile sets"
            await pace.acquire()
        seconds = self._limits.timeout
        mirror.asked(turn)
        with self.meter.request(kind):
            try:
                async with asyncio.timeout(seconds):
                    reply = await mirror.transport.send(text)
            except TimeoutError as error:
                message = f"{self.endpoint}: no whole reply within {seconds:g} s"
                raise EndpointTimeoutError(message, endpoint=self.endpoint) from error
        turn.asked = None
        mirror.replied(reply)
        self.meter.received(len(reply.body))
        log.debug("%s: %s: %d, %d bytes in %.2f s", self.endpoint, kind, reply.status, len(reply.body), reply.seconds)
        return reply


def _gate(limits: Limits) -> tuple[asyncio.Semaphore, AsyncLimiter | None]:
    """Slots and pace, for one event loop."""
    pace = AsyncLimiter(1, limits.interval) if limits.interval else None
    return asyncio.Semaphore(limits.concurrency), pace
