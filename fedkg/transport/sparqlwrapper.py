"""A user's own SPARQLWrapper object as a Transport: its endpoint, credentials, headers and parameters are kept."""

import asyncio
import copy
import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from email.message import Message

from fedkg.config.endpoint_spec import SparqlWrapper
from fedkg.core import deadline
from fedkg.errors import EndpointTimeoutError, ProfileError, TruncatedError, UnreachableError
from fedkg.sparql.reply import EndpointReply

__all__ = ["WrapperTransport"]

CHUNK = 1 << 16
THREADS = 8
LEAST_SECONDS = 0.01


class WrapperTransport:
    """A Transport over urllib, with the requests that a SPARQLWrapper object makes; the object itself is not changed.

    `timeout` in seconds, for the whole reply, holds where the object has none of its own, and never longer than the
    deadline of the caller; `max_bytes` is the most bytes of one reply. Raises ProfileError where the object is no
    SPARQLWrapper, or its endpoint no http URL.
    """

    def __init__(self, wrapper: SparqlWrapper, *, timeout: float = 60.0, max_bytes: int = 64_000_000) -> None:
        if not hasattr(wrapper, "_createRequest"):
            raise ProfileError(f"expected a SPARQLWrapper object, got {type(wrapper).__name__}")
        self.name = self.url = _shown(wrapper.endpoint)
        self._wrapper = wrapper
        self._timeout = wrapper.timeout or timeout
        self._max_bytes = max_bytes
        # of its own: a service that stalls keeps its threads until they time out, and no others
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="fedkg-wrapper")

    def __repr__(self) -> str:
        return f"WrapperTransport({self.name})"

    async def send(self, query: str) -> EndpointReply:
        """The endpoint's reply, whatever its status.

        Raises UnreachableError, EndpointTimeoutError or TruncatedError.
        """
        # a thread cannot be cancelled: one that outlived its caller would keep the program from ending
        seconds = max(LEAST_SECONDS, min(self._timeout, deadline.left()))
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, query, seconds)

    async def close(self) -> None:
        """Lets the threads end; urllib opens a connection per request."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _send(self, query: str, seconds: float) -> EndpointReply:
        started = time.monotonic()
        try:
            status, headers, body = self._exchange(self._request(query), seconds)
        except TimeoutError as error:
            message = f"{self.name}: no whole reply within {seconds:.3g} s"
            raise EndpointTimeoutError(message, endpoint=self.name) from error
        except (OSError, http.client.HTTPException) as error:
            # URLError is an OSError; its reason may quote the URL, so only the kind of the cause is shown
            cause = getattr(error, "reason", error)
            message = f"{self.name}: the connection failed ({getattr(cause, 'strerror', None) or type(cause).__name__})"
            raise UnreachableError(message, endpoint=self.name) from error
        if len(body) > self._max_bytes:
            raise TruncatedError(f"{self.name} sent more than {self._max_bytes} bytes", endpoint=self.name)
        lowered = {name.lower(): value for name, value in headers.items()}
        return EndpointReply(status, lowered, body, time.monotonic() - started)

    def _request(self, query: str) -> urllib.request.Request:
        # a copy, because several threads ask at once and the query is a field of the object
        wrapper = copy.copy(self._wrapper)
        wrapper.setQuery(query)
        wrapper.setMethod("POST")
        wrapper.setRequestMethod("urlencoded")
        wrapper.setReturnFormat("json")
        # its public query() turns replies into exceptions that have lost their status and headers
        return wrapper._createRequest()  # noqa: SLF001

    def _exchange(self, request: urllib.request.Request, seconds: float) -> tuple[int, Message, bytes]:
        end = time.monotonic() + seconds
        try:
            # __init__ has let http and https through only
            with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
                return response.status, response.headers, self._read(response, end)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, self._read(error, end)

    def _read(self, response: http.client.HTTPResponse | urllib.error.HTTPError, end: float) -> bytes:
        """The body, one byte more of it than allowed where it is longer.

        Urllib's own timeout starts anew with each byte.
        """
        length, body = getattr(response, "length", None), bytearray()
        while len(body) != length and len(body) <= self._max_bytes and (chunk := response.read1(CHUNK)):
            body += chunk
            if time.monotonic() > end:
                raise TimeoutError
        if length is not None and len(body) < min(length, self._max_bytes):
            raise http.client.IncompleteRead(bytes(body))
        return bytes(body)


def _shown(endpoint: str) -> str:
    try:
        parts = urllib.parse.urlsplit(endpoint)
        host, scheme = parts.hostname, parts.scheme
    except ValueError:
        host, scheme = None, ""
    if scheme not in ("http", "https") or not host:
        shown = re.sub(r"//[^/]*@", "//", str(endpoint))[:200]
        raise ProfileError(f"not a URL of an endpoint: {shown!r}", hint="it looks like https://host/sparql")
    return urllib.parse.urlunsplit((scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
