"""The relay that measurements put between client and engine."""

import socket
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from eval.support.distance import distant


class Echo(BaseHTTPRequestHandler):
    """Answers a request with its own path and body."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # the library's name
        body = self.path.encode() + b" " + self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def echo() -> Iterator[str]:
    """The URL of a server that says what it is asked."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/sparql?graph=g"
        server.shutdown()


def posted(url: str, body: bytes) -> bytes:
    """What the server answers."""
    with urllib.request.urlopen(url, data=body, timeout=20) as reply:
        answer: bytes = reply.read()
        return answer


def test_requests_pass_late_whole_and_counted(echo: str) -> None:
    """Path and body arrive as they were sent, no sooner than the distance allows, also those that come in pieces."""
    with distant(echo, 0.05) as far:
        for number, body in enumerate([b"query=1", b"x" * 300_000], start=1):
            started = time.monotonic()
            assert posted(far.url, body) == b"/sparql?graph=g " + body
            assert time.monotonic() - started >= 0.05
            assert far.requests == number


def test_requests_of_one_connection_are_counted_one_by_one(echo: str) -> None:
    """A connection that is kept open carries as many requests as its client sends."""
    request = b"POST /sparql HTTP/1.1\r\nContent-Length: 1\r\n\r\n"
    with distant(echo, 0.0) as near, socket.create_connection(("127.0.0.1", int(near.url.split(":")[2][:5]))) as client:
        client.settimeout(20)
        for number in (1, 2, 3):
            client.sendall(request[:20])
            client.sendall(request[20:] + b"x")
            reply = b""
            while not reply.endswith(b"/sparql x"):
                reply += client.recv(4_096)
            assert near.requests == number


def test_where_no_engine_listens_the_connection_ends() -> None:
    """The client sees that at once, as it would without a relay."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with distant(f"http://127.0.0.1:{port}/sparql", 0.0) as near, pytest.raises(OSError, match=r"."):
        posted(near.url, b"query=1")
