"""The HTTP client that the vendors' SDKs send through: no redirects, and no reply without an end."""

import os
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2  # comes with the SDKs, so this module is imported only where one is

from fedkg.common.file_cache import FileCache
from fedkg.common.one_line import line
from fedkg.errors import ModelNameError

__all__ = ["LONGEST", "PACKED", "client"]

LONGEST = 16_000_000
"""Bytes of a reply: more than any model writes, and far less than what fills a machine's memory."""
PACKED = 100_000
"""Bytes of one that comes packed though it was asked for plain: it can unpack to a thousand times as much."""
HINT = "check the base URL, and the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE"

CERTIFICATES: FileCache[tuple[str, ...], ssl.SSLContext] = FileCache()
"""Reading the certificates of a machine takes some 20 ms, and each client would do it again."""


def client(sdk: ModuleType, name: str, url: str) -> Any:
    """A client for that SDK; `name` and `url` are the model's.

    Raises ModelNameError where URL, proxies or certificates allow none.
    """
    try:
        httpx2.URL(url)
        return sdk.DefaultAsyncHttpxClient(
            # the SDK would send key and prompt to wherever a redirect points
            follow_redirects=False,
            verify=_certificates(),
            headers={"accept-encoding": "identity"},
            event_hooks={"response": [_bound]},
        )
    except (httpx2.InvalidURL, ImportError, ValueError, OSError) as error:
        raise ModelNameError(f"{name} cannot be reached from here: {line(error, 300)}", hint=HINT) from error


def _certificates() -> ssl.SSLContext:
    """What connections are checked against: the machine's certificates, or those that SSL_CERT_* name."""
    places = tuple(os.environ.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return CERTIFICATES.get(places, [Path(place) for place in places if place], httpx2.create_ssl_context)


class Bounded(httpx2.AsyncByteStream):
    """A body that may be read as far as a reply can be long. Raises ReadError beyond."""

    def __init__(self, body: httpx2.AsyncByteStream, most: int) -> None:
        self._body = body
        self._left = self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body in parts."""
        async for part in self._body:
            self._left -= len(part)
            if self._left < 0:
                raise httpx2.ReadError(f"the reply is longer than {self._most:,} bytes")
            yield part

    async def aclose(self) -> None:
        """Frees the connection."""
        await self._body.aclose()


async def _bound(response: httpx2.Response) -> None:
    packed = response.headers.get("content-encoding", "identity") != "identity"
    response.stream = Bounded(response.stream, PACKED if packed else LONGEST)  # type: ignore[arg-type]  # it is asynchronous
