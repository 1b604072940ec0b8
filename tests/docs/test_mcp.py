"""docs/mcp.md: its session is replayed over the sample, and its tables, options and configurations are true."""

import json
import re
from typing import Any

import click
import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from tests.support.documents import blocks, read, rows, sections
from tests.support.extras import needs

pytestmark = needs("mcp", "mcp")
MCP = read("mcp")
MORE = "…"


def holds(shown: Any, actual: Any) -> bool:
    """Whether what is shown is there: of records some fields, of lists all entries, or the first before a `…`."""
    if isinstance(shown, dict):
        return isinstance(actual, dict) and all(key in actual and holds(shown[key], actual[key]) for key in shown)
    if isinstance(shown, list):
        first = shown[:-1] if shown[-1:] == [MORE] else shown
        enough = len(actual) > len(first) if first != shown else len(actual) == len(first)
        return enough and all(map(holds, first, actual))
    return bool(shown == actual)


async def test_the_session_goes_as_it_is_shown() -> None:
    """Each call by the SDK's client, in the order of the document."""
    from fedkg.mcp.tools import Toolbox  # noqa: PLC0415  # the extra may be missing
    from fedkg.serve.clients import ClientBook  # noqa: PLC0415
    from fedkg.serve.desk import Desk  # noqa: PLC0415
    from fedkg.serve.gate import Gate  # noqa: PLC0415
    from tests.mcp.conftest import talking  # noqa: PLC0415
    from tests.support.pets import session_of  # noqa: PLC0415

    parts = [json.loads(block) for block in blocks(sections(MCP)["A session"], "json")]
    calls = list(zip(parts[::2], parts[1::2], strict=True))
    assert len(calls) == 10
    box = Toolbox(Desk(session_of("sample", cache=False), (), Gate(1, 0), ClientBook({}), None))
    async with talking(box) as client:
        for call, shown in calls:
            if "resource" in call:
                [part] = (await client.read_resource(call["resource"])).model_dump()["contents"]
            else:
                [part] = (await client.call_tool(call["tool"], call["arguments"])).model_dump()["content"]
            text = part["text"]
            assert holds(shown, json.loads(text)), (call, text)


def test_the_tables_have_all_tools_and_resources() -> None:
    """Neither more nor fewer than the server has."""
    from fedkg.mcp import resources  # noqa: PLC0415
    from fedkg.mcp.tools import Toolbox  # noqa: PLC0415
    from fedkg.serve.clients import ANYONE, ClientBook  # noqa: PLC0415
    from fedkg.serve.desk import Desk  # noqa: PLC0415
    from fedkg.serve.gate import Gate  # noqa: PLC0415
    from tests.support.pets import session_of  # noqa: PLC0415

    with session_of("sample", cache=False) as session:
        box = Toolbox(Desk(session, (), Gate(1, 0), ClientBook({}), None))
        uris = {entry.uri for entry in resources.listed(box, ANYONE)}
    assert set(rows(sections(MCP)["Tools"])) == {*box.tools, *uris, f"{resources.ANSWERS}NAME"}


@pytest.mark.parametrize("option", sorted(set(re.findall(r"`(--[a-z-]+)", MCP))))
def test_every_option_is_one(option: str) -> None:
    """`fedkg mcp --help` knows each option that the document names."""
    assert option in CliRunner().invoke(main, ["mcp", "--help"], terminal_width=200).output


def test_the_configuration_starts_the_command() -> None:
    """The words that a program is told to start fedkg with are options of it."""
    [config] = [json.loads(block) for block in blocks(sections(MCP)["Register it"], "json")]
    [server] = config["mcpServers"].values()
    assert server["command"] == "fedkg"
    name, *options = server["args"]
    with click.Context(main) as context:
        command = main.get_command(context, name)
        assert command
        assert command.make_context(name, list(options)).params["endpoints"] == ("wikidata",)


def test_the_bounds_that_are_told_are_the_defaults() -> None:
    """Tokens of a result, answers that are kept, and the address."""
    from fedkg.mcp.http import PATH  # noqa: PLC0415
    from fedkg.mcp.kept_answers import MOST  # noqa: PLC0415
    from fedkg.mcp.tools import TOKENS  # noqa: PLC0415

    assert f"`--result-tokens` tokens ({TOKENS:,}," in MCP
    assert f"the latest {MOST} are kept" in MCP
    assert f"http://127.0.0.1:8080{PATH}" in MCP
