"""Work that is under way: whoever wants the same waits for it instead of asking again."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

__all__ = ["SingleFlight"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Does `work` for keys, each once at a time; nothing is kept when it is done.

    Whoever of an event loop comes first does the work. Where that ends without a result, because its question was given up, those that
    waited do it themselves.
    """

    def __init__(self, work: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]) -> None:
        self._work = work
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, K], asyncio.Future[V]] = {}

    async def get(self, keys: Sequence[K]) -> dict[K, V]:
        """The results by key, in the order of the keys. Raises what `work` raises."""
        found: dict[K, V] = {}
        loop = asyncio.get_running_loop()
        while missing := [key for key in keys if key not in found]:
            others = {key: self._under_way[loop, key] for key in missing if (loop, key) in self._under_way}
            if mine := list(dict.fromkeys(key for key in missing if key not in others)):
                found |= await self._do(mine)
            if others:
                await asyncio.wait(others.values())
            found |= {key: future.result() for key, future in others.items() if not future.cancelled()}
        return {key: found[key] for key in keys}

    async def _do(self, keys: Sequence[K]) -> dict[K, V]:
        loop = asyncio.get_running_loop()
        futures: dict[K, asyncio.Future[V]] = {key: loop.create_future() for key in keys}
        self._under_way |= {(loop, key): future for key, future in futures.items()}
        try:
            done = await self._work(keys)
            for key, future in futures.items():
                future.set_result(done[key])
            return {key: done[key] for key in keys}
        finally:
            for key, future in futures.items():
                del self._under_way[loop, key]
                future.cancel()  # without effect on those that have a result
