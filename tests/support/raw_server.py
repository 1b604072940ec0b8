"""A server on loopback that replies with exactly the bytes that a test gives it, TLS or not, and keeps what it got."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator

__all__ = ["RawServer", "raw_server", "reply"]

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class RawServer:
    """Replies to each request with what `answer` makes of it, in parts where it is made so; one connection a request.

    `asked` are the requests as they came, head and body; `attempts` counts connections, also those without a request.
    """

    def __init__(self, address: str, tls: ssl.SSLContext | None) -> None:
        self.answer: Callable[[bytes], bytes | Iterable[bytes]] = lambda _: b""
        self.asked: list[bytes] = []
        self.attempts = 0
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listening = socket.socket(family)
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listening.bind((address, 0))
        self._listening.listen(50)
        self._tls = tls
        self.port: int = self._listening.getsockname()[1]
        host = f"[{address}]" if ":" in address else address
        self.origin = f"{'https' if tls else 'http'}://{host}:{self.port}"
        self.url = f"{self.origin}/sparql"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def stop(self) -> None:
        """Ends the server."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.attempts += 1
            with contextlib.suppress(OSError), contextlib.closing(self._secured(connection)) as secured:
                secured.settimeout(10)
                self.asked.append(request := _request(secured))
                answer = self.answer(request)
                for part in [answer] if isinstance(answer, bytes) else answer:
                    secured.sendall(part)

    def _secured(self, connection: socket.socket) -> socket.socket:
        try:
            return self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
        except OSError:
            connection.close()
            raise


@contextlib.contextmanager
def raw_server(
    answer: Callable[[bytes], bytes | Iterable[bytes]] | bytes = b"",
    address: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> Iterator[RawServer]:
    """A running server that replies with these bytes, or with what a function makes of the request."""
    server = RawServer(address, tls)
    server.answer = answer if callable(answer) else lambda _: answer
    try:
        yield server
    finally:
        server.stop()


def reply(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A reply with that status, those headers (`content_type` for Content-Type) and that body."""
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if "content_length" not in headers and "transfer_encoding" not in headers:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "connection: close", "", ""]).encode("latin-1", "replace") + body


def _request(connection: socket.socket) -> bytes:
    """A request as it comes, with as much body as it announces."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (part := connection.recv(1 << 16)):
            return received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    announced = LENGTH.search(head)
    length = int(announced[1]) if announced else 0
    while len(body) < length and (part := connection.recv(1 << 16)):
        body += part
    return head + b"\r\n\r\n" + body
