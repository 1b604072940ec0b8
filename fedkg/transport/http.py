"""SPARQL over HTTP: the only importer of aiohttp.

A query always goes out as a POST form: Virtuoso never answers a POSTed `application/sparql-query`, and GET is cut
silently at some 8 to 10 kB. The body is read in pieces and counted after decompression, so no reply can fill the
memory.
"""

import contextlib
import re
import time
import urllib.request
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import partial
from importlib import metadata

import aiohttp
import yarl

from fedkg.common.per_loop import PerLoop
from fedkg.errors import EndpointTimeoutError, ProfileError, TruncatedError, UnreachableError
from fedkg.sparql.reply import EndpointReply

__all__ = ["HttpTransport"]

CONNECT_SECONDS = 15.0
CHUNK = 1 << 16
ERROR_BYTES = 1 << 20
"""Bytes of an error that are read: engines repeat the query before they say what is wrong."""
REDIRECTS = 5
# a 303 leads to another resource, not to the same one elsewhere
MOVED = {301, 302, 307, 308}
# the most specific first
BROKEN: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ConnectionTimeoutError, "no connection in time"),
    (aiohttp.ClientConnectorCertificateError, "the server's certificate does not fit its name"),
    (aiohttp.ClientSSLError, "no secure connection"),
    (aiohttp.ClientConnectorDNSError, "the host is not known"),
    (aiohttp.ServerDisconnectedError, "the server hung up"),
    (aiohttp.ClientPayloadError, "the reply broke off"),
)
UNSENDABLE = re.compile(r"[\x00-\x1f\x7f]")


class HttpTransport:
    """A Transport over aiohttp; one instance serves any number of event loops, one after the other or side by side.

    `timeout` is the time limit of one request in seconds, `max_bytes` the most bytes of one reply after decompression,
    `contact` the mail address or URL that the User-Agent carries, `headers` further request headers, `form` makes the
    fields of the POST form from a query. A user name and password in the URL are sent as basic authentication and never
    shown. Raises ProfileError for a URL or a header that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 60.0,
        contact: str = "",
        max_bytes: int = 64_000_000,
        headers: Mapping[str, str] | None = None,
        form: Callable[[str], Mapping[str, str]] = lambda query: {"query": query},
    ) -> None:
        whole = _parse(url)
        self._url = whole.with_user(None).with_fragment(None)
        self.name = self.url = str(self._url.with_query(None))
        self._headers = _headers(whole, contact, headers or {})
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._form = form
        self._sessions = PerLoop(partial(_kept_open, self._headers, timeout))

    def __repr__(self) -> str:
        return f"HttpTransport({self.name})"

    async def send(self, query: str) -> EndpointReply:
        """The endpoint's reply, whatever its status; redirects are followed on the same host only, never off https.

        Raises UnreachableError, EndpointTimeoutError, or TruncatedError for more than `max_bytes`.
        """
        session = await anext(self._sessions.here())
        started = time.monotonic()
        url = self._url
        with _mapped(self.name, self._timeout):
            for hops_left in range(REDIRECTS, -1, -1):
                proxy = _proxy(url)
                async with session.post(url, data=self._form(query), allow_redirects=False, proxy=proxy) as response:
                    onward = _onward(response.status, response.url, response.headers.get("Location", ""))
                    if onward is None or not hops_left:
                        return await self._reply(response, started)
                    url = onward
        raise AssertionError("the last hop returns")

    async def close(self) -> None:
        """Frees the connections of the running event loop; those of others go with their loops."""
        if opened := self._sessions.pop():
            await opened.aclose()

    async def _reply(self, response: aiohttp.ClientResponse, started: float) -> EndpointReply:
        good = response.status < 300
        cap = self._max_bytes if good else min(ERROR_BYTES, self._max_bytes)
        body = await _read(response, cap)
        if len(body) > cap and good:
            message = f"{self.name} sent more than {cap} bytes"
            raise TruncatedError(message, endpoint=self.name, status=response.status)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return EndpointReply(response.status, headers, bytes(body[:cap]), time.monotonic() - started)


async def _kept_open(headers: Mapping[str, str], seconds: float) -> AsyncGenerator[aiohttp.ClientSession]:
    """The same session as often as it is asked for, until the generator is closed."""
    # A suspended async generator is closed by its event loop when that shuts down. A program that calls
    # asyncio.run several times so never leaves a connection behind on a loop that is gone.
    async with aiohttp.ClientSession(
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=min(CONNECT_SECONDS, seconds)),
        # no bound of its own: waiting for a slot would count against the request's time
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        while True:
            yield session


async def _read(response: aiohttp.ClientResponse, cap: int) -> bytearray:
    """The body; it ends soon after `cap` bytes where it is longer."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > cap:
            break
    return body


def _parse(url: str) -> yarl.URL:
    try:
        parsed = yarl.URL(url.strip())
    except ValueError:
        parsed = yarl.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        shown = re.sub(r"//[^/]*@", "//", url)[:200]
        raise ProfileError(f"not a URL of an endpoint: {shown!r}", hint="it looks like https://host/sparql")
    return parsed


def _headers(url: yarl.URL, contact: str, further: Mapping[str, str]) -> dict[str, str]:
    headers = {
        # XML says the same, and some services have nothing else
        "Accept": "application/sparql-results+json, application/sparql-results+xml;q=0.5",
        "User-Agent": f"fedkg/{_version()}" + (f" (+{contact})" if contact else ""),
    }
    if url.user is not None:
        headers["Authorization"] = aiohttp.encode_basic_auth(url.user, url.password or "")
    headers.update(further)
    for name, value in headers.items():
        if UNSENDABLE.search(name + value):
            raise ProfileError(f"the request header {name!r} holds a control character", hint="is it one line?")
    return headers


def _version() -> str:
    try:
        return metadata.version("fedkg")
    except metadata.PackageNotFoundError:
        return "0"


def _proxy(url: yarl.URL) -> str | None:
    """The proxy that this machine is set to use for that URL, as every other program takes it."""
    if urllib.request.proxy_bypass(url.host or ""):
        return None
    proxy = urllib.request.getproxies().get(url.scheme, "")
    proxy = proxy if "://" in proxy or not proxy else f"http://{proxy}"
    # aiohttp speaks to no others
    return proxy if proxy.startswith("http") else None


def _onward(status: int, here: yarl.URL, location: str) -> yarl.URL | None:
    """Where the endpoint has moved to; None where it has not, or to where neither query nor password should follow."""
    if status not in MOVED or not location:
        return None
    try:
        target = here.join(yarl.URL(location)).with_user(None)
    except ValueError:
        return None
    downgrade = here.scheme == "https" and target.scheme != "https"
    return target if target.host == here.host and target.scheme in ("http", "https") and not downgrade else None


@contextlib.contextmanager
def _mapped(name: str, timeout: float) -> Iterator[None]:
    """Turns aiohttp's errors into fedkg's: what broke may be tried again, what took too long may not."""
    try:
        yield
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise ProfileError(f"not a URL of an endpoint: {name}") from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
            message = f"{name}: no whole reply within {timeout:g} s"
            raise EndpointTimeoutError(message, endpoint=name) from error
        raise UnreachableError(f"{name}: {_broken(error)}", endpoint=name) from error


def _broken(error: Exception) -> str:
    known = next((text for kind, text in BROKEN if isinstance(error, kind)), "")
    if isinstance(error, aiohttp.ClientConnectorError) and not known:
        return f"no connection ({error.os_error.strerror or type(error.os_error).__name__})"
    # the error's own text may quote the URL with what it carries
    return known or f"the connection failed ({type(error).__name__})"
