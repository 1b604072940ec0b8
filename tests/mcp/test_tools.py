import json
from typing import Any

import msgspec
import pytest

from fedkg.errors import DocumentError, InputError, OverLimitError
from fedkg.serve.clients import ANYONE
from tests.mcp.conftest import MakeBox
from tests.support.extras import needs

pytestmark = needs("mcp", "mcp")
QUESTION = {"question": "Which pet does Ann have?"}


async def silent(_line: str) -> None:
    """Takes the progress of a call, of which nothing is wanted."""


async def test_an_answer_is_kept_and_checked(box: MakeBox) -> None:
    """What `ask` returns can be read on in, and verified, by its name."""
    tools = box()
    async with tools.desk.session:
        asked = msgspec.to_builtins(await tools.call("ask", QUESTION, ANYONE, silent))
        name = {"answer_id": asked["answer_id"]}
        again = msgspec.to_builtins(await tools.call("answer", name, ANYONE, silent))
        checked = msgspec.to_builtins(await tools.call("verify", name, ANYONE, silent))
    assert [value["value"] for value in asked["answers"]] == ["Rex"]
    assert asked["paths"][0]["facts"][0]["relation"] == "has pet"
    assert again == asked
    assert (checked["proven"], checked["holds"]) == (True, 1)


async def test_a_search_leads_to_an_entity_and_its_edges(box: MakeBox) -> None:
    """The IRI that it returns is what the next tool takes."""
    tools = box()
    async with tools.desk.session:
        entities = msgspec.to_builtins(await tools.call("search", {"text": "Rex"}, ANYONE, silent))["entities"]
        arguments = {"entity": entities[0]["iri"], "direction": "in"}
        near = msgspec.to_builtins(await tools.call("neighbours", arguments, ANYONE, silent))
    assert [(edge["subject"], edge["walked"]) for edge in near["edges"]] == [("Ann", "in")]


async def test_the_walk_is_told_as_it_goes_on(box: MakeBox) -> None:
    """A line for each of its events, the last of which are not those for measuring."""
    lines: list[str] = []

    async def progress(line: str) -> None:
        lines.append(line)

    tools = box()
    async with tools.desk.session:
        await tools.call("ask", QUESTION, ANYONE, progress)
    assert [line.split(":")[0] for line in lines[:2]] == ["planned", "linked"]
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("ask", {"question": ""}, msgspec.ValidationError),
        ("ask", {"query": "x"}, msgspec.ValidationError),
        ("neighbours", {"entity": "Ann", "limit": 10**9}, msgspec.ValidationError),
        ("verify", {"answer_id": "a1"}, DocumentError),
        ("guess", {}, InputError),
    ],
)
async def test_bad_arguments_are_refused(
    box: MakeBox, name: str, arguments: dict[str, Any], error: type[Exception]
) -> None:
    """Before anything is asked of an endpoint."""
    with pytest.raises(error):
        await box().call(name, arguments, ANYONE, silent)


async def test_the_desk_keeps_its_bounds(box: MakeBox) -> None:
    """Where no question may wait, one more than is answered at a time is told to come back."""
    tools = box(at_once=1, waiting=0)
    async with tools.desk.session, tools.desk.gate.turn():
        with pytest.raises(OverLimitError):
            await tools.call("ask", QUESTION, ANYONE, silent)


def test_descriptions_are_short_and_say_when(box: MakeBox) -> None:
    """A model reads all of them before each question."""
    tools = box().tools.values()
    assert all(150 < len(tool.description) < 900 for tool in tools if tool.name != "answer")
    assert sum(len(json.dumps(tool.description)) for tool in tools) < 4_000


async def test_paths_are_kept_as_an_answer(box: MakeBox) -> None:
    """What connects two entities can be verified, and has its SPARQL, under the name that the result gives."""
    tools = box()
    async with tools.desk.session:
        found = msgspec.to_builtins(await tools.call("paths", {"start": "Ann", "end": "Rex"}, ANYONE, silent))
        checked = msgspec.to_builtins(await tools.call("verify", {"answer_id": "a1"}, ANYONE, silent))
        queries = msgspec.to_builtins(await tools.call("sparql_of", {"answer_id": "a1"}, ANYONE, silent))
        with pytest.raises(InputError, match="one entity"):
            await tools.call("paths", {"start": "Ann", "end": "http://x/ann"}, ANYONE, silent)
    assert found["answer_id"] == "a1"
    assert found["meaning"] == "The shortest paths have 1 step; these are all."
    assert [fact["object"] for path in found["paths"] for fact in path["facts"]] == ["Rex"]
    assert checked["proven"]
    assert [query["purpose"] for query in queries["queries"]] == ["ends", "proof"]


async def test_one_path_has_queries_of_its_own(box: MakeBox) -> None:
    """By its number in the answer; a number that none has is refused."""
    tools = box("sample")
    arguments = {"question": "Who are the children of Marie Curie?"}
    async with tools.desk.session:
        await tools.call("ask", arguments, ANYONE, silent)
        whole = msgspec.to_builtins(await tools.call("sparql_of", {"answer_id": "a1"}, ANYONE, silent))["queries"]
        one = msgspec.to_builtins(await tools.call("sparql_of", {"answer_id": "a1", "path": 1}, ANYONE, silent))[
            "queries"
        ]
        with pytest.raises(InputError, match="no path 7"):
            await tools.call("sparql_of", {"answer_id": "a1", "path": 7}, ANYONE, silent)
    assert [(query["purpose"], query.get("path"), query.get("edges", 0)) for query in whole] == [
        ("ends", 0, 0),
        ("proof", None, 2),
    ]
    assert [(query["purpose"], query.get("path"), query.get("edges", 0)) for query in one] == [
        ("ends", 1, 0),
        ("proof", None, 1),
    ]
