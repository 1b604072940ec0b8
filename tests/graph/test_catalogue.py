"""What an endpoint says once: a table that fails is asked for again, in whichever event loop that is."""

import asyncio

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config.profiles import Profile
from fedkg.errors import UnreachableError
from fedkg.graph import catalogue
from fedkg.graph.base import EndpointSource
from fedkg.graph.catalogue import Catalogue
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.testing import FakeTransport
from fedkg.transport.client import EndpointClient


def test_several_event_loops_may_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who wait for whoever asks wait in their own event loop, also where an earlier one has ended."""
    monkeypatch.setattr(catalogue, "PAUSE", 0.0)
    asked: list[int] = []

    async def ask() -> list[int]:
        asked.append(1)
        await asyncio.sleep(0)
        raise UnreachableError("down")

    select = EndpointClient(
        [FakeTransport(lambda _: EndpointReply(200, {}, b""))], lambda reply: accept(reply, endpoint="e"), endpoint="e"
    )
    kept: Catalogue[list[int], list[int]] = Catalogue(
        EndpointSource("e", "e", Profile("e"), select, MemoryStore()), "n", "k", (list[int], list)
    )

    async def three() -> list[list[int] | None]:
        return await asyncio.gather(*(kept.get(ask) for _ in range(3)))

    assert [asyncio.run(three()) for _ in range(2)] == [[None] * 3] * 2
    assert len(asked) == 6
