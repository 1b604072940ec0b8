"""Anthropic's Messages API as a ChatModel: structured output, and marks for the prompt cache where they pay."""

from typing import Any

import msgspec

from fedkg.common.tokens import estimate
from fedkg.errors import (
    ModelAuthError,
    ModelContextError,
    ModelDeclinedError,
    ModelError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from fedkg.llm.base import Completion, Request
from fedkg.llm.sdk import CUT, Count, Vendor, WireModel

__all__ = ["AnthropicModel", "connect"]


class AnthropicTokenDetails(msgspec.Struct):
    """What the output went into."""

    thinking_tokens: Count | None = None


class AnthropicUsage(msgspec.Struct):
    """Tokens as the service counts them; what the cache gave or took is not part of `input_tokens`."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    output_tokens_details: AnthropicTokenDetails | None = None


class AnthropicBlock(msgspec.Struct):
    """A part of a reply; only those of type text have text."""

    type: str
    text: str = ""


class AnthropicReply(msgspec.Struct):
    """A reply on the wire."""

    content: list[AnthropicBlock]
    stop_reason: str | None = None
    usage: AnthropicUsage = msgspec.field(default_factory=AnthropicUsage)


class AnthropicModel(WireModel):
    """A ChatModel over Anthropic's service, or over another one that speaks its wire at `base_url` (without /v1)."""

    reply = AnthropicReply
    vendor = Vendor(
        name="anthropic",
        home="https://api.anthropic.com",
        key="ANTHROPIC_API_KEY",
        url="ANTHROPIC_BASE_URL",
        client="AsyncAnthropic",
        resource="messages",
        base="AnthropicError",
        classes={
            "AnthropicError": ModelError,
            "CredentialsError": ModelAuthError,
            "APIConnectionError": ModelUnreachableError,
            "APIResponseValidationError": ModelReplyError,
            "APIStatusError": ModelRefusedError,
        },
        optional={"output_config": ("output_config",)},
    )

    def _arguments(self, request: Request) -> dict[str, Any]:
        can, messages = self.capability, self._messages(request)
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [{"role": turn.role, "content": turn.content} for turn in messages if turn.role != "system"]
        sent: dict[str, Any] = {"model": self._model, "max_tokens": self._most(request), "messages": turns}
        if system:
            sent["system"] = [{"type": "text", "text": system}]
        # the system text is the same for every question; a mark on less than the service caches costs and gives nothing
        if can.prompt_cache == "markers" and estimate(system) >= can.cache_from:
            sent["system"][0]["cache_control"] = {"type": "ephemeral"}
        if can.structured == "native" and request.schema:
            sent["output_config"] = {"format": {"type": "json_schema", "schema": self._schema(request)}}
        return sent

    def _completion(self, reply: AnthropicReply) -> Completion:
        text = "".join(block.text for block in reply.content if block.type == "text")
        used = reply.usage
        cached, written = used.cache_read_input_tokens or 0, used.cache_creation_input_tokens or 0
        thought = used.output_tokens_details.thinking_tokens if used.output_tokens_details else 0
        tokens_in = (used.input_tokens or 0) + cached + written
        return Completion(text, tokens_in, used.output_tokens or 0, cached, thought or 0, written=written)

    def _thought(self, reply: AnthropicReply, completion: Completion) -> bool:
        return any("thinking" in block.type for block in reply.content) or super()._thought(reply, completion)

    def _fault(self, reply: AnthropicReply, asked: str) -> ModelError | None:
        match reply.stop_reason:
            case "refusal":
                return ModelDeclinedError(f"{asked}: the model declines to answer", asked=asked)
            case "max_tokens":
                return ModelReplyError(f"{asked}: the reply was cut (max_tokens)", asked=asked, hint=CUT)
            case "model_context_window_exceeded":
                return ModelContextError(f"{asked}: prompt and reply are longer than the model's context", asked=asked)
        return None


connect = AnthropicModel.connect
