"""The seam to the outer world: a query's text goes out, a raw reply or its accepted rows come back."""

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from fedkg.dialects import Query
from fedkg.terms import Term

__all__ = ["FakeTransport", "Reply", "Rows", "Select", "Transport"]


class Reply(msgspec.Struct, frozen=True):
    """What an endpoint sent back, unjudged: HTTP status, lower-cased headers, body, seconds until the last byte."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0

    @property
    def content_type(self) -> str:
        """The media type without parameters, lower case."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


class Rows(msgspec.Struct, frozen=True):
    """An accepted result: one dict per solution, variable name to term.

    `bytes` as received, `format` the media type that they came in.
    """

    rows: tuple[Mapping[str, Term], ...] = ()
    bytes: int = 0
    format: str = ""


class Transport(Protocol):
    """Sends one query; returns whatever came back. Raises EndpointError only where nothing came back.

    `url` is where it goes, without password and query; "" for what is in this process.
    """

    url: str

    async def send(self, query: str) -> Reply:
        """The endpoint's reply to `query`."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...


class Select(Protocol):
    """Sends one query and vouches for the result: what it returns has passed the acceptance test."""

    async def select(self, query: Query, kind: str = "") -> Rows:
        """The accepted rows of `query`, in the dialect of whoever is asked; `kind` names the purpose in the count of requests.

        Raises EndpointError.
        """
        ...


class FakeTransport:
    """A Transport driven by a function from query text to reply; keeps the queries it was asked."""

    def __init__(self, answer: Callable[[str], Reply], url: str = "") -> None:
        self.answer = answer
        self.url = url
        self.queries: list[str] = []

    async def send(self, query: str) -> Reply:
        """What the function says."""
        self.queries.append(query)
        return self.answer(query)

    async def close(self) -> None:
        """Nothing to free."""
