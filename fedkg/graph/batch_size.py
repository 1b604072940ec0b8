"""How many entities share a request.

Learned from what the endpoint could and could not do, and kept for the next process.
"""

import contextlib
import math

from fedkg.cache.off_loop import keep, look_up
from fedkg.cache.store import Store
from fedkg.config.settings import DAY

__all__ = ["BatchSize"]

NAMESPACE = "batch"
DAYS = 1
SMALL = 4
"""Entities to begin with where it is not known how much the engine can take."""
QUICK = 2.0
"""Seconds that a request may take for the next one to ask for more, as long as none was too much."""


class BatchSize:
    """Half as many entities after a request that was too much, a quarter more after one that was not, up to `most`.

    A reply that took `slow` seconds makes no batch larger. The size is kept under `key` for a day: an endpoint that was
    slow yesterday need not be slow today.
    """

    def __init__(self, store: Store, key: str, most: int, slow: float = math.inf) -> None:
        self.now = self._most = most
        self._slow = slow
        self._store = store
        self._name = self._key = key
        self._loaded = self._growing = False

    async def load(self, *, small: bool = False) -> None:
        """Starts where the last process ended.

        Where there was none, with `most`, or `small` and then with as many as take two seconds, as the first replies
        show. Once the engine is known it begins anew: what was learned with few at first says little of what it can.
        """
        key = f"{self._name} small" if small else self._name
        if self._loaded and key == self._key:
            return
        self._loaded, self._key = True, key
        self.now = min(SMALL, self._most) if small else self._most
        kept = await look_up(self._store, NAMESPACE, [key])
        self._growing = small and key not in kept
        # what the cache holds and cannot be read is a miss
        with contextlib.suppress(ValueError, KeyError):
            self.now = min(self._most, max(1, int(kept[key])))

    async def learn(self, asked: int, *, fits: bool, seconds: float = 0.0) -> None:
        """Notes whether so many entities at once were answered, and the seconds that it took.

        Fewer than now prove nothing, but while the size grows from its first; one alone is the least.
        """
        size = self._larger(asked, seconds) if fits else min(self.now, asked // 2) or self.now
        self._growing = self._growing and fits
        if size != self.now:
            self.now = size
            await keep(self._store, NAMESPACE, {self._key: str(size).encode()}, DAYS * DAY)

    def _larger(self, asked: int, seconds: float) -> int:
        if self._growing:
            return min(self._most, max(self.now, int(asked * QUICK / max(seconds, 1e-3))))
        grows = asked >= self.now and seconds < self._slow
        return min(self._most, self.now + max(1, self.now // 4)) if grows else self.now
