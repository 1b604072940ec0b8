"""A body that is read piece by piece ends with its caller, and with a row that is too long."""

import asyncio
import threading

import pytest

from fedkg.core import deadline
from fedkg.errors import EndpointTimeoutError
from fedkg.sparql.pieces import LARGEST, Pieces, TimeIsUpError
from fedkg.sparql.reply import EndpointReply
from fedkg.sparql.results import accept
from fedkg.sparql.solutions import TooMuchError


def test_a_row_and_what_is_none_have_a_greatest_length() -> None:
    """After each row there is room for as much again."""
    pieces = Pieces(bytes(3 * LARGEST))
    for number, _ in enumerate(pieces):
        if number == LARGEST >> 16:
            pieces.row()
        if number == LARGEST >> 15:
            break
    with pytest.raises(TooMuchError):
        list(pieces)


@pytest.mark.parametrize("kind", ["json", "xml"])
def test_reading_ends_with_the_deadline(kind: str) -> None:
    """A reply that came too late, or takes too long to read, is a time-out."""
    reply = EndpointReply(200, {"content-type": f"application/sparql-results+{kind}"}, b"<{ } " * 2_000_000, most=9)
    with deadline.within(0), pytest.raises(EndpointTimeoutError, match="time was up"):
        accept(reply, endpoint="e")


async def test_a_thread_ends_with_its_caller() -> None:
    """A thread that reads is told when nothing waits for it any more."""
    started, ended = threading.Event(), threading.Event()

    def read() -> None:
        started.set()
        try:
            while True:
                Pieces(b"x").read(1)
        except TimeIsUpError:
            ended.set()

    async def ask() -> None:
        with deadline.until_left():
            await asyncio.to_thread(read)

    asking = asyncio.ensure_future(ask())
    await asyncio.to_thread(started.wait, 20)
    asking.cancel()
    assert await asyncio.to_thread(ended.wait, 20)
