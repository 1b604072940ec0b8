"""One call for equal requests at the same time: later ones wait for the first instead of asking again."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

__all__ = ["SingleFlight"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Work for keys, each once at a time; nothing is kept when it is done.

    The first caller of an event loop does the work, and those that come meanwhile take its results. After a failure
    they do the work themselves: where it was given up, where it raised, and for results that are `failed`, which only
    the caller that did the work gets.
    """

    def __init__(self, failed: Callable[[V], bool] = lambda _: False) -> None:
        self._failed = failed
        self._under_way: dict[tuple[asyncio.AbstractEventLoop, K], asyncio.Future[V]] = {}

    async def get(self, keys: Sequence[K], work: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]) -> dict[K, V]:
        """The results by key, in the order of the keys, `work` done where it is not under way. Raises its errors."""
        results: dict[K, V] = {}
        loop = asyncio.get_running_loop()
        while missing := [key for key in dict.fromkeys(keys) if key not in results]:
            others = {key: self._under_way[loop, key] for key in missing if (loop, key) in self._under_way}
            if mine := [key for key in missing if key not in others]:
                results |= await self._do(mine, work)
            if others:
                await asyncio.wait(others.values())
                results |= {key: future.result() for key, future in others.items() if not future.cancelled()}
        return {key: results[key] for key in keys}

    async def _do(self, keys: Sequence[K], work: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]]) -> dict[K, V]:
        loop = asyncio.get_running_loop()
        futures: dict[K, asyncio.Future[V]] = {key: loop.create_future() for key in keys}
        self._under_way |= {(loop, key): future for key, future in futures.items()}
        try:
            results = await work(keys)
            for key, future in futures.items():
                if not self._failed(results[key]):
                    future.set_result(results[key])
            return {key: results[key] for key in keys}
        finally:
            for key, future in futures.items():
                del self._under_way[loop, key]
                future.cancel()  # without effect on those that have a result
