"""What holds for all of an endpoint's graph: asked for once, kept for weeks, by all processes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import msgspec

from fedkg.cache.off_loop import keep, look_up
from fedkg.common.per_loop import PerLoop
from fedkg.config.settings import DAY
from fedkg.core.encoding import decode, encode
from fedkg.core.gaps import miss
from fedkg.core.usage import Gap
from fedkg.errors import EndpointError
from fedkg.graph.base import EndpointSource

__all__ = ["Catalogue"]

PAUSE = 300.0

T = TypeVar("T")
K = TypeVar("K")


class Catalogue(Generic[K, T]):
    """A table that is fetched as plain data of the type `kind` when first wanted; `read` makes it usable.

    Where the endpoint fails there is none, which is a gap of every question that wants it, and it is asked again some
    minutes later, not at every hop.
    """

    def __init__(
        self,
        source: EndpointSource,
        namespace: str,
        key: str,
        read: tuple[Any, Callable[[K], T]],
    ) -> None:
        self._name = source.name
        self._store = source.store
        self._seconds = source.ttl.catalogue * DAY
        self._namespace = namespace
        self._key = key
        self._kind, self._read = read
        self._content: T | None = None
        self._why = ""
        self._asked_again_at = float("-inf")
        self._asking = PerLoop(asyncio.Lock)

    async def get(self, ask: Callable[[], Awaitable[K]]) -> T | None:
        """The table, by `ask` where it is not kept; None where the endpoint did not give it.

        `ask` is not remembered: it is mostly a method of the object that has this table, and the two would keep each
        other alive.
        """
        if self._content is None:
            async with self._asking.here():
                await self._open(ask)
        if self._content is None:
            miss(Gap(self._name, f"the table of {self._namespace}", self._why))
        return self._content

    async def _open(self, ask: Callable[[], Awaitable[K]]) -> None:
        if self._content is not None or time.monotonic() < self._asked_again_at:
            return
        kept = await look_up(self._store, self._namespace, [self._key])
        try:
            self._content = self._read(decode(kept.get(self._key, b""), self._kind))
        except msgspec.MsgspecError:
            # there is none, or one that cannot be read
            await self._fill(ask)

    async def _fill(self, ask: Callable[[], Awaitable[K]]) -> None:
        try:
            content = await ask()
        except EndpointError as error:
            self._why = str(error)
            self._asked_again_at = time.monotonic() + PAUSE
            return
        self._content = self._read(content)
        await keep(self._store, self._namespace, {self._key: encode(content)}, self._seconds)
