"""`fedkg mcp` as the process that an agent's program starts."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.extras import needs

pytestmark = needs("mcp", "mcp")
Cli = Callable[..., Result]
TOKEN = "a token of some length"
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def call(number: int, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """The request for a tool's result."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def test_an_agent_asks_over_stdio(graph: Path) -> None:
    """The SDK's client starts the command, calls a tool, and ends it."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415  # the extra may be missing

    command = ["-m", "fedkg", "mcp", "-e", str(graph)]
    server = StdioServerParameters(command=sys.executable, args=command, env={**os.environ})
    async with Client(server) as client:
        result = await client.call_tool("ask", {"question": "What is the capital of Ruritania?"})
    assert [answer["value"] for answer in result.structured_content["answers"]] == ["Strelsau"]


def test_stdout_is_the_protocol_alone(graph: Path) -> None:
    """Each line of it is a message; the log goes to stderr, and the end of stdin ends the command."""
    command = [sys.executable, "-m", "fedkg", "--log", "debug", "mcp", "-e", str(graph)]
    requests = [HELLO, call(1, "search", {"text": "Ruritania"}), call(2, "neighbours", {"entity": "Nowhere"})]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        lines = []
        for request in requests:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            lines.append(process.stdout.readline())
        rest, logged = process.communicate(timeout=60)
    replies = [json.loads(line) for line in lines]
    assert [reply["id"] for reply in replies] == [0, 1, 2]
    assert [reply["result"].get("isError", False) for reply in replies[1:]] == [False, True]
    assert (process.returncode, rest, "fedkg" in logged) == (0, "", True)


async def _labels(url: str) -> list[str]:
    """The entities that a search over HTTP finds."""
    import httpx2  # noqa: PLC0415
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, timeout=30) as connection,
        Client(streamable_http_client(url, http_client=connection)) as client,
    ):
        result = await client.call_tool("search", {"text": "Ruritania"})
        return [entity["label"] for entity in result.structured_content["entities"]]


def test_an_agent_asks_over_http(graph: Path) -> None:
    """The command says on stderr where it listens, wants the token, and ends on SIGTERM."""
    command = [sys.executable, "-m", "fedkg", "mcp", "-e", str(graph), "--http", "--port", "0"]
    environment = {**os.environ, "FEDKG_SERVE_TOKEN": TOKEN}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stderr
            url = process.stderr.readline().removeprefix("listening at ").strip()
            assert asyncio.run(_labels(url)) == ["Ruritania"]
            process.send_signal(signal.SIGTERM)
            printed, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, printed) == (-signal.SIGTERM, "")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--offer", "guessing"), "no method is called 'guessing'"),
        (("--result-tokens", "10"), "not in the range"),
        (("-e", "missing.ttl"), "missing.ttl"),
        (("--http", "--host", "0.0.0.0"), "no tokens"),
    ],
)
def test_bad_input_is_said_before_anything_is_served(
    cli: Cli, graph: Path, arguments: tuple[str, ...], fault: str
) -> None:
    """One sentence on stderr, and nothing on stdout."""
    result = cli("mcp", "-e", graph, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert fault in result.stderr
