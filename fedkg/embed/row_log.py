"""A log of keys with their vectors: blocks at the end of a file, each with a checksum over all of it.

A block counts once it is whole. Of one that a process had not finished when it was killed, or that another process is
writing right now, nothing is read; the next writer puts its own block in that place. All that is read is checked, and
copied into memory, so that a file of a stranger can be wrong but does no harm.
"""

import errno
import os
import secrets
import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from struct import Struct
from typing import BinaryIO, NamedTuple

import numpy as np

from fedkg.cache.folders import is_plain
from fedkg.embed.cosine import HalfMatrix

__all__ = ["RowLog"]

MAGIC = b"fkl1"
HEAD = Struct("<4sIIII")
"""Magic, rows, dimensions, bytes of keys, checksum of the numbers before it and of the body."""
IDENTITY = 16
"""Random bytes that a file begins with: a reader sees by them that the file was begun anew."""
MOST_BYTES = 512 << 20
"""Bytes of a log that is read; one that grew beyond them is no log of ours."""


class _Block(NamedTuple):
    keys: list[str]
    rows: HalfMatrix
    length: int


class RowLog:
    """The keys and vectors of one log, as far as they were read; without a file they are in memory only.

    `size` is the number of dimensions d; None: that of the first block. Blocks of another one do not count. `keys` and
    `rows`, shape (len(keys), d), None where there are none, are replaced and never changed.
    """

    def __init__(self, file: Path | None, size: int | None = None) -> None:
        self._file = file
        self._required = size
        self._stamp = (0, 0)
        self._begin(b"")

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def refresh(self) -> None:
        """Reads what was added since. Raises OSError where there is no regular file, or it cannot be read."""
        if self._file is None or not os.path.lexists(self._file):
            return
        state = self._file.lstat()
        if (state.st_size, state.st_mtime_ns) == self._stamp:
            return
        if not is_plain(self._file):
            raise FileNotFoundError(errno.ENOENT, "there is no regular file", str(self._file))
        with self._file.open("rb") as stream:
            identity = stream.read(IDENTITY)
            if identity != self._identity:
                self._begin(identity)
            stream.seek(self._end)
            self._read(memoryview(stream.read(MOST_BYTES)))
        self._stamp = state.st_size, state.st_mtime_ns

    def append(self, keys: Sequence[str], rows: HalfMatrix) -> None:
        """Adds keys and rows as one block, behind the last whole one that was read. Raises OSError."""
        if self._file is not None:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(self._file, flags, 0o600), "r+b") as stream:
                self._end = self._write(stream, _packed(keys, rows))
        self._take(keys, rows)

    def _begin(self, identity: bytes) -> None:
        """Forgets what was read: another file stands there."""
        self._identity = identity
        self._end = IDENTITY
        self.size = self._required
        self.keys: list[str] = []
        self.rows: HalfMatrix | None = None
        self._known: set[str] = set()

    def _read(self, data: memoryview) -> None:
        keys: list[str] = []
        parts: list[HalfMatrix] = []
        place = 0
        while (block := _block(data[place:])) and self.size in (None, block.rows.shape[1]):
            self.size = block.rows.shape[1]
            keys += block.keys
            parts.append(block.rows)
            place += block.length
        self._end += place
        if parts:
            self._take(keys, np.concatenate(parts))

    def _write(self, stream: BinaryIO, data: bytes) -> int:
        """The place behind the data, once they are written."""
        if not self._identity:
            self._identity = secrets.token_bytes(IDENTITY)
        if not self.keys:
            stream.write(self._identity)
        stream.truncate(self._end)
        stream.seek(self._end)
        stream.write(data)
        return self._end + len(data)

    def _take(self, keys: Sequence[str], rows: HalfMatrix) -> None:
        self.size = rows.shape[1]
        self.rows = rows if self.rows is None else np.concatenate([self.rows, rows])
        self.keys = [*self.keys, *keys]
        self._known.update(keys)


def _packed(keys: Sequence[str], rows: HalfMatrix) -> bytes:
    texts = [key.encode(errors="surrogatepass") for key in keys]
    lengths = np.array([len(text) for text in texts], dtype="<u4").tobytes()
    body = lengths + b"".join(texts) + rows.astype("<f2").tobytes()
    numbers = HEAD.pack(MAGIC, len(keys), rows.shape[1], sum(map(len, texts)), 0)[:-4]
    return numbers + zlib.crc32(body, zlib.crc32(numbers)).to_bytes(4, "little") + body


def _block(data: memoryview) -> _Block | None:
    """The block that the data begin with; None where they begin with no whole one."""
    if len(data) < HEAD.size:
        return None
    magic, count, size, texts, checksum = HEAD.unpack(data[: HEAD.size])
    length = HEAD.size + 4 * count + texts + 2 * count * size
    if magic != MAGIC or not (count and size) or len(data) < length:
        return None
    body = data[HEAD.size : length]
    if zlib.crc32(body, zlib.crc32(data[: HEAD.size - 4])) != checksum:
        return None
    lengths = np.frombuffer(body[: 4 * count], dtype="<u4").tolist()
    keys = _texts(body[4 * count : 4 * count + texts].tobytes(), lengths)
    rows = np.frombuffer(body[4 * count + texts :], dtype="<f2").reshape(count, size)
    return _Block(keys, rows.astype(np.float16), length) if keys and np.isfinite(rows).all() else None


def _texts(data: bytes, lengths: Sequence[int]) -> list[str]:
    """The texts of these lengths; none where the bytes are no such texts."""
    if sum(lengths) != len(data):
        return []
    try:
        return [
            data[start:end].decode(errors="surrogatepass") for start, end in pairwise(accumulate(lengths, initial=0))
        ]
    except UnicodeDecodeError:
        return []
