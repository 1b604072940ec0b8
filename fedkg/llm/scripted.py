"""A chat model whose replies are written beforehand."""

from collections.abc import Callable, Sequence

from fedkg.llm.base import Capability, Completion, Message, Request

__all__ = ["ScriptedModel"]


class ScriptedModel:
    """A ChatModel driven by a list of replies or a function of messages and call; keeps what it was asked."""

    name = "scripted"

    def __init__(
        self, replies: Sequence[str] | Callable[[Sequence[Message], str], str], capability: Capability | None = None
    ) -> None:
        self.capability = capability or Capability(context=200_000)
        self._reply = replies if callable(replies) else _in_turn(replies)
        self.asked: list[tuple[Sequence[Message], str]] = []

    async def complete(self, request: Request) -> Completion:
        """The next reply; tokens are counted as characters / 4."""
        self.asked.append((request.messages, request.call))
        text = self._reply(request.messages, request.call)
        return Completion(text, sum(len(message.content) for message in request.messages) // 4, len(text) // 4)

    async def close(self) -> None:
        """Nothing to free."""


def _in_turn(replies: Sequence[str]) -> Callable[[Sequence[Message], str], str]:
    left = iter(replies)
    return lambda _messages, _name: next(left)
