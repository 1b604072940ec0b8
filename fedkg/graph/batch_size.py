"""How many entities share a request.

Learned from what the endpoint could and could not do, and kept for the next process.
"""

import asyncio
import contextlib

from fedkg.cache.store import Store
from fedkg.config.settings import DAY

__all__ = ["BatchSize"]

NAMESPACE = "batch"
DAYS = 1


class BatchSize:
    """Half as many entities after a request that was too much, a quarter more after one that was not, up to `most`.

    It is kept under `key` for a day: an endpoint that was slow yesterday need not be slow today.
    """

    def __init__(self, store: Store, key: str, most: int) -> None:
        self.now = self._most = most
        self._store = store
        self._key = key
        self._known = False

    async def load(self) -> None:
        """Starts where the last process ended."""
        if self._known:
            return
        self._known = True
        kept = await asyncio.to_thread(self._store.get_many, NAMESPACE, [self._key])
        # what the cache holds and cannot be read is a miss
        with contextlib.suppress(ValueError):
            self.now = min(self._most, max(1, int(kept.get(self._key, str(self._most)))))

    async def learn(self, asked: int, *, fits: bool) -> None:
        """Notes whether so many entities at once were answered.

        Fewer than now prove nothing, one alone is the least.
        """
        if fits:
            size = min(self._most, self.now + max(1, self.now // 4)) if asked >= self.now else self.now
        else:
            size = min(self.now, asked // 2) or self.now
        if size != self.now:
            self.now = size
            await asyncio.to_thread(self._store.put_many, NAMESPACE, {self._key: str(size).encode()}, DAYS * DAY)
