"""The description of the interface."""

import json
from typing import Any

import msgspec
import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.core.answer import decode_answer
from fedkg.serve import openapi
from tests.serve.conftest import MakeDesk, asked


def references(value: Any) -> set[str]:
    """All `$ref` in it."""
    if isinstance(value, dict):
        return {value["$ref"]} if "$ref" in value else set().union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


async def test_the_description_is_whole(desk: MakeDesk) -> None:
    """Every route stands in it, every record that it refers to as well, and there are no pages beside it."""
    async with asked(desk()) as client:
        description = (await client.get("/schema/openapi.json")).json()
        assert "<html" not in (await client.get("/schema")).text
    paths = {"/ask", "/search", "/neighbours", "/verify", "/sparql", "/methods", "/health", "/answers/{name}"}
    assert set(description["paths"]) == paths
    schemas = {f"#/components/schemas/{name}" for name in description["components"]["schemas"]}
    assert references(description) <= schemas
    question = description["components"]["schemas"]["AskRequest"]
    assert question["required"] == ["question"]
    assert question["properties"]["topics"]["items"]["maxLength"] == 500


async def test_the_schema_of_the_answer_document_fits_an_answer(desk: MakeDesk) -> None:
    """It is served, terms are texts, and it names every field of a real answer."""
    async with asked(desk()) as client:
        schema = (await client.get("/schema/answer.json")).json()
        reply = await client.post("/ask", json={"question": "Which pet has Ann?", "topics": ["Ann"]})
    fields = schema["$defs"]["Answer"]["properties"]
    assert set(reply.json()) == set(fields)
    assert schema["$defs"]["PathEdge"]["properties"]["subject"]["type"] == "string"
    assert decode_answer(reply.content).question == "Which pet has Ann?"
    assert json.loads(msgspec.json.encode(openapi.answer_schema())) == schema
