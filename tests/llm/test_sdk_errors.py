"""What the failures of both vendors' services become, from their exceptions and the bodies that they document."""

import importlib
from typing import Any

import pytest

from fedkg.errors import (
    FedkgError,
    ModelAuthError,
    ModelContextError,
    ModelError,
    ModelFilteredError,
    ModelOverloadedError,
    ModelQuotaError,
    ModelRateError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from fedkg.llm import sdk_errors
from fedkg.llm.base import Message, Request
from fedkg.llm.sdk import Vendor

CASES: dict[str, list[tuple[int, Any, type[ModelError]]]] = {
    "anthropic": [
        (401, {"type": "authentication_error", "message": "invalid x-api-key"}, ModelAuthError),
        (403, {"type": "permission_error", "message": "no"}, ModelAuthError),
        (402, {"type": "billing_error", "message": "pay"}, ModelQuotaError),
        (404, {"type": "not_found_error", "message": "model: m"}, ModelRefusedError),
        (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}, ModelContextError),
        (429, {"type": "rate_limit_error", "message": "slow"}, ModelRateError),
        (
            429,
            {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}},
            ModelQuotaError,
        ),
        (429, {"type": "rate_limit_error", "details": {"error_code": "ramp_limit_exceeded"}}, ModelRateError),
        (500, {"type": "api_error", "message": "Internal server error"}, ModelUnreachableError),
        (504, {"type": "timeout_error", "message": "too slow"}, ModelUnreachableError),
        (529, {"type": "overloaded_error", "message": "Overloaded"}, ModelOverloadedError),
        (
            400,
            {"type": "invalid_request_error", "message": "prompt is too long: 208656 tokens > 200000 maximum"},
            ModelContextError,
        ),
        (
            400,
            {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."},
            ModelQuotaError,
        ),
        (
            400,
            {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
            ModelFilteredError,
        ),
        (400, {"type": "invalid_request_error", "message": "messages: at least one is needed"}, ModelRefusedError),
    ],
    "openai": [
        (401, {"type": "invalid_request_error", "code": "invalid_api_key", "message": "Incorrect"}, ModelAuthError),
        (429, {"type": "insufficient_quota", "code": "insufficient_quota"}, ModelQuotaError),
        (429, {"type": "insufficient_quota", "code": "credit_balance_exhausted"}, ModelQuotaError),
        (429, {"type": "tokens", "code": "rate_limit_exceeded", "message": "Rate limit"}, ModelRateError),
        (503, {"type": "service_unavailable_error", "code": "slow_down"}, ModelOverloadedError),
        (
            400,
            {
                "type": "invalid_request_error",
                "code": "context_length_exceeded",
                "message": "This model's maximum context length is 8192 tokens.",
            },
            ModelContextError,
        ),
        (400, {"code": "content_filter", "message": "filtered by the content management policy"}, ModelFilteredError),
        (400, {"type": "invalid_request_error", "code": "invalid_prompt"}, ModelFilteredError),
        (404, {"type": "invalid_request_error", "code": "model_not_found"}, ModelRefusedError),
        # vLLM
        (
            400,
            {
                "message": "This model's maximum context length is 2048 tokens. However, you requested 9999",
                "type": "BadRequestError",
                "code": 400,
            },
            ModelContextError,
        ),
        # llama.cpp, with the status of its first version
        (
            500,
            {"code": 500, "message": "the request exceeds …", "type": "exceed_context_size_error"},
            ModelContextError,
        ),
        (
            400,
            {"code": 400, "message": "the request exceeds the available context size, try increasing it"},
            ModelContextError,
        ),
        # llama-cpp-python
        (500, {"message": "Requested tokens (2285) exceed context window of 2048"}, ModelContextError),
        # Ollama
        (400, {"message": "the input length exceeds the context length"}, ModelContextError),
    ],
}


async def raised(vendor: Any, wire: Any, status: int, error: Any) -> ModelError:
    """What a reply with that error becomes."""
    wire.replies = [wire.said({"type": "error", "error": error}, status)]
    model = vendor.make(wire.url)
    with pytest.raises(ModelError) as caught:
        await model.complete(Request("plan", (Message("user", "Which?"),), {}))
    await model.close()
    return caught.value


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, every in CASES.items() for case in every])
async def test_each_documented_error_has_its_class(
    vendors: Any, wire: Any, name: str, case: tuple[int, Any, type[ModelError]]
) -> None:
    """What the vendors document, and what servers with OpenAI's wire return, has a class whose hint says what helps."""
    status, error, kind = case
    caught = await raised(vendors[name], wire, status, error)
    assert type(caught) is kind
    assert caught.hint


@pytest.mark.parametrize("error", [None, "no", ["x"], {"code": ["x"]}, {"details": "x", "type": {"a": 1}}])
async def test_an_error_of_any_shape_has_the_class_of_its_status(vendor: Any, wire: Any, error: Any) -> None:
    """A body that is not as documented does not keep the status from telling what it tells."""
    assert type(await raised(vendor, wire, 403, error)) is ModelAuthError


@pytest.mark.parametrize("kind", [ModelAuthError, ModelQuotaError, ModelContextError, ModelFilteredError])
def test_what_no_waiting_helps_is_not_retryable(kind: type[ModelError]) -> None:
    """Rate limits, overloads and broken connections pass; these do not."""
    assert not kind.retryable
    assert ModelRateError.retryable
    assert ModelOverloadedError.retryable
    assert ModelUnreachableError.retryable


def exceptions(base: type[BaseException]) -> set[type[BaseException]]:
    """A class with everything below it."""
    return {base}.union(*(exceptions(each) for each in base.__subclasses__()))


ANTHROPIC: dict[str, type[FedkgError]] = {
    "CredentialsError": ModelAuthError,
    "IdentityTokenFileError": ModelAuthError,
    "APIConnectionError": ModelUnreachableError,
    "APITimeoutError": ModelUnreachableError,
    "APIResponseValidationError": ModelReplyError,
    "APIStatusError": ModelRefusedError,
    "RequestTimeoutError": ModelUnreachableError,
    "HTTPNotImplementedError": ModelUnreachableError,
    "ServiceUnavailableError": ModelOverloadedError,
    "GatewayTimeoutError": ModelUnreachableError,
    "OverloadedError": ModelOverloadedError,
    "BadRequestError": ModelRefusedError,
    "AuthenticationError": ModelAuthError,
    "PaymentRequiredError": ModelQuotaError,
    "PermissionDeniedError": ModelAuthError,
    "NotFoundError": ModelRefusedError,
    "ConflictError": ModelRefusedError,
    "PreconditionFailedError": ModelRefusedError,
    "ContentTooLargeError": ModelContextError,
    "UnprocessableEntityError": ModelRefusedError,
    "RateLimitError": ModelRateError,
    "RequestHeaderFieldsTooLargeError": ModelRefusedError,
    "ClientClosedRequestError": ModelRefusedError,
    # has no status of its own: that of a real one decides
    "InternalServerError": ModelRefusedError,
}
OPENAI: dict[str, type[FedkgError]] = {
    "SubjectTokenProviderError": ModelAuthError,
    "LengthFinishReasonError": ModelReplyError,
    "ContentFilterFinishReasonError": ModelFilteredError,
    "APIConnectionError": ModelUnreachableError,
    "APITimeoutError": ModelUnreachableError,
    "APIResponseValidationError": ModelReplyError,
    "APIStatusError": ModelRefusedError,
    "BadRequestError": ModelRefusedError,
    "AuthenticationError": ModelAuthError,
    "OAuthError": ModelAuthError,
    "PermissionDeniedError": ModelAuthError,
    "NotFoundError": ModelRefusedError,
    "ConflictError": ModelRefusedError,
    "UnprocessableEntityError": ModelRefusedError,
    "RateLimitError": ModelRateError,
    "InternalServerError": ModelRefusedError,
}
EXPECTED = {"anthropic": ANTHROPIC, "openai": OPENAI}
GENERAL = {"AnthropicError", "OpenAIError", "APIError"}
# helpers around the SDKs' clients (streams, web sockets, web hooks) that no request of ours raises
UNRAISED = {
    "APIWebhookValidationError", "RetryableError", "WebSocketConnectionClosedError", "WebSocketQueueFullError",
    "StreamAlreadyConsumed", "MissingDependencyError", "_AmbiguousModuleClientUsageError",
}  # fmt: skip


def above(kind: type[BaseException]) -> list[str]:
    """The names of a class and of those above it, the nearest first."""
    return [cls.__name__ for cls in kind.__mro__]


def every(spec: Vendor) -> list[type[BaseException]]:
    """All exceptions of a vendor's SDK that a request of ours may raise.

    Its `lib` has what is built upon the client (agents, tools, other clouds), and is loaded as other tests touch it.
    """
    known = exceptions(getattr(spec.sdk(), spec.base))
    kinds = (kind for kind in known if not kind.__module__.startswith(f"{spec.name}.lib."))
    return [kind for kind in kinds if UNRAISED.isdisjoint(above(kind))]


def test_every_exception_of_the_sdk_is_mapped_on_purpose(vendor: Any) -> None:
    """A class that only falls to the SDK's most general one is unmapped, and fails until it is mapped or listed."""
    spec = vendor.kind.vendor
    mapped = set(spec.classes) - {spec.base}
    unmapped = [kind.__name__ for kind in every(spec) if mapped.isdisjoint(above(kind))]
    assert set(unmapped) <= GENERAL


def test_what_else_is_loaded_of_an_sdk_changes_nothing(vendors: Any) -> None:
    """Exceptions of parts that no request of ours uses do not count, whether such a part is loaded or not."""
    spec = vendors["openai"].kind.vendor
    before = {kind.__name__ for kind in every(spec)}
    agents = importlib.import_module("openai.lib.beta.agents")
    assert agents.AgentOutputParseError in exceptions(spec.sdk().OpenAIError)
    assert {kind.__name__ for kind in every(spec)} == before


def test_every_exception_becomes_what_is_listed(vendor: Any) -> None:
    """Every exception of the SDK becomes what is listed for it or for the nearest class above it, and is its cause."""
    spec, expected = vendor.kind.vendor, EXPECTED[vendor.name]
    assert set(expected) <= {kind.__name__ for kind in every(spec)}
    for kind in every(spec):
        error = kind.__new__(kind)
        with pytest.raises(ModelError) as caught, spec.mapped("asked", "key"):
            raise error
        assert type(caught.value) is next((expected[name] for name in above(kind) if name in expected), ModelError)
        assert caught.value.__cause__ is error


def test_every_class_right_below_the_status_error_is_listed(vendor: Any) -> None:
    """A status that the SDK gives a class of its own is one that this table must know."""
    sdk = vendor.kind.vendor.sdk()
    assert {kind.__name__ for kind in sdk.APIStatusError.__subclasses__()} <= set(EXPECTED[vendor.name])


def test_words_alone_tell_of_nothing_else() -> None:
    """A question about contexts and prompts is no fault."""
    assert sdk_errors.worded("What is the context of the longest prompt?") is None
