"""A Select that asks nobody: what is not kept cannot be had."""

from fedkg.dialects import GENERIC, Query
from fedkg.errors import OfflineError
from fedkg.fetch.base import Rows
from fedkg.meter import Meter

__all__ = ["Offline"]

SHOWN = 300


class Offline:
    """Stands where an endpoint would be asked. There is no transport behind it, so nothing can leave the process.

    `meter` is the session's; nothing is counted here.
    """

    def __init__(self, endpoint: str, meter: Meter) -> None:
        self.endpoint = endpoint
        self.meter = meter

    async def select(self, query: Query, kind: str = "") -> Rows:
        """Nothing. Raises OfflineError, which says what would have been asked."""
        text = " ".join((query if isinstance(query, str) else query(GENERIC)).split())
        message = (
            f"{self.endpoint} is not asked in offline mode, and the cache does not hold its reply to this ({kind})"
        )
        error = OfflineError(message, asked=text)
        error.add_note(f"asked: {text[:SHOWN]}{'…' if len(text) > SHOWN else ''}")
        raise error

    async def close(self) -> None:
        """Nothing to free."""
