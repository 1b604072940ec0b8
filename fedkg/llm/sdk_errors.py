"""What it means that a model's service failed, in one place for all wires.

The code in the service's reply counts first, then its words, then the HTTP status; where there is no reply, the class
of the SDK's exception. Codes are those that the vendors document; words are matched where no code tells the case.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fedkg.errors import (
    ModelAuthError,
    ModelContextError,
    ModelError,
    ModelFilteredError,
    ModelOverloadedError,
    ModelQuotaError,
    ModelRateError,
    ModelUnreachableError,
)

__all__ = ["kind", "service_message", "wait", "worded"]

CODES: Mapping[str, type[ModelError]] = {
    # Anthropic, "Errors": error.type
    "authentication_error": ModelAuthError,
    "permission_error": ModelAuthError,
    "billing_error": ModelQuotaError,
    "rate_limit_error": ModelRateError,
    "request_too_large": ModelContextError,
    "overloaded_error": ModelOverloadedError,
    "timeout_error": ModelUnreachableError,
    "api_error": ModelUnreachableError,
    # Anthropic, the same page: error.details.error_code, of 400, 402 and 429
    "enforced_spend_limit_reached": ModelQuotaError,
    "contract_spend_limit_reached": ModelQuotaError,
    "linked_organization_spend_limit_reached": ModelQuotaError,
    "linked_organization_billing_unavailable": ModelQuotaError,
    "ramp_limit_exceeded": ModelRateError,
    "organization_on_hold": ModelAuthError,
    # OpenAI, "Error codes": error.code, and error.type where several codes share it
    "invalid_api_key": ModelAuthError,
    "insufficient_quota": ModelQuotaError,
    "billing_not_active": ModelQuotaError,
    "billing_hard_limit_reached": ModelQuotaError,
    "rate_limit_exceeded": ModelRateError,
    "server_is_overloaded": ModelOverloadedError,
    "slow_down": ModelOverloadedError,
    "context_length_exceeded": ModelContextError,
    "string_above_max_length": ModelContextError,
    # OpenAI and Azure OpenAI: a filter on the prompt
    "content_filter": ModelFilteredError,
    "content_policy_violation": ModelFilteredError,
    "invalid_prompt": ModelFilteredError,
    # llama.cpp, ggml-org/llama.cpp pull request 15780
    "exceed_context_size_error": ModelContextError,
}
WORDS: tuple[tuple[re.Pattern[str], type[ModelError]], ...] = (
    # Anthropic: "prompt is too long: 208656 tokens > 200000 maximum", "input length and `max_tokens` exceed context
    # limit"; OpenAI and vLLM: "This model's maximum context length is …"; llama.cpp: "the request exceeds the available
    # context size"; llama-cpp-python: "Requested tokens (2285) exceed context window of 2048"; Ollama: "the input
    # length exceeds the context length", where it does not cut the prompt without a word
    (
        re.compile(
            r"prompt is too long|maximum context length"
            r"|exceed(s|ed)? (the |max )?(available )?context (size|length|window|limit)",
            re.IGNORECASE,
        ),
        ModelContextError,
    ),
    # Anthropic, with type invalid_request_error: "Your credit balance is too low …", "You have reached your specified
    # API usage limits"
    (re.compile(r"credit balance is too low|reached your specified (API|workspace API) usage limits"), ModelQuotaError),
    # Anthropic, with type invalid_request_error
    (re.compile(r"output blocked by content filtering policy", re.IGNORECASE), ModelFilteredError),
)
LONGEST = 10_000
"""Characters of what a service says that are looked at."""
STATUSES: Mapping[int, type[ModelError]] = {
    401: ModelAuthError,
    402: ModelQuotaError,
    403: ModelAuthError,
    408: ModelUnreachableError,
    413: ModelContextError,
    429: ModelRateError,
    503: ModelOverloadedError,
    529: ModelOverloadedError,
}


def kind(error: Exception, classes: Mapping[str, type[ModelError]]) -> type[ModelError]:
    """What an exception of an SDK becomes.

    `classes` says it by class name, the nearest class above that is listed wins.
    """
    if isinstance(error, TimeoutError):
        return ModelUnreachableError
    by_class = next(classes[cls.__name__] for cls in type(error).__mro__ if cls.__name__ in classes)
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or status < 300:
        return by_class
    coded = (CODES[code] for code in _codes(getattr(error, "body", None)) if code in CODES)
    return next(coded, None) or worded(service_message(error)) or _by_status(status) or by_class


def service_message(error: Exception) -> str:
    """The service's own words: the message in its reply, or all of a reply of another form.

    Where there is no reply, it is why the request failed.
    """
    body = getattr(error, "body", None)
    if words := _within(_within(body, "error") or body, "message") or body:
        return f"{getattr(error, 'status_code', '')} {words}".strip()[:LONGEST]
    cause = f": {error.__cause__}" if isinstance(error.__cause__, Exception) else ""
    return (str(error).rstrip(".") or type(error).__name__) + cause


def worded(text: str) -> type[ModelError] | None:
    """What the words of a service tell; None where they tell nothing."""
    return next((kind for pattern, kind in WORDS if pattern.search(text)), None)


def wait(error: Exception) -> float:
    """The seconds that the service asked to wait, in a Retry-After header; 0.0 without one that can be read."""
    try:
        asked = float(error.response.headers["retry-after"])  # type: ignore[attr-defined]  # or AttributeError
    except (AttributeError, KeyError, ValueError):
        return 0.0
    return asked if asked > 0 else 0.0


def _by_status(status: int) -> type[ModelError] | None:
    return STATUSES.get(status) or (ModelUnreachableError if status >= 500 else None)


def _codes(body: object) -> Iterator[str]:
    """The codes in the body of an error, the most specific first.

    The SDKs hand on the whole body, or what is in `error`.
    """
    error = _within(body, "error") or body
    for code in (_within(_within(error, "details"), "error_code"), _within(error, "code"), _within(error, "type")):
        if isinstance(code, str):
            yield code


def _within(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
