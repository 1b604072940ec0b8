"""Calls of a store from an event loop, which must not wait for a disk or a server."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store

__all__ = ["off_loop"]

P = ParamSpec("P")
T = TypeVar("T")


async def off_loop(store: Store, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `call`, which uses this store, returns; it runs in a thread unless the store is in memory.

    A hop to a thread and back costs much more than a look into memory. Raises what `call` raises.
    """
    if isinstance(store, MemoryStore):
        return call(*args, **kwargs)
    return await asyncio.to_thread(call, *args, **kwargs)
