"""The command in process and as a process, with a home of its own, and small graphs in files and on loopback."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyoxigraph
import pytest
import stamina
from click.testing import CliRunner, Result

from fedkg.cli.main import main

GRAPH = """\
@prefix ex: <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:ruritania rdfs:label "Ruritania"@en, "Ruritanien"@de ; ex:capital ex:strelsau ; ex:king ex:rudolf, ex:michael .
ex:capital rdfs:label "capital"@en, "Hauptstadt"@de .
ex:king rdfs:label "king"@en .
ex:strelsau rdfs:label "Strelsau"@en .
ex:rudolf rdfs:label "Rudolf V"@en ; ex:spouse ex:flavia .
ex:michael rdfs:label "Michael"@en .
ex:spouse rdfs:label "spouse"@en .
ex:flavia rdfs:label "Flavia"@en .
"""
# a process that a test runner starts in the background may have been told to ignore SIGINT
START = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from fedkg.__main__ import run; run()"
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without settings, keys and proxies; the cache and the working folder are the test's own."""
    for name in list(os.environ):
        if name.startswith("FEDKG_") or name in KEYS or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place))
    monkeypatch.setenv("FEDKG_CACHE_DIR", str(place / "cache"))
    monkeypatch.setenv("FEDKG_EMBEDDER", "bm25")
    monkeypatch.chdir(tmp_path)
    return place


@pytest.fixture(autouse=True)
def no_backoff() -> Iterator[None]:
    """Retries happen as often as they would, without the waiting in between."""
    with stamina.set_testing(True, attempts=99, cap=True):
        yield


@pytest.fixture
def cli() -> Cli:
    """Runs the command in this process; standard output and error are apart."""

    def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin, prog_name="fedkg")
        assert isinstance(result.exception, SystemExit | None), result.exc_info
        return result

    return run


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """A kingdom in Turtle; Ruritania's capital is Strelsau, and two claim to be its king."""
    path = tmp_path / "kingdom.ttl"
    path.write_text(GRAPH)
    return path


@pytest.fixture
def dead() -> str:
    """The URL of an endpoint that nothing serves."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/sparql"


class Served:
    """The kingdom over HTTP on loopback, by a real engine; request number `hold` waits until `release` is set.

    From request number `fail` on, as long as there is one, connections are closed without a reply. A query that holds
    the text `refused` is not answered.
    """

    def __init__(self, hold: int = 0, fail: int = 0, refused: str = "") -> None:
        self.asked = 0
        self.refused = refused
        self.fail = fail
        self.reached, self.release = threading.Event(), threading.Event()
        store = pyoxigraph.Store()
        store.load(GRAPH.encode(), format=pyoxigraph.RdfFormat.TURTLE)
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                served.asked += 1
                if 0 < served.fail <= served.asked:
                    return
                if served.asked == hold:
                    served.reached.set()
                    served.release.wait(60)
                    return
                query = urllib.parse.parse_qs(body)["query"][0]
                if served.refused and served.refused in query:
                    self.send_error(400)
                    return
                reply = store.query(query)
                assert isinstance(reply, pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean)
                data = reply.serialize(format=pyoxigraph.QueryResultsFormat.JSON) or b""
                self.send_response(200)
                self.send_header("content-type", "application/sparql-results+json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/sparql"

    def stop(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    """Starts the kingdom's endpoint; it stops with the test."""
    running: list[Served] = []

    def start(hold: int = 0, fail: int = 0, refused: str = "") -> Served:
        running.append(Served(hold, fail, refused))
        return running[-1]

    yield start
    for server in running:
        server.stop()


class Speaking:
    """A language model on OpenAI's wire, on loopback: three replies in turn find what the word `wanted` leads to.

    The settings have a plan made, and the choice leaves the ends to be told apart.

    Each reply costs 600 tokens in, 100 of them cached, and 400 out, or what `claimed` has; `asked` counts the requests.
    """

    def __init__(self, wanted: str, claimed: int | None = None) -> None:
        self.asked = 0
        self._claimed = claimed
        speaking = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                turns = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
                data = json.dumps(speaking.reply(turns[-1]["content"], wanted)).encode()
                speaking.asked += 1
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def reply(self, prompt: str, wanted: str) -> dict[str, object]:
        """A chat completion."""
        line = re.search(rf"(?m)^(\d+)\. .*{wanted}", prompt)
        plan = {
            "keywords": [wanted],
            "planning_steps": ["find it"],
            "declarative_statement": f"*placeholder* is {wanted}.",
        }
        content = (
            plan | {"kind": "entities", "mentions": ["Ruritania"]},
            {"picks": [{"offer": int(line[1]) if line else 1, "ends": [0]}], "decides": True, "more": False},
            {"paths": [{"path": 1, "ends": []}], "verdict": "yes", "option": 2},
        )[self.asked % 3]
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(content)}}
        usage = {"prompt_tokens": 600, "completion_tokens": 400, "prompt_tokens_details": {"cached_tokens": 100}}
        if self._claimed is not None:
            usage = {"prompt_tokens": self._claimed, "completion_tokens": self._claimed}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}

    @property
    def model(self) -> str:
        """As `--model` takes it."""
        return f"openai:m@http://127.0.0.1:{self._server.server_port}/v1"

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def speaking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Speaking]]:
    """Starts a model, which the user's own price table knows: a cent a call; it stops with the test."""
    pytest.importorskip("openai", reason="needs fedkg[openai]")
    running: list[Speaking] = []

    def start(wanted: str, claimed: int | None = None) -> Speaking:
        running.append(Speaking(wanted, claimed))
        place = tmp_path / "models"
        place.mkdir(exist_ok=True)
        price = f'[[price]]\nnames = ["{running[-1].model}"]\ndate = 2026-11-01\nin = 10\nout = 10\n'
        (place / "prices.toml").write_text(price)
        monkeypatch.setenv("FEDKG_MODELS_DIR", str(place))
        (tmp_path / "plans.toml").write_text("[search]\nshow_all = 0\n")
        monkeypatch.setenv("FEDKG_SETTINGS", str(tmp_path / "plans.toml"))
        return running[-1]

    yield start
    for model in running:
        model.stop()


def process(*arguments: str | Path, **options: int) -> "subprocess.Popen[str]":
    """The command as a process of its own, its streams as pipes."""
    streams: dict[str, int] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", START, *map(str, arguments)]
    return subprocess.Popen(command, text=True, **(streams | options))  # type: ignore[call-overload, no-any-return]  # its streams are ints


@pytest.fixture
def start() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts the command as a process; whatever still runs at the test's end is ended."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str | Path, **options: int) -> "subprocess.Popen[str]":
        running.append(process(*arguments, **options))
        return running[-1]

    yield begin
    for child in running:
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
        child.communicate()
