"""Handlers of urllib that end a reply at an instant, whatever the server sends.

Urllib's own timeout starts anew with each byte: interim replies, headers or trailers without end keep a thread for
ever, and a thread cannot be cancelled.
"""

import http.client
import io
import socket
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from typing import Any

__all__ = ["TimedHttp", "TimedHttps"]

LEAST_SECONDS = 0.001


class TimedHandler(urllib.request.AbstractHTTPHandler):
    """Opens connections on which a read raises TimeoutError from `end` on, an instant of `time.monotonic`."""

    end: float

    def do_open(self, http_class: Callable[..., Any], req: urllib.request.Request, **options: Any) -> Any:
        """The reply; a connection after a redirect has no more time than is left."""
        req.timeout = max(LEAST_SECONDS, self.end - time.monotonic())
        return super().do_open(partial(self._connection, http_class), req, **options)

    def _connection(self, kind: Callable[..., http.client.HTTPConnection], *args: Any, **options: Any) -> Any:
        connection = kind(*args, **options)
        # of the proxy's reply to CONNECT too
        connection.response_class = partial(TimedResponse, end=self.end)  # type: ignore[assignment]
        return connection


class TimedHttp(TimedHandler, urllib.request.HTTPHandler):
    """For http."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self.end = end


class TimedHttps(TimedHandler, urllib.request.HTTPSHandler):
    """For https, with certificates that are checked against `context`."""

    def __init__(self, end: float, context: Any) -> None:
        super().__init__(context=context)
        self.end = end


class TimedResponse(http.client.HTTPResponse):
    """A reply that is read until `end`."""

    def __init__(self, sock: socket.socket, *args: Any, end: float, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(TimedReader(self.fp.detach(), sock, end))


class TimedReader(io.RawIOBase):
    """Reads from a socket's file; each read has the time that is left."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, end: float) -> None:
        self._raw = raw
        self._sock = sock
        self._end = end

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Reads what has come, or waits for it. Raises TimeoutError."""
        if (left := self._end - time.monotonic()) <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Frees the connection."""
        self._raw.close()
        super().close()
