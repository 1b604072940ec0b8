"""A SparqlClient that sends no request: what is not kept cannot be had."""

from fedkg.config.dialects import GENERIC, Query
from fedkg.core.meter import Meter
from fedkg.errors import OfflineError
from fedkg.sparql.reply import Rows

__all__ = ["OfflineClient"]

SHOWN = 300


class OfflineClient:
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
