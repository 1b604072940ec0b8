"""What only Anthropic's wire has."""

from typing import Any

import msgspec
import pytest

from fedkg.common.tokens import estimate
from fedkg.errors import ModelContextError
from fedkg.llm import capability
from fedkg.llm.anthropic import AnthropicModel
from fedkg.llm.base import Capability, Message, Request
from tests.support.extras import needs

pytestmark = needs("anthropic", "anthropic")

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
CAN = msgspec.structs.replace(capability.find("anthropic:m"), cache_from=1)
TURNS = (Message("user", "Which?"), Message("assistant", "[1]"), Message("user", "Again."))


async def sent(wire: Any, key: str, *messages: Message, replies: Any, can: Capability = CAN) -> list[dict[str, Any]]:
    """The bodies of the requests that two calls with the messages lead to."""
    wire.replies = replies
    model = AnthropicModel("m", key, wire.url, capability=can)
    try:
        for _ in range(2):
            await model.complete(Request("plan", messages, SCHEMA))
    finally:
        await model.close()
    return [asked.body for asked in wire.asked]


def reply(text: str = "{}") -> dict[str, Any]:
    """The least that a reply holds."""
    return {"content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1}}


async def test_the_request_asks_for_structured_output_and_marks_the_system_text_for_the_cache(
    wire: Any, key: str
) -> None:
    """The schema goes out as the output's format, the system text in a block of its own with a cache mark."""
    body, _ = await sent(wire, key, Message("system", "Reply in JSON."), *TURNS, replies=[wire.said(reply())])
    assert wire.asked[0].path == "/v1/messages"
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert body["system"] == [{"type": "text", "text": "Reply in JSON.", "cache_control": {"type": "ephemeral"}}]
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert {"temperature", "top_p", "stream"}.isdisjoint(body)
    assert body["max_tokens"] == CAN.output


@pytest.mark.parametrize(("more", "marked"), [(-1, True), (0, True), (1, False)])
async def test_only_what_the_service_caches_is_marked(wire: Any, key: str, more: int, marked: bool) -> None:
    """A system text shorter than the service caches is not marked: writing it would give nothing."""
    text = "Reply in JSON. " * 50
    can = msgspec.structs.replace(CAN, cache_from=estimate(text) + more)
    body, _ = await sent(wire, key, Message("system", text), *TURNS, replies=[wire.said(reply())], can=can)
    assert ("cache_control" in body["system"][0]) is marked


async def test_a_server_without_markers_gets_none(wire: Any, key: str) -> None:
    """Where the record does not say that markers mean something, the system text goes out bare."""
    can = msgspec.structs.replace(CAN, prompt_cache="none")
    body, _ = await sent(wire, key, Message("system", "Reply in JSON."), *TURNS, replies=[wire.said(reply())], can=can)
    assert body["system"] == [{"type": "text", "text": "Reply in JSON."}]


async def test_a_reply_that_fills_the_context_is_too_long(wire: Any, key: str) -> None:
    """The service's own stop for a full context is no reply that could be repaired."""
    with pytest.raises(ModelContextError):
        await sent(wire, key, *TURNS, replies=[wire.said({**reply(), "stop_reason": "model_context_window_exceeded"})])


async def test_without_a_system_message_none_is_sent(wire: Any, key: str) -> None:
    """An empty system text would be refused by the service, so the key is absent."""
    body, _ = await sent(wire, key, *TURNS, replies=[wire.said(reply())])
    assert "system" not in body


async def test_a_model_without_structured_output_is_asked_without_it(wire: Any, key: str) -> None:
    """A complaint about output_config drops it from this request and all later ones."""
    complaint = {"type": "error", "error": {"type": "invalid_request_error", "message": "output_config: not supported"}}
    bodies = await sent(wire, key, *TURNS, replies=[wire.said(complaint, 400), wire.said(reply())])
    assert ["output_config" in body for body in bodies] == [True, False, False]


async def test_the_text_is_put_together_from_the_text_blocks(wire: Any, key: str) -> None:
    """Blocks of thinking are passed over, several text blocks are joined."""
    blocks = [{"type": "text", "text": '{"a"'}, {"type": "thinking", "thinking": "no"}, {"type": "text", "text": ":1}"}]
    wire.replies = [wire.said({"content": blocks, "stop_reason": "end_turn"})]
    model = AnthropicModel("m", key, wire.url)
    completion = await model.complete(Request("plan", TURNS, SCHEMA))
    await model.close()
    assert completion.text == '{"a":1}'
    assert completion.tokens_in == 0


async def test_tokens_written_to_the_cache_are_part_of_the_input(wire: Any, key: str) -> None:
    """What the cache took counts as input, but not as cached."""
    usage = {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 40}
    wire.replies = [wire.said({**reply(), "usage": usage})]
    model = AnthropicModel("m", key, wire.url)
    completion = await model.complete(Request("plan", TURNS, SCHEMA))
    await model.close()
    assert (completion.tokens_in, completion.tokens_out, completion.cached, completion.written) == (43, 2, 0, 40)
