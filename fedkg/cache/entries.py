"""Entries of the cache as they lie in a store: bytes with the time of storing, under a namespace and a key."""

import struct
import time
import zlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = [
    "LARGEST",
    "Entry",
    "by_namespace",
    "deflated",
    "entries_of",
    "fresh_of",
    "fresh_value",
    "inflated",
    "pack",
    "row_name",
    "table_key",
    "unpack",
]

HEADER = struct.Struct("<4sdd")
MARK = b"fkg1"
SKEW = 86_400.0
"""Seconds by which the clocks of machines that share a store may differ."""
STORED = b"\x78\x01\x01"
"""Begins what zlib has as it is, in a single block."""
SHORT = 128
"""Bytes of a value that packing hardly shortens."""
LARGEST = 64 << 20
"""Bytes of one value, as large as the reply of an endpoint may be: a few kilobytes can stand for gigabytes."""


class Entry(NamedTuple):
    """A value as it is kept: `stored` and `fresh` (infinite for what never gets stale) are seconds since 1970."""

    value: bytes
    stored: float
    fresh: float

    def is_fresh(self, now: float) -> bool:
        """Whether it may be used at that instant.

        What is to get stale some day and was stored later than now is stale: the clock was wrong then, or is wrong now.
        """
        return self.fresh == float("inf") or self.stored - SKEW <= now < self.fresh


def table_key(key: str) -> str:
    """The key as the table takes it: SQLite takes no lone surrogates, endpoints do send them."""
    return key.encode(errors="backslashreplace").decode()


def row_name(namespace: str, key: str) -> str:
    """The one name under which a value lies."""
    return f"{namespace}\n{table_key(key)}"


def pack(entry: Entry) -> bytes:
    """The entry as bytes."""
    return HEADER.pack(MARK, entry.stored, entry.fresh) + entry.value


def unpack(value: bytes) -> Entry:
    """The entry in a row. Raises ValueError where fedkg did not write it."""
    if not value.startswith(MARK) or len(value) < HEADER.size:
        raise ValueError("the cache holds a value that fedkg did not write")
    _, stored, fresh = HEADER.unpack_from(value)
    return Entry(value[HEADER.size :], stored, fresh)


def deflated(value: bytes) -> bytes:
    """The bytes as they lie in a table, in zlib's format; short ones as they are, in one block.

    To get ready takes zlib ten times as long as all else that is done with a label. Source: RFC 1950, and RFC 1951,
    section 3.2.4.
    """
    size = len(value)
    if size >= SHORT:
        return zlib.compress(value, 1)
    return STORED + struct.pack("<HH", size, size ^ 0xFFFF) + value + struct.pack(">I", zlib.adler32(value))


def inflated(value: bytes) -> bytes:
    """The bytes that were deflated; they are counted while they are unpacked.

    Raises ValueError where fedkg did not write them, or they are too many.
    """
    unpacking = zlib.decompressobj()
    try:
        whole = unpacking.decompress(value, LARGEST + HEADER.size)
    except zlib.error as error:
        raise ValueError("the cache holds a damaged value") from error
    if not unpacking.eof:
        raise ValueError("the cache holds a value that is too large, or cut")
    return whole


def entries_of(values: Mapping[str, bytes], seconds: float | None) -> dict[str, Entry]:
    """The values as entries of now, fresh for so many seconds (None: for ever)."""
    now = time.time()
    fresh = float("inf") if seconds is None else now + seconds
    return {key: Entry(value, now, fresh) for key, value in values.items()}


def fresh_of(entries: Mapping[str, Entry]) -> dict[str, bytes]:
    """The values that are fresh."""
    now = time.time()
    return {key: entry.value for key, entry in entries.items() if entry.is_fresh(now)}


def fresh_value(entry: Entry | None) -> bytes | None:
    """The entry's value; None where there is no entry, or a stale one."""
    return entry.value if entry and entry.is_fresh(time.time()) else None


def by_namespace(keys: Iterable[str]) -> dict[str, int]:
    """How many of these names each namespace has; what fedkg did not write is not counted."""
    counts: dict[str, int] = {}
    for key in keys:
        namespace, ours, _ = key.partition("\n")
        if ours:
            counts[namespace] = counts.get(namespace, 0) + 1
    return dict(sorted(counts.items()))
