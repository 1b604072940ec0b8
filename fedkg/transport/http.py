"""SPARQL over HTTP: the only importer of aiohttp.

A query always goes out as a POST form: Virtuoso never answers a POSTed `application/sparql-query`, and GET is cut
silently at some 8 to 10 kB. The body is read in pieces and counted while it is unpacked, so no reply can fill the
memory. A redirect is followed within the origin only: query, contact and password are for the server that was named.
"""

import asyncio
import contextlib
import io
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from functools import cache, partial
from importlib import metadata

import aiohttp
import yarl

from fedkg.common import certificates
from fedkg.common.per_loop import PerLoop
from fedkg.common.unpacking import ACCEPTED, PackedReplyError, Unpacker
from fedkg.config.dialects import Format
from fedkg.errors import (
    EndpointTimeoutError,
    FedkgError,
    NotSparqlError,
    ProfileError,
    TruncatedError,
    UnreachableError,
    UntrustedError,
)
from fedkg.sparql.reply import EndpointReply
from fedkg.transport import forms, proxies, redirects
from fedkg.transport.quick_ack import acknowledge
from fedkg.transport.reply_room import NO_ROOM, ReplyRoom, RoomShare

__all__ = ["HttpTransport"]

CONNECT_SECONDS = 15.0
CHUNK = 1 << 16
ERROR_BYTES = 1 << 20
"""Bytes of an error that are read: engines repeat the query before they say what is wrong."""
# the most specific first
BROKEN: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ConnectionTimeoutError, "no connection in time"),
    (aiohttp.ClientProxyConnectionError, "no connection to the proxy"),
    (aiohttp.ClientHttpProxyError, "the proxy lets no connection through"),
    (aiohttp.ClientSSLError, "no secure connection"),
    (aiohttp.ClientConnectorDNSError, "the host is not known"),
    (aiohttp.ServerDisconnectedError, "the server hung up"),
    (aiohttp.ClientPayloadError, "the reply broke off"),
    (PackedReplyError, "the reply broke off"),
)
PROXY_ERRORS = (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)
UNPACKED = "let the server, or the gateway before it, compress with gzip only, or not at all"
FORMATS: Mapping[Format, str] = {
    # both say the same, and some services have only one of them
    "json": "application/sparql-results+json, application/sparql-results+xml;q=0.5",
    "xml": "application/sparql-results+xml, application/sparql-results+json;q=0.5",
}
UNSENDABLE = re.compile(r"[\x00-\x1f\x7f]")


class HttpTransport:
    """A Transport over aiohttp; one instance serves any number of event loops, one after the other or side by side.

    `timeout` is the time limit of one request in seconds, `max_bytes` the most bytes of one reply after decompression,
    `contact` the mail address or URL that the User-Agent carries, `headers` further request headers, `form` makes the
    fields of the POST form from a query. A user name and password in the URL are sent as basic authentication and never
    shown. Raises ProfileError for a URL or a header that cannot be used, SettingsError for a proxy.
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
        self._chooses = all(name.lower() != "accept" for name in headers or {})
        self._proxy = proxies.proxy_for(self._url)
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._room = ReplyRoom(max_bytes)
        self._form = form
        self._sessions = PerLoop(partial(_kept_open, self._headers, timeout, secure=self._url.scheme == "https"))

    def __repr__(self) -> str:
        return f"HttpTransport({self.name})"

    async def send(self, query: str) -> EndpointReply:
        """The endpoint's reply, whatever its status, in JSON if it can. Raises what `send_for` raises."""
        return await self.send_for(query, "json")

    async def send_for(self, query: str, wanted: Format) -> EndpointReply:
        """The endpoint's reply, whatever its status; redirects are followed on the same origin only.

        It is asked for in that format, unless the headers of the transport name another one.

        Raises UnreachableError for whatever breaks, UntrustedError for a redirect elsewhere or a bad certificate,
        EndpointTimeoutError, NotSparqlError for an encoding that was not asked for, or TruncatedError for more than
        `max_bytes`.
        """
        session = await anext(self._sessions.here())
        started, url, body = time.monotonic(), str(self._url), forms.encoded(self._form(query))
        headers = {"Accept": FORMATS[wanted]} if self._chooses and wanted != "json" else None
        with _mapped(self.name, self._timeout):
            for hops_left in range(redirects.MOST, -1, -1):
                request = session.post(url, data=body, headers=headers, allow_redirects=False, proxy=self._proxy)
                async with request as response:
                    location = response.headers.get("Location", "")
                    onward = redirects.onward(response.status, url, location, name=self.name, left=hops_left)
                    if onward is None:
                        return await self._reply(response, started)
                    url = onward
        raise AssertionError("the last hop returns")

    async def close(self) -> None:
        """Frees the connections of the running event loop; those of others go with their loops."""
        if opened := self._sessions.pop():
            await opened.aclose()

    async def _reply(self, response: aiohttp.ClientResponse, started: float) -> EndpointReply:
        proxies.refused(response.status, self.name)
        good = response.status < 300
        cap = self._max_bytes if good else min(ERROR_BYTES, self._max_bytes)
        share = RoomShare(self._room)
        body = await self._read(response, cap, share)
        if len(body) > cap and good:
            message = f"{self.name} sent more than {cap} bytes"
            raise TruncatedError(message, endpoint=self.name, status=response.status)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return EndpointReply(response.status, headers, body[:cap], time.monotonic() - started, share=share)

    async def _read(self, response: aiohttp.ClientResponse, cap: int, share: RoomShare) -> bytes:
        """The body; it ends soon after `cap` bytes where it is longer."""
        unpacker, body = self._unpacker(response), io.BytesIO()
        # there is no connection any more where all of the body has come with the head
        transport = response.connection.transport if response.connection else None
        acknowledge(transport)
        async for chunk in response.content.iter_chunked(CHUNK):
            acknowledge(transport)
            for number, piece in enumerate(unpacker.pieces(chunk)):
                if number:
                    await asyncio.sleep(0)  # else a small packed chunk would keep the loop until all of it is unpacked
                if not share.take(len(piece)):
                    raise TruncatedError(f"{self.name} {NO_ROOM}", endpoint=self.name, status=response.status)
                body.write(piece)
                if body.tell() > cap:
                    return body.getvalue()
        unpacker.end()
        return body.getvalue()  # without a copy

    def _unpacker(self, response: aiohttp.ClientResponse) -> Unpacker:
        try:
            return Unpacker(",".join(response.headers.getall("Content-Encoding", [])))
        except PackedReplyError as error:
            message = f"{self.name} sent {error}"
            raise NotSparqlError(message, endpoint=self.name, status=response.status, hint=UNPACKED) from error


async def _kept_open(
    headers: Mapping[str, str], seconds: float, *, secure: bool
) -> AsyncGenerator[aiohttp.ClientSession]:
    """The same session as often as it is asked for, until the generator is closed."""
    # A suspended async generator is closed by its event loop when that shuts down. A program that calls
    # asyncio.run several times so never leaves a connection behind on a loop that is gone.
    async with aiohttp.ClientSession(
        headers=headers,
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=min(CONNECT_SECONDS, seconds)),
        # no bound of its own: waiting for a slot would count against the request's time
        connector=aiohttp.TCPConnector(limit=0, ssl=certificates.trusted() if secure else True),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
    ) as session:
        while True:
            yield session


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
        "Accept": FORMATS["json"],
        "Accept-Encoding": ACCEPTED,
        "Content-Type": forms.FORM,
        "User-Agent": f"fedkg/{_version()}" + (f" (+{contact})" if contact else ""),
    }
    if url.user is not None:
        headers["Authorization"] = aiohttp.encode_basic_auth(url.user, url.password or "")
    headers.update(further)
    for name, value in headers.items():
        if UNSENDABLE.search(name + value):
            raise ProfileError(f"the request header {name!r} holds a control character", hint="is it one line?")
    return headers


@cache
def _version() -> str:
    """Read once: the metadata of the package are parsed for it."""
    try:
        return metadata.version("fedkg")
    except metadata.PackageNotFoundError:
        return "0"


@contextlib.contextmanager
def _mapped(name: str, timeout: float) -> Iterator[None]:
    """Turns what goes wrong into fedkg's errors: what broke may be tried again, what took too long may not."""
    try:
        yield
    except FedkgError:
        raise
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise ProfileError(f"not a URL of an endpoint: {name}") from error
    except TimeoutError as error:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            raise UnreachableError(f"{name}: {_broken(error)}", endpoint=name) from error
        message = f"{name}: no whole reply within {timeout:g} s"
        raise EndpointTimeoutError(message, endpoint=name) from error
    except Exception as error:  # what a hostile header makes of parsers has no end of kinds
        if fault := certificates.fault(error):
            message = f"{name}: its certificate is not trusted: {fault}"
            raise UntrustedError(message, endpoint=name, hint=certificates.HINT) from error
        hint = proxies.HINT if isinstance(error, PROXY_ERRORS) else ""
        raise UnreachableError(f"{name}: {_broken(error)}", endpoint=name, hint=hint) from error


def _broken(error: Exception) -> str:
    known = next((text for kind, text in BROKEN if isinstance(error, kind)), "")
    if isinstance(error, aiohttp.ClientConnectorError) and not known:
        return f"no connection ({error.os_error.strerror or type(error.os_error).__name__})"
    # the error's own text may quote the URL with what it carries
    return known or f"the connection failed ({type(error).__name__})"
