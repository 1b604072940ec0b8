"""The seam to the outer world: the text of a query goes out, a raw reply or its accepted rows come back."""

from collections.abc import Callable
from typing import Protocol

from fedkg.config.dialects import Query
from fedkg.sparql.reply import EndpointReply, Rows

__all__ = ["FakeTransport", "SparqlClient", "Transport"]


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


class SparqlClient(Protocol):
    """Sends one query and vouches for the result: what it returns has passed the acceptance test."""

    async def select(self, query: Query, kind: str = "") -> Rows:
        """The accepted rows of `query`, in the dialect of whoever is asked; `kind` names the purpose in the count of requests.

        Raises EndpointError.
        """
        ...


class FakeTransport:
    """A Transport driven by a function from query text to reply; keeps the queries it was asked."""

    def __init__(self, answer: Callable[[str], EndpointReply], url: str = "") -> None:
        self.answer = answer
        self.url = url
        self.queries: list[str] = []

    async def send(self, query: str) -> EndpointReply:
        """What the function says."""
        self.queries.append(query)
        return self.answer(query)

    async def close(self) -> None:
        """Nothing to free."""
