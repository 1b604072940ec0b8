"""The one rule for compressed replies: gzip is asked for, gzip or nothing comes, and it is unpacked in small pieces.

A few kilobytes of gzip unpack to gigabytes, so whoever reads a reply counts the pieces and stops. Encodings that were
not asked for, and encodings of encodings, are refused: nothing that fedkg reads needs them.
"""

import zlib
from collections.abc import Iterator

from fedkg.common.one_line import line

__all__ = ["ACCEPTED", "PackedReplyError", "Unpacker"]

ACCEPTED = "gzip"
"""What a request's Accept-Encoding has."""
NAMES = {"gzip", "x-gzip"}
PLAIN = {"", "identity"}
PIECE = 1 << 18
"""Most bytes of one piece."""
SLACK = 1 << 20
"""Bytes by which a packed reply may be longer than what it unpacks to: more are empty members without an end."""
WITH_HEADER = 16 + zlib.MAX_WBITS


class PackedReplyError(ValueError):
    """Raised when a reply is packed in a way that was not asked for, or not in the way that its header names."""


class Unpacker:
    """Unpacks one body; `encoding` is its Content-Encoding header, several of them joined by commas.

    Raises PackedReplyError for all but gzip and none.
    """

    def __init__(self, encoding: str) -> None:
        names = [
            name for name in (part.strip().lower() for part in encoding.split(",")) if name not in ("", "identity")
        ]
        if len(names) > 1 or not NAMES.issuperset(names):
            raise PackedReplyError(f"a reply packed as {line(encoding, 50)}, and {ACCEPTED} was asked for")
        self._member = zlib.decompressobj(WITH_HEADER) if names else None
        self._surplus = 0
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What the next part of the body unpacks to, at most 256 kB at once. Raises PackedReplyError."""
        self._surplus += len(data)
        self._begun = self._begun or bool(data)
        while data:
            piece, data = self._step(data)
            self._surplus -= len(piece)
            if self._surplus > SLACK:
                raise PackedReplyError("a packed reply that unpacks to nothing")
            yield piece

    def end(self) -> None:
        """Raises PackedReplyError where the body ended in the middle of what was packed."""
        if self._begun and self._member and not self._member.eof:
            raise PackedReplyError("a packed reply without its end")

    def _step(self, data: bytes) -> tuple[bytes, bytes]:
        """A piece, and what of the data is left."""
        if self._member is None:
            return data, b""
        if self._member.eof:  # several members, one behind the other, are one file (RFC 1952, 2.2)
            self._member = zlib.decompressobj(WITH_HEADER)
        try:
            piece = self._member.decompress(data, PIECE)
        except zlib.error as error:
            raise PackedReplyError("a reply that is not packed as its header says") from error
        return piece, self._member.unused_data if self._member.eof else self._member.unconsumed_tail
