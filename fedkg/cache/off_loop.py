"""Calls of a store from an event loop, which must not wait for a server, or long for a disk."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from fedkg.cache.memory import MemoryStore
from fedkg.cache.store import Store

__all__ = ["at_once", "keep", "look_up", "off_loop"]

FEW = 100
"""Entries that are read from the disk of this machine in a few thousandths of a second at most."""

P = ParamSpec("P")
T = TypeVar("T")


def at_once(store: Store, keys: Sequence[str]) -> bool:
    """Whether to look so many keys up takes less than the way to a thread and back.

    A row on disk takes 0.02 ms, the way to a thread and back 0.1 ms and more.
    """
    return store.at_hand and len(keys) <= FEW


async def look_up(store: Store, namespace: str, keys: Sequence[str]) -> dict[str, bytes]:
    """The values that are there and fresh, looked up in a thread if that may take its time. Raises CacheError."""
    if at_once(store, keys):
        return store.get_many(namespace, keys)
    return await asyncio.to_thread(store.get_many, namespace, keys)


async def keep(store: Store, namespace: str, values: Mapping[str, bytes], seconds: float | None = None) -> None:
    """Puts the values, in a thread if that may take its time. Raises CacheError."""
    if store.writes_at_once:
        store.put_many(namespace, values, seconds)
    else:
        await asyncio.to_thread(store.put_many, namespace, values, seconds)


async def off_loop(store: Store, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `call`, which uses this store, returns; it runs in a thread unless the store is in memory.

    Raises what `call` raises.
    """
    if isinstance(store, MemoryStore):
        return call(*args, **kwargs)
    return await asyncio.to_thread(call, *args, **kwargs)
