"""An empty folder to follow a document in, and the models that the documents ask, on servers of this machine."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import programs, read

MODELS = read("models")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to follow a document in, without proxies; BM25 needs no weights."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FEDKG_EMBEDDER", "bm25")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextlib.contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The handler on a free port of this machine; its URL."""
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def trick() -> dict[str, Any]:
    """What the program `trick.py` defines, as it stands in the document."""
    [program] = (code for code, _ in programs(MODELS) if "class Wire" in code)
    names: dict[str, Any] = {"__name__": "trick"}
    exec(program, names)
    return names


@pytest.fixture
def model(here: Path, trick: dict[str, Any]) -> Iterator[str]:
    """The document's model on a free port; its URL without /v1."""
    pytest.importorskip("openai", reason="needs fedkg[openai]")
    with served(trick["Wire"]) as url:
        yield url


@pytest.fixture
def ollama(trick: dict[str, Any]) -> Iterator[str]:
    """The same trick on Ollama's own wire."""

    class Chat(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            assert (self.path, asked["stream"], asked["options"]["num_ctx"]) == ("/api/chat", False, 8192)
            text = json.dumps(trick["reply"](asked["format"], asked["messages"][-1]["content"]))
            reply = {"message": {"content": text}, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3}
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

    with served(Chat) as url:
        yield url
