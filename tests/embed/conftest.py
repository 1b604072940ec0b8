import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import stamina

from fedkg.embed.base import Matrix
from fedkg.testing import HashingEmbedder

Answer = Callable[[dict[str, Any]], tuple[int, dict[str, str], bytes]]


class EmbeddingServer:
    """A loopback server at `url` that keeps requests (headers and body) and answers by a function, in turn."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.answers: list[Answer] = [vectors]
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                served.requests.append(({key.lower(): value for key, value in self.headers.items()}, body))
                answer = served.answers[min(len(served.requests), len(served.answers)) - 1]
                status, headers, data = answer(body) if self.path == "/v1/embeddings" else (404, {}, b"{}")
                self.send_response(status)
                for key, value in {
                    "content-type": "application/json",
                    "content-length": str(len(data)),
                    **headers,
                }.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class calls it so
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    @property
    def inputs(self) -> list[list[str]]:
        return [body["input"] for _, body in self.requests]


def vectors(body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """Vectors of twice the length 1, in reverse order, as the wire allows."""
    rows = 2 * HashingEmbedder(16).embed(body["input"])
    data = [{"object": "embedding", "index": place, "embedding": row.tolist()} for place, row in enumerate(rows)]
    whole = {
        "object": "list",
        "model": body["model"],
        "data": data[::-1],
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
    return 200, {}, json.dumps(whole).encode()


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A running server, stopped afterwards."""
    made = EmbeddingServer()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def quick_retries() -> Iterator[None]:
    """Retries happen, but without waiting."""
    stamina.set_testing(True, attempts=4, cap=True)
    yield
    stamina.set_testing(False)


class CountingEmbedder(HashingEmbedder):
    """A hashing embedder that keeps what it was asked for.

    `begun` is set at the first call; `hold` makes each wait until it is released.
    """

    def __init__(self, size: int = 64, name: str = "counting") -> None:
        super().__init__(size)
        self.name = name
        self.asked: list[list[str]] = []
        self.begun = threading.Event()
        self.hold = threading.Event()
        self.hold.set()

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.asked.append(list(texts))
        self.begun.set()
        assert self.hold.wait(10)
        return super().embed(texts)


@pytest.fixture
def counting() -> CountingEmbedder:
    """An embedder that counts."""
    return CountingEmbedder()


@pytest.fixture
def make_counting() -> type[CountingEmbedder]:
    """The class, for embedders of another name or size."""
    return CountingEmbedder
