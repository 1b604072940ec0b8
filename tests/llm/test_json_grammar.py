"""Replies that are held to a JSON schema: what the grammar bounds, and that a model which knows nothing keeps to it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.errors import ModelReplyError
from fedkg.llm.base import Capability, Message, Request
from fedkg.llm.hf import HfModel
from fedkg.llm.json_grammar import ENTRIES, bounded

FLAG: dict[str, Any] = {"type": "boolean"}
PICKS: dict[str, Any] = {"type": "array", "items": FLAG}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"picks": PICKS, "decides": FLAG},
    "required": ["picks", "decides"],
    "additionalProperties": False,
}


def test_lists_have_as_many_entries_as_a_call_needs() -> None:
    """By their keys, at every depth; of a list of texts the length is one of tokens, and does not count."""
    texts = {"type": "array", "items": {"type": "string"}}
    schema = {"type": "object", "properties": {"picks": {"type": "array", "items": SCHEMA}, "words": texts}}
    held = bounded(schema, {"picks": 3, "words": 500})
    assert held["properties"]["picks"]["maxItems"] == 3
    assert held["properties"]["picks"]["items"]["properties"]["picks"]["maxItems"] == 3
    assert held["properties"]["words"]["maxItems"] == ENTRIES
    assert "maxItems" not in json.dumps(schema)


@pytest.fixture(scope="session")
def endless(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with one token alone that ends a reply."""
    folder = tmp_path_factory.mktemp("models") / "endless"
    shutil.copytree(tiny, folder)
    (folder / "generation_config.json").write_text('{"eos_token_id": 0}')
    return folder


@pytest.mark.torch
async def test_a_model_that_knows_nothing_keeps_to_the_schema(endless: Path) -> None:
    """Its weights are drawn; the list ends where it has to, and the reply is whole."""
    model = HfModel(endless, Capability(grammar=True, output=60), MemoryStore)
    request = Request("choose", (Message("user", "Who?"),), SCHEMA, lengths={"picks": 2})
    reply = json.loads((await model.complete(request)).text)
    assert set(reply) == {"picks", "decides"}
    assert len(reply["picks"]) <= 2


@pytest.mark.torch
async def test_a_model_that_thinks_is_not_held(endless: Path) -> None:
    """Its thoughts come before the reply: what they say is no JSON."""
    model = HfModel(endless, Capability(grammar=True, output=5, thinks=True), MemoryStore)
    with pytest.raises(ModelReplyError, match="cut"):
        await model.complete(Request("choose", (Message("user", "Who?"),), {"type": "no type"}))


@pytest.mark.torch
async def test_a_schema_that_makes_no_grammar(endless: Path) -> None:
    """It is named as what is wrong, before a token is written."""
    model = HfModel(endless, Capability(grammar=True), MemoryStore)
    with pytest.raises(ModelReplyError, match="no grammar holds the reply"):
        await model.complete(Request("choose", (Message("user", "Who?"),), {"type": "no type"}))
