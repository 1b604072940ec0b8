"""A body piece by piece: between two of them the deadline is looked at, and the size of what is being read."""

from collections.abc import Iterator

from fedkg.core import deadline
from fedkg.sparql.solutions import TooMuchError

__all__ = ["LARGEST", "Pieces", "TimeIsUpError"]

PIECE = 1 << 16
LARGEST = 1 << 22
"""Most bytes of a row, with all that stands between it and the row before, and of what stands around the rows."""


class TimeIsUpError(Exception):
    """Raised where the deadline has passed, or the caller has gone."""


class Pieces:
    """A file to read from, with `end` after the body. Raises TimeIsUpError, and TooMuchError for too long a row."""

    def __init__(self, body: bytes, end: bytes = b"") -> None:
        self._body = memoryview(body)
        self._end = end
        self._place = self._row = 0

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self.read(PIECE), b"")

    def read(self, size: int) -> bytes:
        """The next piece, of `size` bytes at most; b"" at the end."""
        if not deadline.left():
            raise TimeIsUpError
        if self._place - self._row > LARGEST:
            raise TooMuchError(f"a row, or what is none, of more than {LARGEST:,} bytes")
        piece = bytes(self._body[self._place : self._place + min(size, PIECE)])
        self._place += len(piece)
        if size and not piece:
            piece, self._end = self._end, b""
        return piece

    def close(self) -> None:
        """Lets the body go, whatever still holds the file."""
        self._body.release()

    def row(self) -> None:
        """Notes that a row ends in the piece that was read last."""
        self._row = self._place
