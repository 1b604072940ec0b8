"""What only OpenAI's wire has, and the servers that speak it in part."""

from typing import Any

import pytest

from fedkg.errors import (
    ModelContextError,
    ModelDeclinedError,
    ModelFilteredError,
    ModelNameError,
    ModelRefusedError,
    ModelReplyError,
)
from fedkg.llm import capability
from fedkg.llm.base import Completion, Message, Request, Token
from fedkg.llm.openai import OpenAIModel, connect
from tests.support.extras import needs

pytestmark = needs("openai", "openai")

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
TURNS = (Message("system", "Reply in JSON."), Message("user", "Which?"))
BARE = {"choices": [{"message": {"content": "{}"}}]}


async def ask(wire: Any, *replies: Any, times: int = 1) -> Completion:
    """The last of `times` completions of a server without a key."""
    wire.replies = list(replies)
    model = connect("local/model:8b", f"{wire.url}/v1", {})
    try:
        return [await model.complete(Request("plan", TURNS, SCHEMA)) for _ in range(times)][-1]
    finally:
        await model.close()


async def test_a_compatible_server_needs_no_key(wire: Any) -> None:
    """With a base URL a call works without OPENAI_API_KEY; the model's name goes out as it is."""
    assert (await ask(wire, wire.said(BARE))).text == "{}"
    assert wire.asked[0].path == "/v1/chat/completions"
    assert wire.asked[0].body["model"] == "local/model:8b"


async def test_the_request_asks_for_a_strict_schema_at_temperature_0(wire: Any) -> None:
    """The schema goes out under the call's name, strict; messages keep their roles; nothing else is set."""
    await ask(wire, wire.said(BARE))
    body = wire.asked[0].body
    assert body["response_format"]["json_schema"] == {"name": "plan", "schema": SCHEMA, "strict": True}
    assert body["messages"][0] == {"role": "system", "content": "Reply in JSON."}
    assert set(body) == {"model", "messages", "response_format", "temperature", "max_tokens"}
    assert (body["temperature"], body["max_tokens"]) == (0, capability.find("openai:m@http://h").output)


@pytest.mark.parametrize("sample", [0, 1])
async def test_a_temperature_is_sent(wire: Any, sample: int) -> None:
    """With every request that names one, samples too."""
    wire.replies = [wire.said(BARE)]
    model = OpenAIModel("m", "k", f"{wire.url}/v1")
    await model.complete(Request("plan", TURNS, SCHEMA, sample=sample, temperature=0.3))
    await model.close()
    assert wire.asked[0].body["temperature"] == 0.3


async def test_a_sample_is_drawn_at_the_models_own_temperature(wire: Any) -> None:
    """At 0 all samples would be one; nothing else of the request changes."""
    wire.replies = [wire.said(BARE)]
    model = OpenAIModel("m", "k", f"{wire.url}/v1")
    for sample in (0, 1, 2):
        await model.complete(Request("plan", TURNS, SCHEMA, sample=sample))
    await model.close()
    usual, first, second = (asked.body for asked in wire.asked)
    assert first == second == {name: value for name, value in usual.items() if name != "temperature"} != usual


async def test_openai_itself_is_sent_the_new_name_of_the_limit(wire: Any) -> None:
    """Reasoning models refuse `max_tokens`; servers elsewhere do not all know `max_completion_tokens`."""
    model = OpenAIModel("gpt-5", "k", capability=capability.find("openai:gpt-5"))
    sent = model._arguments(Request("plan", TURNS, SCHEMA))
    await model.close()
    assert sent["max_completion_tokens"] == 16_384
    assert "max_tokens" not in sent


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    "complaint",
    [
        {"error": {"message": "Unknown field: response_format"}},
        {"error": {"message": "type json_schema is not supported"}},
        {"error": "'response_format.type' must be 'text'"},  # LM Studio's form
        {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]},  # FastAPI's
    ],
)
async def test_a_server_without_schemas_is_asked_without_one(wire: Any, status: int, complaint: Any) -> None:
    """A complaint about the response format, in any form, drops it from this request and all later ones."""
    await ask(wire, wire.said(complaint, status), wire.said(BARE), times=2)
    assert ["response_format" in asked.body for asked in wire.asked] == [True, False, False]
    assert all("temperature" in asked.body for asked in wire.asked)


async def test_a_model_with_a_fixed_temperature_is_asked_without_one(wire: Any) -> None:
    """Reasoning models refuse a temperature; it is dropped and the schema stays."""
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    await ask(wire, wire.said({"error": {"message": message, "param": "temperature"}}, 400), wire.said(BARE))
    assert "temperature" not in wire.asked[1].body
    assert "response_format" in wire.asked[1].body


async def test_a_prompt_that_is_too_long_is_no_unknown_argument(wire: Any) -> None:
    """A server names max_tokens where prompt and reply do not fit; to ask without a limit would not help."""
    # vLLM's words
    message = (
        "'max_tokens' is too large: 2048. This model's maximum context length is 2048 tokens and your request has …"
    )
    with pytest.raises(ModelContextError):
        await ask(wire, wire.said({"message": message, "type": "BadRequestError", "code": 400}, 400))
    assert len(wire.asked) == 1


async def test_a_filter_that_quotes_the_question_is_no_unknown_argument(wire: Any) -> None:
    """What a service says for another reason is no complaint of an argument, whatever words are in it."""
    filtered = {"error": {"code": "content_filter", "message": "At which temperature does … melt: filtered"}}
    with pytest.raises(ModelFilteredError):
        await ask(wire, wire.said(filtered, 400))
    assert len(wire.asked) == 1


async def test_a_refusal_that_quotes_the_key_does_not_leak_it(wire: Any, key: str) -> None:
    """What the model says is a server's words, too."""
    message = {"content": None, "refusal": f"Not with {key}.\n"}
    wire.replies = [wire.said({"choices": [{"message": message}]})]
    model = OpenAIModel("m", key, f"{wire.url}/v1")
    with pytest.raises(ModelDeclinedError, match=r"Not with …\.$"):
        await model.complete(Request("plan", TURNS, SCHEMA))
    await model.close()


async def test_complaints_that_never_end_are_raised(wire: Any) -> None:
    """A server that goes on complaining is asked once per part and then raised as a refusal."""
    with pytest.raises(ModelRefusedError):
        await ask(wire, wire.said({"error": {"message": "response_format, temperature, everything"}}, 400))
    assert len(wire.asked) == 2


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens_details": None}, {"completion_tokens_details": {}}]
)
async def test_missing_counts_are_zero(wire: Any, usage: Any) -> None:
    """Servers that count nothing, or a part, still give a completion."""
    assert await ask(wire, wire.said({**BARE, "usage": usage})) == Completion("{}")


async def test_a_filtered_reply_is_a_refusal(wire: Any) -> None:
    """The content filter's stop is ModelFilteredError even where some text came."""
    choice = {"message": {"content": "I thi"}, "finish_reason": "content_filter"}
    with pytest.raises(ModelFilteredError, match="content_filter"):
        await ask(wire, wire.said({"choices": [choice]}))


async def test_a_reply_without_a_choice_is_a_reply_error(wire: Any) -> None:
    """An empty list of choices is no reply."""
    with pytest.raises(ModelReplyError, match="no choice"):
        await ask(wire, wire.said({"choices": []}))


async def test_an_error_about_the_word_none_shows_its_cause(wire: Any) -> None:
    """Without a key there is nothing to mask, so messages and causes stay whole."""
    with pytest.raises(ModelRefusedError, match="none of these") as caught:
        await ask(wire, wire.said({"error": {"message": "none of these"}}, 400))
    assert caught.value.__cause__ is not None


def test_openai_itself_needs_a_key() -> None:
    """Without a base URL the key is needed, also where the class is used directly."""
    with pytest.raises(ModelNameError, match="OPENAI_API_KEY"):
        OpenAIModel("m")


async def test_tokens_written_to_the_cache_are_told(wire: Any) -> None:
    """Newer models charge for what the cache takes."""
    usage = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 5}}
    completion = await ask(wire, wire.said({**BARE, "usage": usage}))
    assert (completion.tokens_in, completion.cached, completion.written) == (9, 2, 5)


SPELLED = {
    "content": [
        {"token": '{"deducible": ', "logprob": -0.0, "bytes": [123], "top_logprobs": []},
        {"token": "true", "logprob": -0.1, "top_logprobs": [{"token": "true", "logprob": -0.1}]},
        {
            "token": "}",
            "logprob": -0.0,
            "top_logprobs": [{"token": "}", "logprob": 0.0}, {"token": ",", "logprob": -9}],
        },
    ]
}


def spelled(logprobs: Any) -> dict[str, Any]:
    """A reply with these log-probabilities."""
    return {"choices": [{"message": {"content": '{"deducible": true}'}, "logprobs": logprobs}]}


async def test_log_probabilities_are_asked_for_where_they_are_wanted(wire: Any) -> None:
    """And nowhere else; each token comes with its alternatives, itself among them."""
    wire.replies = [wire.said(spelled(SPELLED))]
    model = OpenAIModel("m", "k", f"{wire.url}/v1")
    replies = [await model.complete(Request("deducible", TURNS, SCHEMA, alternatives=n)) for n in (0, 5)]
    await model.close()
    plain, wanted = (asked.body for asked in wire.asked)
    assert wanted == {**plain, "logprobs": True, "top_logprobs": 5}
    assert replies[1].spelled == (
        Token('{"deducible": ', {'{"deducible": ': 0.0}),
        Token("true", {"true": -0.1}),
        Token("}", {"}": 0.0, ",": -9.0}),
    )


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"tokens": ["true"], "token_logprobs": [-0.1]},
        {"content": [{"token": 1}]},
        "none",
        [],
    ],
)
async def test_log_probabilities_of_another_form_are_none(wire: Any, logprobs: Any) -> None:
    """The reply itself is as good as any."""
    reply = await ask(wire, wire.said(spelled(logprobs)))
    assert (reply.text, reply.spelled) == ('{"deducible": true}', ())


async def test_a_server_that_refuses_log_probabilities_is_not_asked_without_them(wire: Any) -> None:
    """Without them the reply would be of no use."""
    wire.replies = [wire.said({"error": {"message": "logprobs is not supported with this model"}}, 400)]
    model = OpenAIModel("m", "k", f"{wire.url}/v1")
    with pytest.raises(ModelRefusedError, match="logprobs is not supported"):
        await model.complete(Request("deducible", TURNS, SCHEMA, alternatives=5))
    await model.close()
    assert len(wire.asked) == 1


@pytest.mark.parametrize(
    "message",
    [
        {"content": "<think> Hm", "role": "assistant"},
        {"content": None, "reasoning_content": "Hm"},
        {"content": "", "reasoning": "Hm"},
    ],
)
async def test_servers_tell_thoughts_in_several_ways(wire: Any, message: dict[str, Any]) -> None:
    """In the text itself, or beside it under one of two names: the reply is then asked for with all of the output."""
    cut = {"choices": [{"message": message, "finish_reason": "length"}]}
    wire.replies = [wire.said(cut), wire.said(BARE)]
    model = connect("m", f"{wire.url}/v1", {})
    await model.complete(Request("plan", TURNS, SCHEMA, most=9))
    await model.close()
    assert [asked.body["max_tokens"] for asked in wire.asked] == [9, model.capability.output]
