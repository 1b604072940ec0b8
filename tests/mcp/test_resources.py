import json

import pytest

from fedkg.core.answer import decode_answer
from fedkg.errors import DocumentError
from fedkg.serve.clients import ANYONE
from tests.mcp.conftest import MakeBox
from tests.support.extras import needs

pytestmark = needs("mcp", "mcp")


async def silent(_line: str) -> None:
    """Takes the progress of a call."""


async def test_a_kept_answer_is_its_whole_document(box: MakeBox) -> None:
    """As `fedkg ask --json` prints it; it stands in the list of the client who asked, and in no other."""
    from fedkg.mcp import resources  # noqa: PLC0415  # the extra may be missing

    tools = box()
    async with tools.desk.session:
        await tools.call("ask", {"question": "Which pet does Ann have?"}, ANYONE, silent)
        text = await resources.read(tools, ANYONE, "fedkg://answers/a1")
    assert [value.value for value in decode_answer(text.encode()).answers] == ["Rex"]
    uris = [entry.uri for entry in resources.listed(tools, ANYONE)]
    assert uris == ["fedkg://endpoints", "fedkg://methods", "fedkg://answers/a1"]
    assert len(resources.listed(tools, "ben")) == 2
    with pytest.raises(DocumentError):
        await resources.read(tools, "ben", "fedkg://answers/a1")


async def test_endpoints_and_methods_are_those_of_the_server(box: MakeBox) -> None:
    """By the names that a question may have."""
    from fedkg.mcp import resources  # noqa: PLC0415

    tools = box(offered=("kaping",))
    async with tools.desk.session:
        endpoints = json.loads(await resources.read(tools, ANYONE, "fedkg://endpoints"))
        methods = json.loads(await resources.read(tools, ANYONE, "fedkg://methods"))
    assert [endpoint["name"] for endpoint in endpoints] == ["pets.nt"]
    assert [method["name"] for method in methods] == ["fidelis", "kaping"]


@pytest.mark.parametrize("uri", ["fedkg://answers/a1", "fedkg://answers/", "fedkg://settings", "file:///etc/passwd"])
async def test_nothing_else_can_be_read(box: MakeBox, uri: str) -> None:
    """Whatever a client names."""
    from fedkg.mcp import resources  # noqa: PLC0415

    with pytest.raises(DocumentError):
        await resources.read(box(), ANYONE, uri)
