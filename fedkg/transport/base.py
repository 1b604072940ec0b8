"""The seam to the outer world: the text of a query goes out, a raw reply or its accepted rows come back."""

from typing import Protocol, runtime_checkable

from fedkg.config.dialects import Format, Query
from fedkg.sparql.reply import EndpointReply, Rows

__all__ = ["FormatTransport", "SparqlClient", "Transport"]


class Transport(Protocol):
    """Sends one query; returns whatever came back. Raises EndpointError only where nothing came back.

    `url` is where it goes, without password and query; "" for what is in this process.
    """

    url: str

    async def send(self, query: str) -> EndpointReply:
        """The endpoint's reply to `query`."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...


@runtime_checkable
class FormatTransport(Transport, Protocol):
    """A Transport that can ask for results in one format or another; one of somebody's own need not."""

    async def send_for(self, query: str, wanted: Format) -> EndpointReply:
        """The endpoint's reply to `query`, in that format if it can."""
        ...


class SparqlClient(Protocol):
    """Sends one query and vouches for the result: what it returns has passed the acceptance test."""

    async def select(self, query: Query, kind: str = "") -> Rows:
        """The accepted rows of `query`, in the endpoint's dialect.

        `kind` names the purpose in the count of requests.

        Raises EndpointError.
        """
        ...
