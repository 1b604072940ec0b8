"""Keys with their vectors in one file that is never changed: grouped by cell, mapped into memory, searched by cells.

The file holds numbers and texts, and no structure that would have to be trusted: its sizes have to fit, what is looked
at is bounded by them, and each row that a search returns has to have the checksum, and each key the digest, that were
written beside it. So a damaged or forged file finds less, or what it was made to find, and does no harm.

Of a million vectors a search looks at about 16,000, two in a hundred. Pages of the file that were
touched are given back when they add up, since the system counts them as the process's memory.
"""

import hashlib
import itertools
import mmap
import os
import secrets
import tempfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from fedkg.cache.folders import claim, is_plain
from fedkg.embed.cells import Numbers, centres, nearest_cells, parted
from fedkg.embed.cosine import HalfMatrix, cosines, cosines_in_parts
from fedkg.errors import CacheError

__all__ = ["LONGEST_KEY", "Digests", "GroupedRows", "Hit", "best", "digests", "group"]

Hit = tuple[str, float]
"""A key with its cosine."""
Digests = NDArray[np.uint64]

FORMAT = "fedkg grouped labels 1"
HEAD_BYTES = 4_096
MOST_ROWS, MOST_SIZE = 1 << 23, 1 << 14
"""Rows and dimensions of a file that is read."""
LOOKED_AT = 16_384
"""Vectors that a search compares with: the nearest cells that have so many."""
SPARE = 16
"""Rows beyond those wanted that are looked up, since some may be damaged."""
TOUCHED = 64 << 20
"""Bytes of the mapping that are kept in memory."""
RELEARNT = 4
"""How often more vectors than the centres were learnt from there may be, before they are learnt anew."""
AROUND = 64 << 10
"""Bytes that the system maps around one that is read."""
AT_RANDOM = TOUCHED // AROUND
"""Rows here and there that are read at once."""
LONGEST_KEY = 1 << 16
"""Bytes of a key: an IRI and a label."""


class _Head(msgspec.Struct, frozen=True):
    """The first line of a file. `learnt` is how many vectors there were when the centres were learnt."""

    format: str
    embedder: str
    token: str
    size: int
    count: int
    cells: int
    learnt: int
    text_bytes: int
    checksum: int


class _Layout:
    """Where the parts of a file begin: head, centres, where cells start, ends of keys, digests, checksums, rows."""

    def __init__(self, head: _Head) -> None:
        self.centres = HEAD_BYTES
        self.starts = _aligned(self.centres + 2 * head.cells * head.size)
        self.ends = self.starts + 8 * (head.cells + 1)
        self.digests = self.ends + 8 * head.count
        self.checksums = self.digests + 8 * head.count
        self.rows = _aligned(self.checksums + 4 * head.count)
        self.texts = self.rows + 2 * head.count * head.size
        self.whole = self.texts + head.text_bytes


class GroupedRows:
    """The keys and vectors of one such file.

    Raises ValueError or MsgspecError where it is not what `group` wrote for this embedder, OSError where it cannot be
    read.
    """

    def __init__(self, file: Path, embedder: str) -> None:
        if not is_plain(file):
            raise ValueError(f"{file} is no regular file")
        with file.open("rb") as stream:
            head = msgspec.json.decode(stream.read(HEAD_BYTES).rstrip(b" "), type=_Head)
            layout = _Layout(head)
            if not _plausible(head, embedder) or os.fstat(stream.fileno()).st_size != layout.whole:
                raise ValueError(f"{file} is not this index")
            self._map = mmap.mmap(stream.fileno(), layout.whole, access=mmap.ACCESS_READ)
        self.token, self.size, self.learnt = head.token, head.size, head.learnt
        self.centres = self._array("<f2", layout.centres, head.cells * head.size).reshape(head.cells, head.size)
        self._starts = self._array("<i8", layout.starts, head.cells + 1)
        self._ends = self._array("<i8", layout.ends, head.count)
        self.digests = self._array("<u8", layout.digests, head.count)
        self.checksums = self._array("<u4", layout.checksums, head.count)
        self.rows = self._array("<f2", layout.rows, head.count * head.size).reshape(head.count, head.size)
        self._texts = layout.texts
        self._touched = 0
        _check(self.centres, self._starts, head)

    def __len__(self) -> int:
        return len(self._ends)

    def known(self) -> Digests:
        """The digests of all keys, sorted."""
        return np.sort(self.digests)

    def cells(self) -> Numbers:
        """The cell of each row."""
        return np.repeat(np.arange(len(self.centres)), np.diff(self._starts))

    def search(self, vector: HalfMatrix, m: int) -> list[Hit]:
        """At most m keys near to `vector` (shape (d,)) with their cosines, the nearest first. Raises CacheError."""
        self._check_whole()
        numbers, scores = self._near(vector, max(LOOKED_AT, 4 * m))
        hits: list[Hit] = []
        for wanted in dict.fromkeys((m + SPARE, len(scores))):
            places = best(scores, wanted)
            keys = ((self._key(int(numbers[place])), float(scores[place])) for place in places)
            hits = list(itertools.islice(((key, score) for key, score in keys if key is not None), m))
            if len(hits) == m:
                break
        self._give_back(2 * self.size * len(numbers) + 4 * AROUND * m)
        return hits

    def rows_of(self, numbers: Numbers) -> HalfMatrix:
        """The vectors of these numbers, shape (len(numbers), d). Raises CacheError."""
        parts = []
        for start in range(0, len(numbers), AT_RANDOM):
            self._check_whole()
            parts.append(self.rows[numbers[start : start + AT_RANDOM]])
            self._give_back(TOUCHED)
        return np.concatenate(parts) if parts else self.rows[:0]

    def lengths(self) -> Numbers:
        """The bytes of each key. Raises ValueError where they are not those of the texts."""
        lengths = np.diff(self._ends, prepend=0)
        if lengths.min() < 0 or lengths.max() > LONGEST_KEY or self._ends[-1] != len(self._map) - self._texts:
            raise ValueError("keys that are none")
        return lengths

    def text(self, number: int) -> bytes:
        """A key, as it stands in the file."""
        return self._text(int(self._ends[number - 1]) if number else 0, int(self._ends[number]))

    def _near(self, vector: HalfMatrix, least: int) -> tuple[Numbers, NDArray[np.float32]]:
        """The numbers of the rows in the nearest cells that hold at least so many, and their cosines."""
        order = np.argsort(-cosines(vector, self.centres), kind="stable")
        sizes = np.diff(self._starts)[order]
        near = np.sort(order[: int(np.searchsorted(np.cumsum(sizes), least)) + 1])
        runs = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)  # cells side by side are looked at in one go
        spans = [(int(self._starts[run[0]]), int(self._starts[run[-1] + 1])) for run in runs]
        scores = cosines_in_parts(vector, [self.rows[start:end] for start, end in spans])
        numbers = np.concatenate([np.arange(start, end) for start, end in spans])
        finite = np.isfinite(scores)
        return numbers[finite], scores[finite]

    def _check_whole(self) -> None:
        """Raises CacheError where another process has cut the file meanwhile: its lost pages would end this one."""
        if self._map.size() < len(self._map):
            raise CacheError(
                "the index of labels was cut while it was open",
                hint="remove the files *.labels* of the cache's folder labels; they are made anew",
            )

    def _key(self, number: int) -> str | None:
        """The key of a row; None where row or key are not what was written."""
        if zlib.crc32(self.rows[number].tobytes()) != self.checksums[number]:
            return None
        text = self.text(number)
        if digests([text])[0] != self.digests[number]:
            return None
        return text.decode(errors="surrogatepass")

    def _text(self, start: int, end: int) -> bytes:
        fits = 0 <= start <= end <= start + LONGEST_KEY
        return self._map[self._texts + start : self._texts + end] if fits else b""

    def _array(self, dtype: str, start: int, count: int) -> NDArray[Any]:
        return np.frombuffer(self._map, dtype=dtype, count=count, offset=start)

    def _give_back(self, touched: int) -> None:
        """Drops the mapping's pages from this process's memory, once many were touched; the system may keep them."""
        self._touched += touched
        if self._touched >= TOUCHED and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)
            self._touched = 0


def group(file: Path, embedder: str, before: GroupedRows | None, keys: Sequence[str], rows: HalfMatrix) -> None:
    """Puts the file in the place of what it holds (`before`), with these keys and rows as well. Raises OSError."""
    new = [key.encode(errors="surrogatepass") for key in keys]
    entries = _Entries(before, new, rows)
    middle, learnt = _centres(before, entries)
    cells = entries.cells(middle)
    order = np.argsort(cells, kind="stable")
    claim(file.parent)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".new")
    try:
        with os.fdopen(handle, "w+b") as stream:
            _write(stream, embedder, entries, order, (middle, np.bincount(cells, minlength=len(middle)), learnt))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def best(scores: NDArray[np.float32], m: int) -> list[int]:
    """The places of the m highest scores, the highest first; equal ones in their order."""
    places = np.argpartition(-scores, m - 1)[:m] if m < len(scores) else np.arange(len(scores))
    order: list[int] = places[np.lexsort((places, -scores[places]))].tolist()
    return order


def digests(keys: Sequence[bytes]) -> Digests:
    """Shape (len(keys),): the first 64 bits of each key's BLAKE2b."""
    joined = b"".join(hashlib.blake2b(key, digest_size=8).digest() for key in keys)
    return np.frombuffer(joined, dtype="<u8")


class _Entries:
    """What a file held and what is new, under one numbering: those that it held first, in their order."""

    def __init__(self, before: GroupedRows | None, keys: Sequence[bytes], rows: HalfMatrix) -> None:
        self._before = before
        self._keys, self._rows = keys, rows
        self.held = len(before) if before else 0
        self.count, self.size = self.held + len(keys), rows.shape[1]
        lengths = np.array([len(key) for key in keys], dtype=np.int64)
        checksums = np.array([zlib.crc32(row.tobytes()) for row in rows], dtype=np.uint32)
        self.lengths: Numbers = np.concatenate([before.lengths(), lengths]) if before else lengths
        self.digests = np.concatenate([before.digests, digests(keys)]) if before else digests(keys)
        self.checksums = np.concatenate([before.checksums, checksums]) if before else checksums

    def rows(self, numbers: Numbers) -> HalfMatrix:
        """Shape (len(numbers), d); zeros for what a forged file has that is not finite."""
        rows = np.empty((len(numbers), self.size), dtype=np.float16)
        held = numbers < self.held
        if self._before:
            rows[held] = self._before.rows_of(numbers[held])
        rows[~held] = self._rows[numbers[~held] - self.held]
        rows[~np.isfinite(rows).all(axis=1)] = 0
        return rows

    def keys(self, numbers: Numbers) -> bytes:
        """The keys of these numbers, one behind the other."""
        return b"".join(
            self._keys[number - self.held] if number >= self.held or not self._before else self._before.text(number)
            for number in numbers.tolist()
        )

    def cells(self, middle: HalfMatrix) -> Numbers:
        """The cell of each; where the centres are those of the file, only what is new is compared with them."""
        if self._before and self._before.centres is middle:
            return np.concatenate([self._before.cells(), nearest_cells(self._rows, middle)])
        parts = [nearest_cells(self.rows(part), middle) for part in parted(np.arange(self.count))]
        return np.concatenate(parts)


def _centres(before: GroupedRows | None, entries: _Entries) -> tuple[HalfMatrix, int]:
    """The centres, and how many vectors there were when they were learnt: those of the file, while it has not grown."""
    if before and entries.count < RELEARNT * before.learnt:
        return before.centres, before.learnt
    return centres(entries.count, entries.rows), entries.count


def _write(
    stream: BinaryIO, embedder: str, entries: _Entries, order: Numbers, cells: tuple[HalfMatrix, Numbers, int]
) -> None:
    """The parts of a file, one behind the other."""
    middle, sizes, learnt = cells
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype("<i8")
    ends = np.cumsum(entries.lengths[order]).astype("<i8")
    checksum = zlib.crc32(starts.tobytes(), zlib.crc32(middle.astype("<f2").tobytes()))
    token = secrets.token_hex(8)
    head = _Head(FORMAT, embedder, token, entries.size, entries.count, len(middle), learnt, int(ends[-1]), checksum)
    layout = _Layout(head)
    parts: list[tuple[int, Iterable[bytes]]] = [
        (0, [msgspec.json.encode(head).ljust(HEAD_BYTES)]),
        (layout.centres, [middle.astype("<f2").tobytes()]),
        (layout.starts, [starts.tobytes()]),
        (layout.ends, [ends.tobytes()]),
        (layout.digests, [entries.digests[order].astype("<u8").tobytes()]),
        (layout.checksums, [entries.checksums[order].astype("<u4").tobytes()]),
        (layout.rows, (entries.rows(part).astype("<f2").tobytes() for part in parted(order))),
        (layout.texts, (entries.keys(part) for part in parted(order))),
    ]
    for place, written in parts:
        stream.seek(place)
        stream.writelines(written)


def _plausible(head: _Head, embedder: str) -> bool:
    """Whether a head is one of this embedder's, with numbers that can be."""
    return (
        (head.format, head.embedder) == (FORMAT, embedder)
        and 0 < head.size <= MOST_SIZE
        and 0 < head.cells <= head.count <= MOST_ROWS
        and head.learnt > 0
        and 0 <= head.text_bytes <= head.count * LONGEST_KEY
    )


def _check(middle: HalfMatrix, starts: Numbers, head: _Head) -> None:
    """Raises ValueError where centres or cells are not what was written, or cells reach beyond the rows."""
    checksum = zlib.crc32(starts.tobytes(), zlib.crc32(middle.tobytes()))
    sound = starts[0] == 0 and starts[-1] == head.count and bool((np.diff(starts) >= 0).all())
    if checksum != head.checksum or not sound or not np.isfinite(middle).all():
        raise ValueError("cells that are none")


def _aligned(place: int) -> int:
    return (place + 63) & ~63
