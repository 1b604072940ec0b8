"""The description of the interface."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("litestar", reason="needs fedkg[serve]")

from fedkg.core.answer import decode_answer
from fedkg.graph.endpoint import SparqlGraph
from fedkg.serve import openapi
from tests.serve.conftest import MakeDesk, asked, running
from tests.support.towns import QUESTIONS, TOWNS, TownPlayer, answered


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


@pytest.mark.parametrize("name", [*QUESTIONS, "nothing found"])
async def test_real_documents_of_all_kinds_fit_the_schema(make_graph: Callable[..., SparqlGraph], name: str) -> None:
    """With proofs, verdicts, options, ledger and caveats; and a schema that knows nothing else refuses another."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = openapi.answer_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    question = QUESTIONS.get(name) or QUESTIONS["entities"]._replace(relations=[{"no such relation"}])
    answer = await answered(make_graph(TOWNS, name="towns"), TownPlayer(question))
    assert bool(answer.paths) == (name in QUESTIONS)
    document = json.loads(answer.to_json())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(document)
    for field, value in (("kind", "riddle"), ("version", 2), ("usage", {"requests": True}), ("paths", [{"score": 1}])):
        assert not validator.is_valid({**document, field: value}), field


async def test_each_event_of_a_walk_is_described(desk: MakeDesk) -> None:
    """The reply to a question is its document or a stream, whose messages fit the records that they are called by."""
    jsonschema = pytest.importorskip("jsonschema")
    async with asked(desk(keep=True)) as client:
        description = (await client.get("/schema/openapi.json")).json()
        headers = {"accept": "text/event-stream"}
        reply = await client.post("/ask", json={"question": "Which pet has Ann?"}, headers=headers)
    content = description["paths"]["/ask"]["post"]["responses"]["200"]["content"]
    assert set(content) == {"application/json", "text/event-stream"}
    messages = [
        dict(line.split(": ", 1) for line in message.splitlines() if line) for message in reply.text.split("\r\n\r\n")
    ]
    stream = {**content["text/event-stream"]["schema"], "components": description["components"]}
    jsonschema.validate([message for message in messages if message], stream)
    for message in filter(None, messages):
        record = {"$ref": f"#/components/schemas/{message['event']}", "components": description["components"]}
        jsonschema.validate(json.loads(message["data"]), record)


@pytest.mark.parametrize("value", [True, "0.5", None])
async def test_a_document_is_taken_to_the_letter(desk: MakeDesk, value: object) -> None:
    """Where a number belongs neither a boolean nor a text is taken for one."""
    async with asked(desk()) as client:
        document = {"question": "Who?", "kind": "entities", "status": "none", "paths": [{"score": value, "edges": []}]}
        reply = await client.post("/verify", json=document)
    assert (reply.status_code, "$.paths[0].score" in reply.json()["hint"]) == (400, True)


async def test_schemathesis_finds_nothing(desk: MakeDesk, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """All its checks on all routes: the description fits what the server takes and says, and nothing breaks it."""
    if not request.config.getoption("--all"):
        pytest.skip("it takes a minute: --all")
    pytest.importorskip("schemathesis")
    async with running(desk(keep=True)) as (url, _):
        program = Path(sys.executable).with_name("schemathesis")
        options = ("--checks", "all", "--max-examples", "20", "--generation-deterministic", "--no-color")
        process = await asyncio.create_subprocess_exec(
            program, "run", f"{url}/schema/openapi.json", *options, stdout=asyncio.subprocess.PIPE, cwd=tmp_path
        )
        output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
