"""OpenAI's chat completions, and any server that speaks them at a base URL, as a ChatModel."""

import contextlib
from typing import Any

import msgspec

from fedkg.errors import (
    ModelAuthError,
    ModelDeclinedError,
    ModelError,
    ModelFilteredError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from fedkg.llm.base import Completion, Request, Token
from fedkg.llm.sdk import CUT, Count, Vendor, WireModel, shown

__all__ = ["OpenAIModel", "connect"]


class OpenAITokenDetails(msgspec.Struct):
    """What tokens came from or went into; prompt and completion have one each."""

    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class OpenAIUsage(msgspec.Struct):
    """Tokens as the service counts them; many servers leave parts out."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    prompt_tokens_details: OpenAITokenDetails | None = None
    completion_tokens_details: OpenAITokenDetails | None = None


class OpenAIMessage(msgspec.Struct):
    """The message of a choice; what the model thought goes by one of two names, and is not read."""

    content: str | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class TokenLikelihood(msgspec.Struct):
    """A token, or an alternative to one."""

    token: str
    logprob: float


class ReplyToken(TokenLikelihood):
    """A token of the reply."""

    top_logprobs: list[TokenLikelihood] = []


class ReplyTokens(msgspec.Struct):
    """The tokens of the reply."""

    content: list[ReplyToken]


class OpenAIChoice(msgspec.Struct):
    """One of the replies; one is asked for.

    Servers give log-probabilities in several forms: only OpenAI's own is read.
    """

    message: OpenAIMessage
    finish_reason: str | None = None
    logprobs: Any = None


class OpenAIReply(msgspec.Struct):
    """A reply on the wire."""

    choices: list[OpenAIChoice]
    usage: OpenAIUsage | None = None


class OpenAIModel(WireModel):
    """A ChatModel over OpenAI's service, or over the compatible server at `base_url` (ending in /v1)."""

    reply = OpenAIReply
    vendor = Vendor(
        name="openai",
        home="https://api.openai.com/v1",
        key="OPENAI_API_KEY",
        url="OPENAI_BASE_URL",
        client="AsyncOpenAI",
        resource="chat.completions",
        base="OpenAIError",
        classes={
            "OpenAIError": ModelError,
            "SubjectTokenProviderError": ModelAuthError,
            "LengthFinishReasonError": ModelReplyError,
            "ContentFilterFinishReasonError": ModelFilteredError,
            "APIConnectionError": ModelUnreachableError,
            "APIResponseValidationError": ModelReplyError,
            "APIStatusError": ModelRefusedError,
        },
        optional={
            "response_format": ("response_format", "json_schema"),
            "temperature": ("temperature",),
            "max_tokens": ("max_tokens",),
            "max_completion_tokens": ("max_completion_tokens",),
        },
    )

    def _arguments(self, request: Request) -> dict[str, Any]:
        can = self.capability
        sent: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in self._messages(request)],
            # OpenAI's reasoning models refuse the old name, servers elsewhere do not all know the new one
            "max_tokens" if self._elsewhere else "max_completion_tokens": self._most(request),
        }
        if request.temperature or not request.sample:
            sent["temperature"] = request.temperature or 0
        if can.structured == "native" and request.schema:
            form = {"name": request.call, "schema": self._schema(request), "strict": True}
            sent["response_format"] = {"type": "json_schema", "json_schema": form}
        if request.alternatives:
            sent |= {"logprobs": True, "top_logprobs": request.alternatives}
        return sent

    def _completion(self, reply: OpenAIReply) -> Completion:
        used = reply.usage or OpenAIUsage()
        read, wrote = (
            used.prompt_tokens_details or OpenAITokenDetails(),
            used.completion_tokens_details or OpenAITokenDetails(),
        )
        return Completion(
            (reply.choices[0].message.content or "") if reply.choices else "",
            used.prompt_tokens or 0,
            used.completion_tokens or 0,
            read.cached_tokens or 0,
            wrote.reasoning_tokens or 0,
            written=read.cache_write_tokens or 0,
            spelled=_spelled(reply.choices[0].logprobs) if reply.choices else (),
        )

    def _thought(self, reply: OpenAIReply, completion: Completion) -> bool:
        messages = [choice.message for choice in reply.choices[:1]]
        aloud = any(message.reasoning_content or message.reasoning for message in messages)
        return aloud or super()._thought(reply, completion)

    def _fault(self, reply: OpenAIReply, asked: str) -> ModelError | None:
        if not reply.choices:
            return ModelReplyError(f"{asked}: the reply holds no choice", asked=asked)
        message, reason = reply.choices[0].message, reply.choices[0].finish_reason
        if message.refusal:
            why = shown(message.refusal, self._key)
            return ModelDeclinedError(f"{asked}: the model declines to answer: {why}", asked=asked)
        if reason == "content_filter":
            return ModelFilteredError(f"{asked}: the reply was stopped (content_filter)", asked=asked)
        if reason == "length":
            return ModelReplyError(f"{asked}: the reply was cut (length)", asked=asked, hint=CUT)
        return None


def _spelled(logprobs: object) -> tuple[Token, ...]:
    """The tokens with their alternatives; none where the service gives none, or gives them otherwise."""
    with contextlib.suppress(msgspec.ValidationError):
        return tuple(
            Token(token.token, {other.token: other.logprob for other in (*token.top_logprobs, token)})
            for token in msgspec.convert(logprobs, ReplyTokens).content
        )
    return ()


connect = OpenAIModel.connect
