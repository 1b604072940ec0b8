"""One call of a vendor's model over the wire that a test gives."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fedkg.llm.base import ChatModel, Completion, Message, Request

__all__ = ["MESSAGES", "SCHEMA", "ask", "model"]

MESSAGES = (Message("system", "Reply in JSON."), Message("user", "Which?"))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@asynccontextmanager
async def model(vendor: Any, url: str, **more: Any) -> AsyncIterator[ChatModel]:
    """A model of the vendor at that URL, closed at the end."""
    made = vendor.make(url, **more)
    try:
        yield made
    finally:
        await made.close()


async def ask(vendor: Any, wire: Any, *replies: Any, **more: Any) -> Completion:
    """The completion that the replies lead to."""
    wire.replies = list(replies)
    async with model(vendor, wire.url, **more) as made:
        return await made.complete(Request("choose", MESSAGES, SCHEMA))
