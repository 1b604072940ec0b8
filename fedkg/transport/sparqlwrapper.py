"""A user's own SPARQLWrapper object as a Transport: its endpoint, credentials, headers and parameters are kept."""

import asyncio
import copy
import http.client
import io
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from http.client import HTTPMessage
from typing import IO, Any

import yarl

from fedkg.common import certificates
from fedkg.common.unpacking import PackedReplyError, Unpacker
from fedkg.config.endpoint_spec import SparqlWrapper
from fedkg.core import deadline
from fedkg.errors import (
    EndpointError,
    EndpointTimeoutError,
    FedkgError,
    NotSparqlError,
    ProfileError,
    TruncatedError,
    UnreachableError,
    UntrustedError,
)
from fedkg.sparql.reply import EndpointReply
from fedkg.transport import proxies, redirects
from fedkg.transport.reply_room import NO_ROOM, ReplyRoom, RoomShare
from fedkg.transport.timed_handlers import TimedHttp, TimedHttps

__all__ = ["WrapperTransport"]

CHUNK = 1 << 16
THREADS = 8
LEAST_SECONDS = 0.01


class WrapperTransport:
    """A Transport over urllib, with the requests that a SPARQLWrapper object makes; the object itself is not changed.

    `timeout` in seconds, for the whole reply, holds where the object has none of its own, and never longer than the
    deadline of the caller; `max_bytes` is the most bytes of one reply. Raises ProfileError where the object is no
    SPARQLWrapper, or its endpoint no http URL, SettingsError for a proxy that cannot be used. An opener that was
    installed in urllib is not used: it might follow redirects to anywhere.
    """

    def __init__(self, wrapper: SparqlWrapper, *, timeout: float = 60.0, max_bytes: int = 64_000_000) -> None:
        if not hasattr(wrapper, "_createRequest"):
            raise ProfileError(f"expected a SPARQLWrapper object, got {type(wrapper).__name__}")
        self.name = self.url = _shown(wrapper.endpoint)
        self._proxy = _proxy(self.url)
        self._wrapper = wrapper
        self._timeout = wrapper.timeout or timeout
        self._max_bytes = max_bytes
        self._room = ReplyRoom(max_bytes)
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
        started, share = time.monotonic(), RoomShare(self._room)
        try:
            status, headers, body = self._exchange(self._request(query), started + seconds, share)
        except FedkgError:
            raise
        except TimeoutError as error:
            message = f"{self.name}: no whole reply within {seconds:.3g} s"
            raise EndpointTimeoutError(message, endpoint=self.name) from error
        except Exception as error:  # what a hostile header makes of parsers has no end of kinds
            raise self._broken(error) from error
        if len(body) > self._max_bytes:
            raise TruncatedError(f"{self.name} sent more than {self._max_bytes} bytes", endpoint=self.name)
        lowered = {name.lower(): value for name, value in headers.items()}
        return EndpointReply(status, lowered, body, time.monotonic() - started, share=share)

    def _broken(self, error: Exception) -> EndpointError:
        if fault := certificates.fault(error):
            message = f"{self.name}: its certificate is not trusted: {fault}"
            return UntrustedError(message, endpoint=self.name, hint=certificates.HINT)
        if isinstance(error, PackedReplyError):
            return NotSparqlError(f"{self.name} sent {error}", endpoint=self.name)
        # the reason of a URLError may quote the URL, so only the kind of the cause is shown
        cause = getattr(error, "reason", error)
        message = f"{self.name}: the connection failed ({getattr(cause, 'strerror', None) or type(cause).__name__})"
        return UnreachableError(message, endpoint=self.name)

    def _request(self, query: str) -> urllib.request.Request:
        # a copy, because several threads ask at once and the query is a field of the object
        wrapper = copy.copy(self._wrapper)
        wrapper.setQuery(query)
        wrapper.setMethod("POST")
        wrapper.setRequestMethod("urlencoded")
        wrapper.setReturnFormat("json")
        if _digest_user(wrapper):
            # it would put a handler with the password into urllib's opener for the whole process
            vars(wrapper).update(user=None, passwd=None)
        # its public query() turns replies into exceptions that have lost their status and headers
        return wrapper._createRequest()  # noqa: SLF001

    def _exchange(self, request: urllib.request.Request, end: float, share: RoomShare) -> tuple[int, Message, bytes]:
        handlers = SameOrigin(self.name), TimedHttp(end), *self._secure(end), *self._digest()
        opener = urllib.request.build_opener(self._proxy, *handlers)
        try:
            # __init__ has let http and https through only
            with opener.open(request) as response:
                return response.status, response.headers, self._read(response, share)
        except urllib.error.HTTPError as error:
            with error:
                proxies.refused(error.code, self.name)
                return error.code, error.headers, self._read(error, share)

    def _secure(self, end: float) -> Iterator[urllib.request.BaseHandler]:
        if self.url.startswith("https:"):
            yield TimedHttps(end, certificates.trusted())

    def _digest(self) -> Iterator[urllib.request.BaseHandler]:
        """What answers a challenge with the user and password of an object that is set to digest authentication."""
        if _digest_user(self._wrapper):
            fields = vars(self._wrapper)
            passwords = urllib.request.HTTPPasswordMgr()
            passwords.add_password(fields["realm"], self._wrapper.endpoint, fields["user"], fields["passwd"])
            yield urllib.request.HTTPDigestAuthHandler(passwords)

    def _read(self, response: http.client.HTTPResponse | urllib.error.HTTPError, share: RoomShare) -> bytes:
        """The body, or more of it than is allowed."""
        unpacker = Unpacker(",".join(response.headers.get_all("Content-Encoding", [])))
        length, received, body = getattr(response, "length", None), 0, io.BytesIO()
        while received != length and (chunk := response.read1(CHUNK)):
            received += len(chunk)
            for piece in unpacker.pieces(chunk):
                if not share.take(len(piece)):
                    raise TruncatedError(f"{self.name} {NO_ROOM}", endpoint=self.name)
                body.write(piece)
                if body.tell() > self._max_bytes:
                    return body.getvalue()
        if length is not None and received < length:
            raise http.client.IncompleteRead(b"")
        unpacker.end()
        return body.getvalue()  # without a copy


class SameOrigin(urllib.request.HTTPRedirectHandler):
    """Sends the whole request again where an endpoint has moved on its own origin.

    Urllib itself would send every header of it anywhere, and no query.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = redirects.MOST

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> Any:
        """The reply from where it has moved to; None where it is no redirect. Raises UntrustedError."""
        try:
            url = redirects.onward(code, req.full_url, headers.get("Location", ""), name=self._name, left=self._left)
        except UntrustedError:
            fp.close()
            raise
        if url is None:
            return None
        self._left -= 1
        fp.close()
        again = urllib.request.Request(url, req.data, req.headers, method=req.get_method())  # noqa: S310  # same origin
        return self.parent.open(again, timeout=req.timeout)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _digest_user(wrapper: SparqlWrapper) -> str:
    """The user of an object that is set to digest authentication; "" for others."""
    fields = vars(wrapper)
    return fields.get("user") or "" if fields.get("http_auth") == "DIGEST" else ""


def _proxy(url: str) -> urllib.request.ProxyHandler:
    parsed = yarl.URL(url)
    proxy = proxies.proxy_for(parsed)
    return urllib.request.ProxyHandler({parsed.scheme: str(proxy)} if proxy else {})


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
