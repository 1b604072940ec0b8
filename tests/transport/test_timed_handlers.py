"""Replies without an end that urllib itself would read for ever."""

import itertools
import time
from collections.abc import Iterator

import pytest

from fedkg.errors import EndpointTimeoutError
from fedkg.transport.sparqlwrapper import WrapperTransport
from tests.support.raw_server import raw_server

sparqlwrapper = pytest.importorskip("SPARQLWrapper")

SECONDS = 0.3
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
ENDLESS: dict[str, tuple[bytes, bytes]] = {
    "interim replies": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "trailers": (CHUNKED + b"0\r\n", b"x: y\r\n" * 100),
    "tiny chunks": (CHUNKED, b"1\r\n \r\n" * 100),
}
SLOW: dict[str, tuple[bytes, bytes]] = {
    "a slow status line": (b"HTTP/1.1 200 ", b"O"),
    "a slow header": (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
    "slow interim replies": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "slow trailers": (CHUNKED + b"0\r\n", b"x: y\r\n"),
    "a slow redirect": (b"HTTP/1.1 308 Moved\r\nlocation: /sparql\r\nx: ", b"y"),
}


def slowly(part: bytes) -> Iterator[bytes]:
    """The same part again and again, each within any time that a read may take."""
    while True:
        time.sleep(SECONDS / 10)
        yield part


@pytest.mark.parametrize("name", [*ENDLESS, *SLOW])
async def test_a_reply_without_an_end_ends_with_the_time(name: str) -> None:
    """The thread that reads it ends: else the program would wait for it for ever."""
    begin, part = {**ENDLESS, **SLOW}[name]
    parts = slowly if name in SLOW else itertools.repeat
    with raw_server(lambda _: itertools.chain([begin], parts(part))) as server:
        transport = WrapperTransport(sparqlwrapper.SPARQLWrapper(server.url), timeout=SECONDS, max_bytes=10_000_000)
        with pytest.raises(EndpointTimeoutError, match=r"within 0\.3 s"):
            await transport.send("ASK {}")
        await transport.close()
