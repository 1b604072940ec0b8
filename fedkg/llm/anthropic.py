"""Anthropic's Messages API as a ChatModel, with native structured output.

The SDK sends and retries nothing by itself here; its replies are read from their bytes and checked, because it would hand
on whatever came with status 200. What its exceptions become is in VENDOR, applied by its `mapped` alone.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import stamina

from fedkg.errors import (
    ModelError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from fedkg.llm.base import Capability, Completion, Message, Request
from fedkg.llm.wire import TIMEOUT, TRIES, Vendor

__all__ = ["AnthropicModel", "connect"]

MAX_TOKENS = 8_192  # replies are small; this leaves room for thinking
VENDOR = Vendor(
    name="anthropic",
    key="ANTHROPIC_API_KEY",
    base="AnthropicError",
    errors={
        "AnthropicError": ModelError,
        "CredentialsError": ModelRefusedError,
        "APIConnectionError": ModelUnreachableError,
        "APIResponseValidationError": ModelReplyError,
        "APIStatusError": ModelRefusedError,
        "RequestTimeoutError": ModelUnreachableError,
        "InternalServerError": ModelUnreachableError,
    },
)


class Usage(msgspec.Struct):
    """Tokens as the service counts them; what the cache gave or took is not part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class Block(msgspec.Struct):
    """A part of a reply; only those of type text have text."""

    type: str
    text: str = ""


class Reply(msgspec.Struct):
    """A reply on the wire."""

    content: list[Block]
    stop_reason: str | None = None
    usage: Usage = msgspec.field(default_factory=Usage)


class AnthropicModel:
    """A ChatModel over Anthropic's service, or over another one that speaks its wire at `base_url` (without /v1)."""

    def __init__(self, model: str, key: str = "", base_url: str = "", timeout: float = TIMEOUT) -> None:
        sdk = VENDOR.sdk()
        key = VENDOR.checked(model, key, base_url, required=True)
        self.name = f"anthropic:{model}"
        self._model = model
        self._timeout = timeout
        self._structured = True
        self.capability = Capability("native", context=200_000, output=MAX_TOKENS, prompt_cache="markers")
        self._mask = key
        # without redirects: the SDK would send the key to wherever they point
        client = sdk.DefaultAsyncHttpxClient(follow_redirects=False)
        self._client = sdk.AsyncAnthropic(
            api_key=key, base_url=base_url or None, timeout=timeout, max_retries=0, http_client=client
        )

    async def complete(self, request: Request) -> Completion:
        """The reply to the request, in native structured output where the model has it.

        Raises ModelUnreachableError, ModelRefusedError, and ModelReplyError where the reply was cut or is none.
        """
        with VENDOR.mapped(f"{self.name}: {request.call}", self._mask):
            async for attempt in stamina.retry_context(on=VENDOR.wait, attempts=TRIES, timeout=None):
                with attempt:
                    body = await self._send(request.messages, request.schema)
        return _completion(body, f"{self.name}: {request.call}")

    async def close(self) -> None:
        """Frees connections."""
        await self._client.close()

    async def _send(self, messages: Sequence[Message], schema: dict[str, Any]) -> bytes:
        """The body of a reply with a good status; a model without structured output is asked once more without it."""
        request = _request(self._model, messages)
        if self._structured:
            request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        try:
            async with asyncio.timeout(self._timeout):
                raw = await self._client.messages.with_raw_response.create(**request)
                return bytes(raw.http_response.content)
        except VENDOR.sdk().BadRequestError as error:
            if not self._structured or "output_config" not in str(error):
                raise
            self._structured = False
        return await self._send(messages, schema)


def connect(model: str, base_url: str = "", environ: Mapping[str, str] = os.environ) -> AnthropicModel:
    """The model of that name with the key from ANTHROPIC_API_KEY; `base_url` or else ANTHROPIC_BASE_URL leads elsewhere.

    Raises ModelNameError where the key is not set, MissingExtraError where the SDK is not installed.
    """
    return AnthropicModel(model, environ.get(VENDOR.key, ""), base_url or environ.get("ANTHROPIC_BASE_URL", ""))


def _request(model: str, messages: Sequence[Message]) -> dict[str, Any]:
    """The request's arguments; the system text, the same for every question, is marked for the prompt cache."""
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [{"role": message.role, "content": message.content} for message in messages if message.role != "system"]
    request: dict[str, Any] = {"model": model, "max_tokens": MAX_TOKENS, "messages": turns}
    if system:
        request["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    return request


def _completion(body: bytes, asked: str) -> Completion:
    try:
        reply = msgspec.json.decode(body, type=Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelReplyError(f"{asked}: the reply is none of the Messages API: {error}", asked=asked) from error
    if reply.stop_reason == "refusal":
        raise ModelRefusedError(f"{asked}: the model declines to answer", asked=asked, hint="rephrase the question")
    if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        raise ModelReplyError(f"{asked}: the reply was cut ({reply.stop_reason})", asked=asked)
    text = "".join(block.text for block in reply.content if block.type == "text")
    used = reply.usage
    cached = used.cache_read_input_tokens or 0
    return Completion(
        text, used.input_tokens + cached + (used.cache_creation_input_tokens or 0), used.output_tokens, cached
    )
