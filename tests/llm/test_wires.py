"""What both vendors' adapters do alike, over real HTTP on loopback."""

import sys
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fedkg.errors import (
    FedkgError,
    MissingExtraError,
    ModelError,
    ModelNameError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from fedkg.llm.base import ChatModel, Completion, Message, Request

MESSAGES = (Message("system", "Reply in JSON."), Message("user", "Which?"))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


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


def said(wire: Any, status: int, body: Any = None, **headers: str) -> Any:
    """A reply of the server."""
    return wire.said(body if body is not None else {}, status, {k.replace("_", "-"): v for k, v in headers.items()})


async def test_returns_text_and_counts_cached_tokens_into_the_input(vendor: Any, wire: Any) -> None:
    """Both wires give the text and 100 tokens in, 90 of them cached, although the vendors count them differently."""
    completion = await ask(vendor, wire, said(wire, 200, vendor.reply('{"n": 1}')))
    assert completion == Completion('{"n": 1}', 100, 5, 90)


async def test_the_name_is_vendor_and_model(vendor: Any) -> None:
    """A model is called `vendor:MODEL`."""
    async with model(vendor, "http://127.0.0.1:1") as made:
        assert made.name == f"{vendor.name}:m"


@pytest.mark.parametrize("status", [500, 503, 529, 408])
async def test_an_overloaded_service_is_tried_three_times(vendor: Any, wire: Any, status: int) -> None:
    """Errors of the server's side are retried twice and then raised as unreachable, with what the service said."""
    with pytest.raises(ModelUnreachableError, match="Overloaded"):
        await ask(vendor, wire, said(wire, status, OVERLOADED))
    assert len(wire.asked) == 3


async def test_a_retry_may_succeed(vendor: Any, wire: Any) -> None:
    """A reply after an overload counts as if nothing had been."""
    good = said(wire, 200, vendor.reply("{}"))
    completion = await ask(vendor, wire, said(wire, 529, OVERLOADED), said(wire, 429, retry_after="2"), good)
    assert completion.text == "{}"
    assert len(wire.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 422])
async def test_a_refusal_is_not_tried_again(vendor: Any, wire: Any, status: int) -> None:
    """A wrong key, a missing right, an unknown model or a bad request is raised at once."""
    with pytest.raises(ModelRefusedError, match="no such luck") as caught:
        await ask(vendor, wire, said(wire, status, {"error": {"type": "e", "message": "no such luck"}}))
    assert len(wire.asked) == 1
    assert caught.value.asked == f"{vendor.name}:m: choose"
    assert not caught.value.retryable


async def test_a_long_wait_is_raised_instead_of_waited_for(vendor: Any, wire: Any) -> None:
    """A rate limit that asks for more than 30 seconds ends the call."""
    with pytest.raises(ModelRefusedError):
        await ask(vendor, wire, said(wire, 429, {"error": {"message": "slow down"}}, retry_after="31"))
    assert len(wire.asked) == 1


@pytest.mark.parametrize(("asked", "wait"), [("7", 7.0), ("31", False), ("nan", False), ("-1", False), ("soon", False)])
async def test_the_wait_is_what_the_service_asked_for(vendor: Any, wire: Any, asked: str, wait: float) -> None:
    """A rate limit's Retry-After is obeyed up to 30 seconds; one that says no time is not tried again."""
    with pytest.raises(ModelRefusedError) as caught:
        await ask(vendor, wire, said(wire, 429, retry_after=asked))
    assert vendor.module.VENDOR.wait(caught.value.__cause__) == wait


async def test_an_overload_without_a_time_uses_the_usual_backoff(vendor: Any, wire: Any) -> None:
    """A server error that names no time is retried after a short growing wait."""
    with pytest.raises(ModelUnreachableError) as caught:
        await ask(vendor, wire, said(wire, 500))
    assert vendor.module.VENDOR.wait(caught.value.__cause__) is True


async def test_a_closed_port_is_unreachable(vendor: Any) -> None:
    """No connection is ModelUnreachableError."""
    async with model(vendor, "http://127.0.0.1:1") as made:
        with pytest.raises(ModelUnreachableError):
            await made.complete(Request("choose", MESSAGES, SCHEMA))


async def test_a_silent_service_times_out(vendor: Any, wire: Any) -> None:
    """A service that accepts the request and says nothing is given up after the timeout, on each try."""
    with pytest.raises(ModelUnreachableError):
        await ask(vendor, wire, wire.said(held=True), timeout=0.5)
    assert len(wire.asked) == 3


@pytest.mark.parametrize("body", [b"", b"<html>welcome</html>", b'{"content": 3, "choices": {}}', b"[]", b"\xff", b"{"])
async def test_a_body_of_another_kind_is_a_reply_error(vendor: Any, wire: Any, body: bytes) -> None:
    """Status 200 is not believed: a body that is no reply of this wire is ModelReplyError."""
    with pytest.raises(ModelReplyError):
        await ask(vendor, wire, said(wire, 200, body))


async def test_a_web_page_as_reply_is_a_reply_error(vendor: Any, wire: Any) -> None:
    """A page of a proxy or a wrong URL, sent as text/html, is ModelReplyError."""
    with pytest.raises(ModelReplyError):
        await ask(vendor, wire, said(wire, 200, b"<html></html>", content_type="text/html"))


async def test_a_cut_reply_is_a_reply_error(vendor: Any, wire: Any) -> None:
    """A reply that ran into the token limit is not handed on as if it were whole."""
    with pytest.raises(ModelReplyError, match="cut"):
        await ask(vendor, wire, said(wire, 200, vendor.cut))


async def test_a_declined_request_is_a_refusal(vendor: Any, wire: Any) -> None:
    """A model that declines is ModelRefusedError."""
    with pytest.raises(ModelRefusedError, match="declines"):
        await ask(vendor, wire, said(wire, 200, vendor.declined))


async def test_the_key_goes_out_in_one_header_only(vendor: Any, wire: Any, key: str) -> None:
    """The key is sent as the wire wants it and nowhere else."""
    await ask(vendor, wire, said(wire, 200, vendor.reply("{}")))
    holding = [name for name, value in wire.asked[0].headers.items() if key in value]
    assert holding in (["x-api-key"], ["authorization"])
    assert key not in str(wire.asked[0].body)


async def test_a_service_that_quotes_the_key_does_not_leak_it(vendor: Any, wire: Any, key: str) -> None:
    """Neither the message nor the printed traceback holds the key, even where the service repeats it."""
    with pytest.raises(ModelRefusedError) as caught:
        await ask(vendor, wire, said(wire, 401, {"error": {"message": f"wrong key {key}!"}}))
    assert "wrong key …!" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert key not in shown


async def test_no_repr_holds_the_key(vendor: Any, wire: Any, key: str) -> None:
    """A model can be printed."""
    async with model(vendor, wire.url) as made:
        assert key not in repr(made) + str(made)


async def test_redirects_are_not_followed(vendor: Any, wire: Any) -> None:
    """A redirect does not carry key and prompt to another place."""
    with pytest.raises(ModelRefusedError):
        await ask(vendor, wire, said(wire, 307, location=f"{wire.url}/elsewhere"))
    assert len(wire.asked) == 1


async def test_what_a_service_says_becomes_one_bounded_line(vendor: Any, wire: Any) -> None:
    """A service's message is shown without newlines and escape codes, and at most 300 characters of it."""
    with pytest.raises(ModelRefusedError) as caught:
        await ask(vendor, wire, said(wire, 400, {"error": {"message": "a\n\x1b[31mb" + "c" * 10_000}}))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_a_missing_key_names_its_variable(vendor: Any) -> None:
    """Without the key there is ModelNameError that says which variable to set."""
    with pytest.raises(ModelNameError, match=vendor.variable):
        vendor.module.connect("m", environ={})


@pytest.mark.parametrize("key", ["schlüssel", "a\nb", "a\x00b"])
def test_a_key_that_cannot_be_a_header_is_refused(vendor: Any, key: str) -> None:
    """A mangled key is named as such before anything is sent, without being shown."""
    with pytest.raises(ModelNameError, match=vendor.variable) as caught:
        vendor.module.connect("m", environ={vendor.variable: key})
    assert key not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://127.0.0.1/v1", "http://", "http://u:p@h/v1", "http://a b/"])
def test_a_base_url_that_is_none_is_refused(vendor: Any, url: str) -> None:
    """Only plain http and https URLs without a password in them lead to a service; the error does not repeat them."""
    with pytest.raises(ModelNameError, match="must be a plain http or https URL") as caught:
        vendor.module.connect("m", url, {vendor.variable: "k"})
    assert url not in str(caught.value)


def test_an_empty_model_name_is_refused(vendor: Any) -> None:
    """`vendor:` names no model."""
    with pytest.raises(ModelNameError, match="names no model"):
        vendor.module.connect(" ", environ={vendor.variable: "k"})


async def test_connect_takes_key_and_url_from_the_environment(vendor: Any, wire: Any, key: str) -> None:
    """The variables that the vendors' own SDKs read are read here too; white space around the key does not matter."""
    url = wire.url + ("/v1" if vendor.name == "openai" else "")
    environ = {vendor.variable: f" {key}\n", f"{vendor.name.upper()}_BASE_URL": url}
    wire.replies = [said(wire, 200, vendor.reply("{}"))]
    made = vendor.module.connect("m", environ=environ)
    assert (await made.complete(Request("plan", MESSAGES, SCHEMA))).text == "{}"
    await made.close()


def test_a_missing_package_names_the_extra(vendor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK there is MissingExtraError with the command that installs it."""
    monkeypatch.setitem(sys.modules, vendor.name, None)
    with pytest.raises(MissingExtraError) as caught:
        vendor.module.connect("m", environ={vendor.variable: "k"})
    assert caught.value.hint == f"pip install 'fedkg[{vendor.name}]'"


def exceptions(base: type[BaseException]) -> set[type[BaseException]]:
    """A class with everything below it."""
    return {base}.union(*(exceptions(each) for each in base.__subclasses__()))


ANTHROPIC: dict[str, type[FedkgError]] = {
    "AnthropicError": ModelError,
    "APIError": ModelError,
    "APIWebhookValidationError": ModelError,
    "RetryableError": ModelError,
    "CredentialsError": ModelRefusedError,
    "IdentityTokenFileError": ModelRefusedError,
    "APIConnectionError": ModelUnreachableError,
    "APITimeoutError": ModelUnreachableError,
    "APIResponseValidationError": ModelReplyError,
    "RequestTimeoutError": ModelUnreachableError,
    "InternalServerError": ModelUnreachableError,
    "HTTPNotImplementedError": ModelUnreachableError,
    "ServiceUnavailableError": ModelUnreachableError,
    "GatewayTimeoutError": ModelUnreachableError,
    "OverloadedError": ModelUnreachableError,
    "APIStatusError": ModelRefusedError,
    "BadRequestError": ModelRefusedError,
    "AuthenticationError": ModelRefusedError,
    "PaymentRequiredError": ModelRefusedError,
    "PermissionDeniedError": ModelRefusedError,
    "NotFoundError": ModelRefusedError,
    "ConflictError": ModelRefusedError,
    "PreconditionFailedError": ModelRefusedError,
    "ContentTooLargeError": ModelRefusedError,
    "UnprocessableEntityError": ModelRefusedError,
    "RateLimitError": ModelRefusedError,
    "RequestHeaderFieldsTooLargeError": ModelRefusedError,
    "ClientClosedRequestError": ModelRefusedError,
}
OPENAI: dict[str, type[FedkgError]] = {
    "OpenAIError": ModelError,
    "APIError": ModelError,
    "WebSocketConnectionClosedError": ModelError,
    "WebSocketQueueFullError": ModelError,
    "SubjectTokenProviderError": ModelRefusedError,
    "LengthFinishReasonError": ModelReplyError,
    "ContentFilterFinishReasonError": ModelRefusedError,
    "APIConnectionError": ModelUnreachableError,
    "APITimeoutError": ModelUnreachableError,
    "APIResponseValidationError": ModelReplyError,
    "InternalServerError": ModelUnreachableError,
    "APIStatusError": ModelRefusedError,
    "BadRequestError": ModelRefusedError,
    "AuthenticationError": ModelRefusedError,
    "OAuthError": ModelRefusedError,
    "PermissionDeniedError": ModelRefusedError,
    "NotFoundError": ModelRefusedError,
    "ConflictError": ModelRefusedError,
    "UnprocessableEntityError": ModelRefusedError,
    "RateLimitError": ModelRefusedError,
}
EXPECTED = {"anthropic": ("AnthropicError", ANTHROPIC), "openai": ("OpenAIError", OPENAI)}


# helpers around the SDKs' clients that are never raised by a request of ours
UNRAISED = {
    "StreamAlreadyConsumed", "MissingDependencyError", "WorkloadIdentityError", "MutuallyExclusiveAuthError",
    "ToolsetUsageError", "_AmbiguousModuleClientUsageError", "APIRemovedInV1",
}  # fmt: skip


def test_every_exception_of_the_sdk_is_mapped_on_purpose(vendor: Any) -> None:
    """Every class right below the SDK's general ones is listed above, so one that it adds fails here until it is."""
    base, expected = EXPECTED[vendor.name]
    sdk = vendor.module.VENDOR.sdk()
    # only what the SDK's root exports: its sub-packages for other uses load lazily, with exceptions of their own
    every = exceptions(getattr(sdk, base))
    below = {kind for kind in every if hasattr(sdk, kind.__name__)}
    general = {base, "APIError", "APIStatusError"}
    direct = {kind.__name__ for kind in below if kind.__name__ == base or kind.__mro__[1].__name__ in general}
    assert direct <= set(expected) | UNRAISED
    assert set(expected) <= {kind.__name__ for kind in every}


def test_the_most_specific_mapping_wins(vendor: Any) -> None:
    """Every exception of the SDK becomes what is listed for it, or for the nearest class above it, and stays its cause."""
    base, expected = EXPECTED[vendor.name]
    kinds = exceptions(getattr(vendor.module.VENDOR.sdk(), base))
    for kind in (kind for kind in kinds if kind.__name__ not in UNRAISED):
        error = kind.__new__(kind)
        with pytest.raises(FedkgError) as caught, vendor.module.VENDOR.mapped("asked", "key"):
            raise error
        nearest = next(known.__name__ for known in kind.__mro__ if known.__name__ in expected)
        assert type(caught.value) is expected[nearest]
        assert caught.value.__cause__ is error
