import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from fedkg.cli.models_here import model_choices

Serve = Callable[[bytes], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves these bytes as the list of models; the URL."""
    servers: list[tuple[HTTPServer, Thread]] = []

    def begin(body: bytes) -> str:
        class Tags(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200 if self.path == "/api/tags" else 404)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
                pass

        server = HTTPServer(("127.0.0.1", 0), Tags)
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield begin
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def test_models_of_this_machine_are_offered(serve: Serve) -> None:
    """After `local` the vendors whose keys are set, then what Ollama has, as --model takes it."""
    names = ("qwen3:8b", "evil\x1b[31m", "two words")
    url = serve(json.dumps({"models": [{"name": name} for name in names]}).encode())
    choices = model_choices({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": ""}, url)
    assert [(choice.name, choice.open) for choice in choices] == [
        ("local", False),
        ("anthropic:", True),
        (f"openai:qwen3:8b@{url}/v1", False),
    ]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"models": [7]}', b'{"models": "x"}', b"\xff"])
def test_what_is_no_ollama_offers_nothing(serve: Serve, body: bytes) -> None:
    """Another server on that port, or none."""
    assert [choice.name for choice in model_choices({}, serve(body))] == ["local"]
    assert [choice.name for choice in model_choices({}, "http://127.0.0.1:1")] == ["local"]
