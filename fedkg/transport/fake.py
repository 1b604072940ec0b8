"""An endpoint that a test makes up."""

from collections.abc import Callable

from fedkg.sparql.reply import EndpointReply

__all__ = ["FakeTransport"]


class FakeTransport:
    """A Transport driven by a function from query text to reply; keeps the queries that it was sent."""

    def __init__(self, answer: Callable[[str], EndpointReply], url: str = "") -> None:
        self.answer = answer
        self.url = url
        self.queries: list[str] = []

    async def send(self, query: str) -> EndpointReply:
        """What the function returns."""
        self.queries.append(query)
        return self.answer(query)

    async def close(self) -> None:
        """Nothing to free."""
