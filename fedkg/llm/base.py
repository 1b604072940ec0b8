"""The seam to language models: messages and a JSON schema go in, text with its token counts comes out."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec

__all__ = ["ChatModel", "Completion", "Message", "ScriptedModel"]


class Message(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Completion(msgspec.Struct, frozen=True):
    """A model's reply: its text, and tokens as the vendor counts them (`cached` are part of `tokens_in`)."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0


class ChatModel(Protocol):
    """A language model behind some vendor's wire."""

    name: str

    async def complete(self, messages: Sequence[Message], schema: dict[str, Any], name: str) -> Completion:
        """The reply to `messages`, asked to fit the JSON `schema` called `name`. Raises ModelError."""
        ...

    async def close(self) -> None:
        """Frees connections."""
        ...


class ScriptedModel:
    """A ChatModel driven by a list of replies or a function; keeps what it was asked."""

    name = "scripted"

    def __init__(self, replies: Sequence[str] | Callable[[Sequence[Message], str], str]) -> None:
        self._reply = replies if callable(replies) else _in_turn(replies)
        self.asked: list[tuple[Sequence[Message], str]] = []

    async def complete(self, messages: Sequence[Message], schema: dict[str, Any], name: str) -> Completion:
        """The next reply; tokens are counted as characters / 4."""
        self.asked.append((messages, name))
        text = self._reply(messages, name)
        return Completion(text, sum(len(m.content) for m in messages) // 4, len(text) // 4)

    async def close(self) -> None:
        """Nothing to free."""


def _in_turn(replies: Sequence[str]) -> Callable[[Sequence[Message], str], str]:
    left = iter(replies)
    return lambda _messages, _name: next(left)
