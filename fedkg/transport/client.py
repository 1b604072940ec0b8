"""The client of an endpoint: how many requests at once, how often, how long, and when to leave it alone.

Everything that leaves for the network goes through here. A query has a time in which it must be answered, and all its
waiting counts: for a slot, for the pace, for what the endpoint asked for. What may work later is tried again within
that time; a host that bans or is down is not asked at all.
"""

import asyncio
import contextlib
import logging
import re
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from fedkg.common.fair_slots import FairSlots
from fedkg.common.one_line import line
from fedkg.common.per_loop import PerLoop
from fedkg.common.retry import retrying
from fedkg.config.dialects import GENERIC, PLAIN, Dialect, Format, Query, find
from fedkg.config.profiles import Limits
from fedkg.core import deadline
from fedkg.core.meter import Meter, asker
from fedkg.errors import (
    Action,
    EndpointError,
    EndpointTimeoutError,
    InputError,
    NotSparqlError,
    QueryRejectedError,
    RefusedError,
    TruncatedError,
    UnreachableError,
)
from fedkg.sparql import detect
from fedkg.sparql.reply import EndpointReply, Rows
from fedkg.sparql.solutions import BrokenOffError
from fedkg.transport.base import Transport
from fedkg.transport.host_state import Clock, HostRegistry
from fedkg.transport.replica import Replica, RequestAttempt

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

__all__ = ["EndpointClient"]

SHARE = 1 / 3
"""The part of what is left of a question that one request may take: two that stall leave time for what others say."""
PROBE_SECONDS = 10.0
LARGE = 1 << 18
"""A reply of more bytes takes so long to read that other requests should not wait for it."""
HEAVY = {"neighbours"}
"""Kinds of query that a simple engine cannot answer in another's dialect: who answers is found out before them."""
TELLING = (200, 400)
"""Statuses of hosts that are well: others are not asked for their engine."""

FEWEST = 1_000
"""Rows that a reply may have at least: where the limit is below, several parts of a query may each reach it."""
LIMIT = re.compile(r"LIMIT ([0-9]{1,9})$")
log = logging.getLogger(__name__)


class EndpointClient:
    """A SparqlClient over the transports of one endpoint, the first choice first.

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
        self._replicas = [Replica(transport, host_registry, clock, engine, detects=detects) for transport in transports]
        self._gates = PerLoop(partial(_gate, self._limits))
        self._identifying = PerLoop(asyncio.Lock)

    @property
    def engines(self) -> Mapping[str, str]:
        """The engine that is believed of each replica, by its URL; "" stands for what is in this process."""
        return {replica.url: replica.engine for replica in self._replicas}

    async def recall(self) -> None:
        """Reads what earlier processes remember of the replicas' hosts."""
        for replica in self._replicas:
            await replica.recall()

    async def identify(self) -> None:
        """Finds out which engine answers, where nothing is known of the replica that is asked first.

        Whoever calls it meanwhile waits for the same. What goes wrong is left to the first query.
        """
        async with self._identifying.here():
            replica = min(self._replicas, key=lambda replica: replica.resting)
            if not replica.puzzling:
                return
            slots, attempt = self._gates.here()[0], RequestAttempt()
            with contextlib.suppress(EndpointError):
                async with slots.taken(asker()):
                    trial = await replica.enter(attempt, self.endpoint)
                    try:
                        await self._probe(replica, attempt)
                    finally:
                        if trial:
                            await replica.leave()

    async def select(self, query: Query, kind: str = "") -> Rows:
        """The accepted rows of `query`, from the first replica that gives them; `kind` is what the meter counts it as.

        Raises the EndpointError of the last replica, after as many retries as the limits allow; EndpointTimeoutError,
        with what the time went to, after the limits' patience or a third of what is left until the question's deadline:
        then there is time for what other endpoints return.
        """
        seconds, attempt = min(self._limits.patience, SHARE * deadline.left()), RequestAttempt()
        try:
            with deadline.within(seconds):
                async with asyncio.timeout(seconds):
                    return await self._first(query, kind, attempt)
        except TimeoutError as error:
            if attempt.asked:
                attempt.asked.given_up(attempt)
            message = f"{self.endpoint}: no answer within {seconds:.3g} s: {attempt.doing}"
            raise EndpointTimeoutError(message, endpoint=self.endpoint, asked=kind) from error

    async def close(self) -> None:
        """Frees the connections of all transports."""
        for replica in self._replicas:
            await replica.transport.close()

    async def _first(self, query: Query, kind: str, attempt: RequestAttempt) -> Rows:
        """The rows from the first replica that gives them; those that failed lately go last."""
        slots, _ = self._gates.here()
        async with slots.taken(asker()):
            for replica in (waiting := sorted(self._replicas, key=lambda replica: replica.resting)):
                try:
                    return await self._patiently(replica, query, kind, attempt)
                except (UnreachableError, RefusedError):
                    replica.rest()
                    if replica is waiting[-1]:
                        raise
        raise AssertionError("the last replica returns or raises")

    async def _patiently(self, replica: Replica, query: Query, kind: str, attempt: RequestAttempt) -> Rows:
        asked = weakref.proxy(replica)  # the retries are objects in a cycle, and would keep the transport

        def worth_it(error: Exception) -> bool:
            if not isinstance(error, EndpointError) or error.action is not Action.RETRY:
                return False
            attempt.doing = f"it was to be asked again: {error.message}"
            log.debug("%s: %s", self.endpoint, line(attempt.doing, 500))
            return not asked.shut and error.wait < deadline.left()

        async for retry in retrying(worth_it, self._limits.retries + 1):
            with retry:
                rows = await self._once(replica, query, kind, attempt)
                log.debug("%s: %s: %d rows, attempt %d", self.endpoint, kind, len(rows.rows), retry.num)
                return rows
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, replica: Replica, query: Query, kind: str, attempt: RequestAttempt) -> Rows:
        trial = await replica.enter(attempt, self.endpoint)
        try:
            rows = await self._rows(replica, query, kind, attempt)
            await replica.answered()
        except EndpointError as error:
            _free(error)
            attempt.asked = None
            error.endpoint, error.asked = self.endpoint, error.asked or kind
            await replica.failed(error, attempt, self._limits.errors)
            raise
        finally:
            if trial:
                await replica.leave()
        return rows

    async def _rows(self, replica: Replica, query: Query, kind: str, attempt: RequestAttempt) -> Rows:
        """The accepted rows; a query that was rejected for how it is put is put once more, as far as that changes it.

        That is so where the reply shows another engine than was believed, and where the engine failed with an error of
        its own: then, and for all queries of this kind from now on, in the dialect `plain`.
        """
        if kind in HEAVY and replica.puzzling:
            await self._probe(replica, attempt)
        dialect = PLAIN if replica.plain.get(kind) else _dialect(replica)
        try:
            return await self._read(replica, query, dialect, kind, attempt)
        except QueryRejectedError as error:
            shown = _dialect(replica)
            if shown != dialect and dialect is not PLAIN:
                other = shown
            elif error.status >= HTTPStatus.INTERNAL_SERVER_ERROR and kind not in replica.plain:
                other = PLAIN
            else:
                raise
            if not _differs(query, dialect, other):
                raise
        if other is not PLAIN:
            return await self._read(replica, query, other, kind, attempt)
        return await self._plainly(replica, query, kind, attempt)

    async def _plainly(self, replica: Replica, query: Query, kind: str, attempt: RequestAttempt) -> Rows:
        """The rows of a query that the engine failed over; whether this helped is remembered of all of its kind."""
        replica.plain[kind] = False
        rows = await self._read(replica, query, PLAIN, kind, attempt)
        replica.plain[kind] = True
        log.info("%s: queries for %s are put plainly from now on: the engine failed over one", self.endpoint, kind)
        return rows

    async def _read(self, replica: Replica, query: Query, dialect: Dialect, kind: str, attempt: RequestAttempt) -> Rows:
        """The accepted rows of the query in that dialect, in the format that its engine writes quickest.

        Where that is not JSON and cannot be read, in JSON; whether this helped is remembered.
        """
        wanted = replica.format(dialect)
        try:
            return await self._accepted(await self._reply(replica, query, dialect, kind, attempt))
        except (NotSparqlError, TruncatedError) as error:
            if wanted == "json" or replica.json is False or not _is_unreadable(error):
                raise
        replica.json = True
        try:
            rows = await self._accepted(await self._reply(replica, query, dialect, kind, attempt))
        except EndpointError:
            replica.json = False
            raise
        log.info("%s: asked for JSON from now on: its %s cannot be read", self.endpoint, wanted.upper())
        return rows

    async def _accepted(self, reply: EndpointReply) -> Rows:
        if len(reply.body) < LARGE:
            return self._accept(reply)
        with deadline.until_left():
            return await asyncio.to_thread(self._accept, reply)

    def _most(self, text: str) -> int:
        """The most rows that a reply to the query may have: one more than the limits allow shows that there are more.

        Some queries ask for more than that, such as those for all relations.
        """
        asked = LIMIT.search(text)
        return max(self._limits.rows + 1, FEWEST, int(asked[1]) if asked else 0)

    async def _reply(
        self, replica: Replica, query: Query, dialect: Dialect, kind: str, attempt: RequestAttempt
    ) -> EndpointReply:
        """The reply to the query in that dialect; the engine that it shows is remembered."""
        text = query if isinstance(query, str) else query(dialect)
        reply = await self._send(replica, dialect.written(text), kind, attempt, replica.format(dialect))
        if replica.url:
            reply = msgspec.structs.replace(reply, most=self._most(text))
        await replica.learn(reply)
        if replica.puzzling and reply.status in TELLING:
            await self._probe(replica, attempt)
        return reply

    async def _probe(self, replica: Replica, attempt: RequestAttempt) -> None:
        """Asks once which engine answers there; a reply that does not come soon is not waited for."""
        replica.probing()
        with contextlib.suppress(EndpointError, TimeoutError):
            async with asyncio.timeout(min(PROBE_SECONDS, deadline.left() / 2)):
                await replica.probed(await self._send(replica, detect.PROBE, "engine", attempt))
        attempt.asked = None

    async def _send(
        self, replica: Replica, text: str, kind: str, attempt: RequestAttempt, wanted: Format = "json"
    ) -> EndpointReply:
        if pace := self._gates.here()[1]:
            attempt.doing = "waiting for the pace that the profile sets"
            await pace.acquire()
        seconds = self._limits.timeout
        replica.asked(attempt)
        with self.meter.request(kind):
            try:
                async with asyncio.timeout(seconds):
                    reply = await replica.send(text, wanted)
            except TimeoutError as error:
                message = f"{self.endpoint}: no whole reply within {seconds:g} s"
                raise EndpointTimeoutError(message, endpoint=self.endpoint) from error
        attempt.asked = None
        replica.replied(reply)
        self.meter.received(len(reply.body))
        log.debug("%s: %s: %d, %d bytes in %.2f s", self.endpoint, kind, reply.status, len(reply.body), reply.seconds)
        return reply


def _free(error: BaseException | None) -> None:
    """Frees what the finished functions on the error's way held: it is kept for longer than a large reply should be."""
    while error:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def _gate(limits: Limits) -> "tuple[FairSlots, AsyncLimiter | None]":
    """Slots and pace, for one event loop; the questions that wait for them have them in turns."""
    return FairSlots(limits.concurrency), _pace(limits.interval) if limits.interval else None


def _pace(interval: float) -> "AsyncLimiter":
    from aiolimiter import AsyncLimiter  # noqa: PLC0415  # no file has a pace

    return AsyncLimiter(1, interval)


def _dialect(replica: Replica) -> Dialect:
    return find(replica.engine) or GENERIC


def _is_unreadable(error: EndpointError) -> bool:
    """Whether the reply was another thing than results in a format that is read."""
    if isinstance(error, NotSparqlError):
        return error.status in {HTTPStatus.OK, HTTPStatus.NOT_ACCEPTABLE}
    return isinstance(error.__cause__, BrokenOffError)


def _differs(query: Query, before: Dialect, after: Dialect) -> bool:
    """Whether the query can be put in the other dialect, and is another text there."""
    if isinstance(query, str):
        return before.written(query) != after.written(query)
    try:
        return before.written(query(before)) != after.written(query(after))
    except InputError:
        return False
