"""What the vendors' SDKs send and read, played from tests/cassettes without a server; `make cassettes` records it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from vcr.errors import CannotOverwriteExistingCassetteException

from fedkg.errors import ModelError, ModelReplyError
from fedkg.llm.base import ChatModel, Completion, Message, Request

Recorded = Callable[..., AbstractContextManager[None]]
NOWHERE = "http://127.0.0.1:9"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def asked(text: str) -> Request:
    """A request with that question: each of its own, so that it finds its own reply."""
    return Request("choose", (Message("system", "Reply in JSON."), Message("user", text)), SCHEMA)


@pytest.fixture
async def model(vendor: Any, wire: Any, recording: bool) -> AsyncIterator[ChatModel]:
    """A vendor's model over its SDK; there is a server where its cassette is recorded, and none where it is played."""
    wire.replies = [wire.said(body) for body in (vendor.reply('{"n": 1}'), vendor.cut, vendor.declined)]
    made = vendor.make(wire.url if recording else NOWHERE)
    yield made
    await made.close()


async def exchange(model: ChatModel) -> Completion:
    """A good reply, a cut one and a refusal, in turn; the good one."""
    good = await model.complete(asked("Which?"))
    with pytest.raises(ModelReplyError, match="cut"):
        await model.complete(asked("Which of very many?"))
    with pytest.raises(ModelError, match="declines") as caught:
        await model.complete(asked("Which that nobody may say?"))
    assert not isinstance(caught.value, ModelReplyError)
    return good


async def changed(model: ChatModel) -> None:
    """The first request, which has a reply, and another one, which has none."""
    await model.complete(asked("Which?"))
    with pytest.raises(
        (ModelError, CannotOverwriteExistingCassetteException)
    ):  # not each SDK takes it for a failed connection
        await model.complete(asked("which?"))


async def test_an_exchange_is_played(vendor: Any, model: ChatModel, recorded: Recorded) -> None:
    """Text, counts and failures are read from what was recorded, as they were from the server."""
    with recorded(vendor.name):
        good = await exchange(model)
    assert (good.text, good.tokens_in, good.tokens_out, good.cached) == ('{"n": 1}', 100, 5, 90)


async def test_another_body_is_not_played(vendor: Any, model: ChatModel, recorded: Recorded, recording: bool) -> None:
    """A request that has changed by one letter finds no reply, and what is not played is a failure."""
    if recording:
        pytest.skip("cassettes are being recorded")
    with pytest.raises(AssertionError, match="not played to its end"), recorded(vendor.name):
        await changed(model)


async def test_only_what_is_good_is_recorded(
    vendor: Any, wire: Any, recorded: Recorded, key: str, tmp_path: Path
) -> None:
    """A server's error leaves nothing that would be played for ever; what is recorded holds no key."""
    made = vendor.make(wire.url)
    wire.replies = [wire.said({}, 500)]
    with recorded("bad", tmp_path, record=True), pytest.raises(ModelError):
        await made.complete(asked("Which?"))
    assert list(tmp_path.iterdir()) == []
    wire.replies = [wire.said(vendor.reply("{}"))]
    with recorded("good", tmp_path, record=True):
        await made.complete(asked("Which?"))
    await made.close()
    text = (tmp_path / "good.yaml").read_text()
    assert "Which?" in text
    assert any(key in value for value in wire.asked[-1].headers.values())
    assert key not in text
