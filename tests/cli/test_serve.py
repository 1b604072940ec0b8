"""`fedkg serve` as a process, and what it refuses."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from click.testing import Result

from fedkg.serve.clients import digest
from tests.support.extras import needs
from tests.support.pets import PETS
from tests.support.served import ServedGraph, loopback

pytestmark = needs("serve", "litestar")
Cli = Callable[..., Result]
TOKEN = "a token of some length"


@contextmanager
def serving(*arguments: str | Path, **environment: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The command as a process; its URL."""
    command = [sys.executable, "-m", "fedkg", "serve", *map(str, arguments), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        assert process.stdout
        line = process.stdout.readline()
        try:
            assert line.startswith("listening at http://"), line
            yield line.split()[-1], process
        finally:
            process.kill()


def post(url: str, body: Mapping[str, object], **headers: str) -> dict[str, object]:
    """The reply to JSON."""
    request = urllib.request.Request(  # loopback
        url, json.dumps(body).encode(), {"content-type": "application/json", **headers}
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        answer: dict[str, object] = json.load(reply)
        return answer


def test_it_answers_until_it_is_told_to_end(graph: Path) -> None:
    """It says where it listens, answers with a token, and ends on SIGTERM."""
    with serving("-e", graph, "--offer", "kaping", FEDKG_SERVE_TOKEN=TOKEN) as (url, process):
        body = {"question": "What is the capital of Ruritania?", "method": "kaping"}
        answer = post(f"{url}/ask", body, authorization=f"Bearer {TOKEN}")
        assert (answer["method"], answer["status"]) == ("kaping", "answered")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM


class Waiting(ServedGraph):
    """A graph that replies to nothing unless `go` is set; `asked_again` is set with the first request that waits."""

    def __init__(self, triples: str) -> None:
        super().__init__(triples)
        self.go, self.asked_again = asyncio.Event(), asyncio.Event()
        self.go.set()

    async def reply(self, query: str) -> web.StreamResponse:
        """The engine's, in time."""
        if not self.go.is_set():
            self.asked_again.set()
        await self.go.wait()
        return await super().reply(query)


async def test_what_is_under_way_is_answered_after_sigterm() -> None:
    """Further questions are told to come back, and then the process ends by the signal."""
    graph = Waiting(PETS)
    body = {"question": "Which pet has Ann?", "topics": ["Ann"]}
    async with loopback(graph) as endpoint, aiohttp.ClientSession() as client:
        command = ("serve", "-e", endpoint, "--embedder", "bm25", "--no-cache", "--port", "0")
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "fedkg", *command, stdout=subprocess.PIPE)
        try:
            assert process.stdout
            url = (await process.stdout.readline()).decode().split()[-1]
            graph.go.clear()
            asking = asyncio.create_task(client.post(f"{url}/ask", json=body))
            await graph.asked_again.wait()
            process.send_signal(signal.SIGTERM)
            while (await (await client.get(f"{url}/health")).json())["status"] == "ok":
                pass
            refused = await client.post(f"{url}/ask", json=body)
            assert (refused.status, refused.headers["retry-after"]) == (503, "2")
            graph.go.set()
            reply = await asking
            assert (reply.status, (await reply.json())["answers"][0]["value"]) == (200, "Rex")
            assert await process.wait() == -signal.SIGTERM
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


def test_another_address_needs_a_token(cli: Cli, graph: Path) -> None:
    """Bad input, with what helps."""
    result = cli("serve", "-e", graph, "--host", "0.0.0.0")
    assert result.exit_code == 2
    assert "no tokens" in result.stderr
    assert "--clients" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--offer", "guessing"), "no method is called 'guessing'"),
        (("--offer", "cot"), "needs a language model"),
        (("--clients", "missing.toml"), "missing.toml"),
        (("--keep", "kingdom.ttl"), "kingdom.ttl"),
    ],
)
def test_bad_input_is_said_before_anything_is_served(
    cli: Cli, graph: Path, arguments: tuple[str, ...], fault: str
) -> None:
    """One sentence and no traceback."""
    result = cli("serve", "-e", graph, *arguments)
    assert result.exit_code in {2, 3}
    assert fault in result.stderr


def test_a_short_token_is_refused(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could be found by trying; the error does not show it."""
    monkeypatch.setenv("FEDKG_SERVE_TOKEN", "hunter2")
    result = cli("serve", "-e", graph)
    assert (result.exit_code, "hunter2" in result.stderr) == (2, False)


def test_a_port_that_is_taken_is_bad_input(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """The second server says so."""
    clients = tmp_path / "clients.toml"
    clients.write_text(f'[alice]\nsha256 = "{digest(TOKEN)}"\n')
    with serving("-e", graph, "--clients", clients) as (url, _):
        result = cli("serve", "-e", graph, "--port", url.rpartition(":")[2])
    assert result.exit_code == 2
    assert "nothing can listen" in result.stderr
