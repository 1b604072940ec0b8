"""What graphs keep in the cache: how its keys tell contents apart, and how it is read back."""

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from fedkg.cache.off_loop import look_up
from fedkg.cache.store import Store
from fedkg.core.encoding import encode
from fedkg.errors import TermError

__all__ = ["digest", "load"]

K = TypeVar("K")
V = TypeVar("V")


def digest(what: object) -> str:
    """What distinguishes one content, shape and set of bounds from another in the keys of the cache."""
    return hashlib.blake2s(encode(what), digest_size=12).hexdigest()


async def load(store: Store, namespace: str, keys: Mapping[str, K], read: Callable[[bytes, K], V]) -> dict[K, V]:
    """What the cache holds under these keys, by what they stand for; what cannot be read is a miss."""
    values = await look_up(store, namespace, list(keys))
    entries = {}
    for key, value in values.items():
        with contextlib.suppress(msgspec.MsgspecError, TermError):
            entries[keys[key]] = read(value, keys[key])
    return entries
