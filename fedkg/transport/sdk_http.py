"""The HTTP clients that the vendors' SDKs send through: no redirects, no cookies, and no reply without an end."""

import os
import ssl
from collections.abc import AsyncIterator, Iterator
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2  # comes with the SDKs, so this module is imported only where one is

from fedkg.common import certificates
from fedkg.common.file_cache import FileCache
from fedkg.common.one_line import line
from fedkg.common.unpacking import ACCEPTED, PackedReplyError, Unpacker
from fedkg.core import deadline
from fedkg.errors import ModelError, ModelNameError, ModelReplyError, ModelUntrustedError
from fedkg.transport import redirects

__all__ = ["ERROR_BYTES", "LONGEST", "UnusableReplyError", "client", "fatal", "sync_client"]

LONGEST = 16_000_000
"""Bytes of a reply, unpacked: more than any model writes, and far less than what fills a machine's memory."""
ERROR_BYTES = 1_000_000
"""Bytes of a reply with the status of an error: the SDKs make objects of it, which take many times as much."""
HINT = "check the base URL, and the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE"

CERTIFICATES: FileCache[tuple[str, ...], ssl.SSLContext] = FileCache()
"""Reading the certificates of a machine takes some 20 ms, and each client would do it again."""


class UnusableReplyError(httpx2.RequestError):
    """Raised within an SDK for a reply that is not read; `kind` is the error that it is for fedkg, with its hint."""

    def __init__(self, message: str, kind: type[ModelError], hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.hint = hint


def client(sdk: ModuleType, name: str, url: str) -> Any:
    """A client for that SDK; `name` and `url` are the model's.

    Raises ModelNameError where URL, proxies or certificates allow none.
    """

    async def bound(response: httpx2.Response) -> None:
        _bind(response, LONGEST)

    return _made(sdk.DefaultAsyncHttpxClient, name, url, bound)


def sync_client(sdk: ModuleType, name: str, url: str, longest: int = LONGEST) -> Any:
    """A client that blocks; `longest` is the most bytes of a reply. Raises as `client` does."""
    return _made(sdk.DefaultHttpxClient, name, url, lambda response: _bind(response, longest))


def fatal(error: BaseException | None) -> UnusableReplyError | None:
    """What of a failed request no repetition changes: a reply that was not read, a certificate; None for the rest."""
    if fault := certificates.fault(error):
        message = f"its certificate is not trusted: {fault}"
        return UnusableReplyError(message, ModelUntrustedError, certificates.HINT)
    while error is not None and not isinstance(error, UnusableReplyError):
        error = error.__cause__
    return error


class CountedStream(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    """A body, unpacked while it is read, as far as a reply can be long. Raises UnusableReplyError beyond."""

    def __init__(self, body: Any, unpacker: Unpacker, most: int) -> None:
        self._body = body
        self._unpacker = unpacker
        self._left = self._most = most

    def __iter__(self) -> Iterator[bytes]:
        """The body in parts, until the deadline. Raises ReadTimeout."""
        for part in self._body:
            if not deadline.left():
                raise httpx2.ReadTimeout("the reply took too long")
            yield from self._pieces(part)
        self._end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body in parts."""
        async for part in self._body:
            for piece in self._pieces(part):
                yield piece
        self._end()

    def close(self) -> None:
        """Frees the connection."""
        self._body.close()

    async def aclose(self) -> None:
        """Frees the connection."""
        await self._body.aclose()

    def _pieces(self, part: bytes) -> Iterator[bytes]:
        try:
            for piece in self._unpacker.pieces(part):
                self._left -= len(piece)
                if self._left < 0:
                    raise UnusableReplyError(f"the reply is longer than {self._most:,} bytes", ModelReplyError)
                yield piece
        except PackedReplyError as error:
            raise httpx2.ReadError(f"the reply broke off: {error}") from error

    def _end(self) -> None:
        try:
            self._unpacker.end()
        except PackedReplyError as error:
            raise httpx2.ReadError(f"the reply broke off: {error}") from error


def _made(kind: Any, name: str, url: str, hook: Any) -> Any:
    try:
        httpx2.URL(url)
        made = kind(
            # the SDK would send key and prompt to wherever a redirect points
            follow_redirects=False,
            verify=_certificates(),
            headers={"accept-encoding": ACCEPTED},
            event_hooks={"response": [hook]},
        )
    except (httpx2.InvalidURL, ImportError, ValueError, OSError) as error:
        raise ModelNameError(f"{name} cannot be reached from here: {line(error, 300)}", hint=HINT) from error
    made.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return made


def _certificates() -> ssl.SSLContext:
    """What connections are checked against: the machine's certificates, or those that SSL_CERT_* name."""
    places = tuple(os.environ.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return CERTIFICATES.get(places, [Path(place) for place in places if place], httpx2.create_ssl_context)


def _bind(response: httpx2.Response, longest: int) -> None:
    """Bounds the reply before anything of its body is read. Raises UnusableReplyError for one that is not read."""
    _refuse_redirect(response)
    try:
        unpacker = Unpacker(response.headers.pop("content-encoding", ""))
    except PackedReplyError as error:
        raise UnusableReplyError(f"the service sent {error}", ModelReplyError) from error
    most = longest if response.is_success else ERROR_BYTES
    response.stream = CountedStream(response.stream, unpacker, most)


def _refuse_redirect(response: httpx2.Response) -> None:
    location = response.headers.pop("location", "")
    if response.is_redirect and location:
        where = redirects.shown(str(response.request.url), location)
        message = f"{response.status_code}: it redirects to {where}"
        hint = f"if you trust that address, give its base URL behind the @ of the model's name: {where}"
        raise UnusableReplyError(message, ModelUntrustedError, hint)
