"""Clients of an endpoint whose replies are given."""

import asyncio
from functools import partial
from typing import Any

import msgspec

from fedkg.config.profiles import Limits
from fedkg.core.meter import Meter
from fedkg.errors import (
    EndpointError,
)
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.base import Transport
from fedkg.transport.client import EndpointClient
from fedkg.transport.host_state import Clock, HostRegistry, origin

__all__ = [
    "BANNED",
    "BODY",
    "BUSY",
    "DOWN",
    "GOOD",
    "JSON",
    "SLOW",
    "WRONG",
    "Crowd",
    "Hours",
    "polite",
    "script",
    "shut_until",
    "turns",
]

JSON = "application/sparql-results+json"


BODY = b'{"head": {}, "results": {"bindings": []}}'


GOOD = EndpointReply(200, {"content-type": JSON}, BODY)


BUSY = EndpointReply(429, {"content-type": "text/plain", "retry-after": "9"}, b"slow down")


BANNED = EndpointReply(403, {"content-type": "text/plain"}, b"You are banned.")


DOWN = EndpointReply(503, {"content-type": "text/html"}, b"<html>down</html>")


SLOW = EndpointReply(429, {"content-type": "application/json"}, b'{"exception": "Operation timed out."}')


WRONG = EndpointReply(400, {"content-type": "text/plain"}, b"syntax error")


class Hours:
    """A clock that only moves when somebody sleeps or says so."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []
        self.clock = Clock(now=lambda: self.time, sleep=self.sleep, wall=lambda: self.time)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


def script(*replies: EndpointReply | EndpointError, url: str = "") -> FakeTransport:
    """A transport that gives these one after the other, the last one for ever."""
    left = list(replies)

    def answer(_: str) -> EndpointReply:
        reply = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, EndpointError):
            raise reply
        return reply

    return FakeTransport(answer, url)


def polite(
    *transports: Transport,
    hours: Hours | None = None,
    meter: Meter | None = None,
    host_registry: HostRegistry | None = None,
    **limits: Any,
) -> EndpointClient:
    """A EndpointClient called e over these transports, with time of its own; their engine is known."""
    return EndpointClient(
        transports,
        partial(accept, endpoint="e"),
        endpoint="e",
        limits=Limits(**limits),
        meter=meter,
        clock=(hours or Hours()).clock,
        host_registry=host_registry,
        engine="virtuoso",
    )


async def shut_until(hours: Hours, instant: float) -> HostRegistry:
    """A memory in which the host of the Crowd is shut until then."""
    host_registry = HostRegistry(clock=hours.clock)
    await host_registry.change(origin(Crowd.url), lambda host: msgspec.structs.replace(host, shut_until=instant))
    return host_registry


class Crowd:
    """A transport that holds its replies back until it is told, and counts who is waiting."""

    url = "http://crowd/sparql"

    def __init__(self) -> None:
        self.waiting = self.most = 0
        self.closed = False
        self.open = asyncio.Event()

    async def send(self, query: str) -> EndpointReply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await self.open.wait()
        self.waiting -= 1
        return GOOD

    async def close(self) -> None:
        self.closed = True


async def turns(count: int = 20) -> None:
    """Lets every other task go on."""
    for _ in range(count):
        await asyncio.sleep(0)
