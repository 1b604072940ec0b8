"""OpenAI's chat completions, and any server that speaks them at a base URL, as a ChatModel.

The SDK retries nothing by itself here; its replies are read from their bytes and checked, because it would hand on
whatever came with status 200. What its exceptions become is in VENDOR, applied by its `mapped` alone.
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
from fedkg.prompts import line

__all__ = ["OpenAIModel", "connect"]

# what a server may not know, with the words by which its complaint is recognised
OPTIONAL = {"response_format": ("response_format", "json_schema"), "temperature": ("temperature",)}
VENDOR = Vendor(
    name="openai",
    key="OPENAI_API_KEY",
    base="OpenAIError",
    errors={
        "OpenAIError": ModelError,
        "SubjectTokenProviderError": ModelRefusedError,
        "LengthFinishReasonError": ModelReplyError,
        "ContentFilterFinishReasonError": ModelRefusedError,
        "APIConnectionError": ModelUnreachableError,
        "APIResponseValidationError": ModelReplyError,
        "APIStatusError": ModelRefusedError,
        "InternalServerError": ModelUnreachableError,
    },
)


class Cached(msgspec.Struct):
    """How many of the prompt's tokens came from the cache."""

    cached_tokens: int | None = None


class Usage(msgspec.Struct):
    """Tokens as the service counts them; many servers leave parts out."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: Cached | None = None


class Said(msgspec.Struct):
    """The message of a choice."""

    content: str | None = None
    refusal: str | None = None


class Choice(msgspec.Struct):
    """One of the replies; one is asked for."""

    message: Said
    finish_reason: str | None = None


class Reply(msgspec.Struct):
    """A reply on the wire."""

    choices: list[Choice]
    usage: Usage | None = None


class OpenAIModel:
    """A ChatModel over OpenAI's service, or over the compatible server at `base_url` (ending in /v1), which needs no key.

    Temperature 0 and the JSON schema are sent; what the server complains of is left out from then on.
    """

    def __init__(self, model: str, key: str = "", base_url: str = "", timeout: float = TIMEOUT) -> None:
        sdk = VENDOR.sdk()
        key = VENDOR.checked(model, key, base_url, required=not base_url)
        self.name = f"openai:{model}"
        self._model = model
        self._timeout = timeout
        self._left_out: set[str] = set()
        self.capability = Capability("native", context=128_000 if not base_url else 8_192, prompt_cache="automatic")
        self._mask = key
        # without redirects: the SDK would send prompts to wherever they point
        client = sdk.DefaultAsyncHttpxClient(follow_redirects=False)
        self._client = sdk.AsyncOpenAI(
            # the SDK insists on a key
            api_key=key or "none",
            base_url=base_url or None,
            timeout=timeout,
            max_retries=0,
            http_client=client,
        )

    async def complete(self, request: Request) -> Completion:
        """The reply to the request, in native structured output where the server has it.

        Raises ModelUnreachableError, ModelRefusedError, and ModelReplyError where the reply was cut or is none.
        """
        with VENDOR.mapped(f"{self.name}: {request.call}", self._mask):
            async for attempt in stamina.retry_context(on=VENDOR.wait, attempts=TRIES, timeout=None):
                with attempt:
                    body = await self._send(request.messages, request.schema, request.call)
        return _completion(body, f"{self.name}: {request.call}")

    async def close(self) -> None:
        """Frees connections."""
        await self._client.close()

    async def _send(self, messages: Sequence[Message], schema: dict[str, Any], name: str) -> bytes:
        """The body of a reply with a good status; what the server does not know is left out of a further request."""
        optional = {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": schema, "strict": True},
            },
            "temperature": 0,
        }
        sent = {part: value for part, value in optional.items() if part not in self._left_out}
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            async with asyncio.timeout(self._timeout):
                create = self._client.chat.completions.with_raw_response.create
                raw = await create(model=self._model, messages=turns, **sent)
                return bytes(raw.http_response.content)
        except (VENDOR.sdk().BadRequestError, VENDOR.sdk().UnprocessableEntityError) as error:
            unknown = {part for part in sent if any(word in str(error) for word in OPTIONAL[part])}
            if not unknown:
                raise
            self._left_out |= unknown
        return await self._send(messages, schema, name)


def connect(model: str, base_url: str = "", environ: Mapping[str, str] = os.environ) -> OpenAIModel:
    """The model of that name with the key from OPENAI_API_KEY; `base_url` or else OPENAI_BASE_URL leads elsewhere.

    Raises ModelNameError where the key is not set, MissingExtraError where the SDK is not installed.
    """
    return OpenAIModel(model, environ.get(VENDOR.key, ""), base_url or environ.get("OPENAI_BASE_URL", ""))


def _completion(body: bytes, asked: str) -> Completion:
    try:
        reply = msgspec.json.decode(body, type=Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ModelReplyError(f"{asked}: the reply is no chat completion: {error}", asked=asked) from error
    if not reply.choices:
        raise ModelReplyError(f"{asked}: the reply holds no choice", asked=asked)
    said, reason = reply.choices[0].message, reply.choices[0].finish_reason
    if said.refusal or reason == "content_filter":
        raise ModelRefusedError(
            f"{asked}: the model declines to answer: {line(said.refusal or reason)}",
            asked=asked,
            hint="rephrase the question",
        )
    if reason == "length":
        raise ModelReplyError(f"{asked}: the reply was cut (length)", asked=asked)
    used = reply.usage or Usage()
    cached = used.prompt_tokens_details.cached_tokens if used.prompt_tokens_details else 0
    return Completion(said.content or "", used.prompt_tokens or 0, used.completion_tokens or 0, cached or 0)
