"""The rows of a question file, one after the other: JSON Lines, or the objects of a JSON array; packed by gzip or not.

A byte order mark at the start, as some editors write it, is passed over. What cannot be read is a row too, which says
so, and the rows behind it come all the same. About `LONGEST` characters are held at a time; a file ends with an error
behind `MOST`, since a few packed kilobytes can stand for any number.
"""

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import msgspec

from fedkg.errors import DatasetError

__all__ = ["Row", "array", "lines"]

LONGEST = 1 << 20
"""Characters of one row; the longest of the known sets has some ten thousand."""
MOST = 1 << 30
OVERLAP = 1 << 14
HEAD = 200
"""Characters of an object that is too deep or has too large a number: it has more than these, and its id among them."""
UNREADABLE = (OSError, EOFError, zlib.error)
UNENDED = "the file ends before its array does"
ID = re.compile(rb'"id"\s*:\s*(?:"([^"\\\r\n]{1,200})"|(\d{1,18}))')
BLANK = re.compile(r"\s*")
DECODER = json.JSONDecoder()


class Row(msgspec.Struct, frozen=True):
    """One row: the line where it begins, or where it breaks, its JSON text, and what is wrong with it, if anything."""

    line: int
    text: bytes
    fault: str = ""

    @property
    def id(self) -> str:
        """The first id in its text, also where that is no JSON; "" where there is none."""
        match = ID.search(self.text)
        return (match[1] or match[2]).decode(errors="replace") if match else ""

    def line_of(self, key: str) -> int:
        """The line on which that key first stands; the first line where it does not."""
        return self.line + self.text.count(b"\n", 0, max(0, self.text.find(f'"{key}"'.encode())))


def lines(file: Path) -> Iterator[Row]:
    """The lines of a JSON Lines file that are not blank. Raises DatasetError where there is no such file."""
    with _opened(file) as stream:
        number, left = 0, MOST
        try:
            while (left := left - len(line := stream.readline(LONGEST + 1))) >= 0 and line:
                number += 1
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if len(line) > LONGEST:
                    left -= _pass_over(stream)
                    yield Row(number, line, f"a line of more than {LONGEST:,} bytes")
                elif line.strip():
                    yield Row(number, line)
        except UNREADABLE as error:
            yield Row(number + 1, b"", _unreadable(error))
        if left < 0:
            yield Row(number, b"", _too_long())


def array(file: Path, head: str, key: str) -> Iterator[Row]:
    """The objects of the array that begins behind `head`, a regular expression.

    Raises DatasetError where there is no such file. Behind an object that is broken the next one with `key` is gone on
    with.
    """
    # what is no UTF-8 goes through, and is said with the object that it stands in
    with io.TextIOWrapper(_opened(file), encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        yield from _Array(stream, key).rows(head)


class _Array:
    """The text of a JSON array, of which `LONGEST` characters lie ahead, as far as there are any."""

    def __init__(self, stream: IO[str], key: str) -> None:
        self._stream = stream
        self._object = re.compile(rf'\{{(?=[^{{}}]*"{re.escape(key)}"\s*:)')
        self._text, self._at, self._line, self._left = "", 0, 1, MOST
        self._ended, self._fault = False, ""
        self._go(0)

    def rows(self, head: str) -> Iterator[Row]:
        """Its objects."""
        start = re.search(head, self._text)
        if not start:
            yield Row(1, b"", self._fault or "there is no array of questions")
            return
        self._go(start.end())
        while not self._sees("]"):
            row = self._row()
            if not row.fault and not self._sees(",") and not self._sees("]"):
                yield row
                behind = f"neither a comma nor the end of the array behind {row.id or 'an object'}"
                row = Row(self._line, b"", behind if self._at < len(self._text) else self._fault or UNENDED)
            yield row
            if row.fault and not self._find():
                return
            if self._sees(","):
                self._go(self._at + 1)

    def _row(self) -> Row:
        """The object here; the place moves to its end, or to where it breaks."""
        start, line = self._at, self._line
        try:
            _, end = DECODER.raw_decode(self._text, start)
        except (ValueError, RecursionError) as error:
            end, fault = self._broken(error)
            shown = end if isinstance(error, json.JSONDecodeError) else start + HEAD
            row = Row(line + self._text.count("\n", start, end), self._bytes(start, shown), fault)
        else:
            row = Row(line, self._bytes(start, end))
        self._go(end)
        return row

    def _broken(self, error: Exception) -> tuple[int, str]:
        """Where an object breaks, and how."""
        if self._at >= len(self._text):
            return self._at, self._fault or UNENDED
        if isinstance(error, json.JSONDecodeError):
            return max(self._at + 1, error.pos), self._fault or f"this is no JSON: {error.msg}"
        return self._at + 1, f"this is no JSON that can be read: {error}"

    def _find(self) -> bool:
        """Moves to the next object that has the key; False where there is none."""
        while not (match := self._object.search(self._text, self._at)):
            if self._ended:
                return False
            self._go(max(self._at + 1, len(self._text) - OVERLAP))
        self._go(match.start())
        return True

    def _sees(self, sign: str) -> bool:
        """Whether that comes next but for white space, which is passed over."""
        while (end := cast("re.Match[str]", BLANK.match(self._text, self._at)).end()) > self._at:
            self._go(end)
        return self._text.startswith(sign, self._at)

    def _go(self, to: int) -> None:
        """Moves on in the text, and reads what is missing ahead."""
        self._line += self._text.count("\n", self._at, to)
        self._at = to
        if len(self._text) - to < LONGEST and not self._ended:
            more = self._read()
            self._text, self._at, self._ended = self._text[to:] + more, 0, not more

    def _read(self) -> str:
        try:
            more = self._stream.read(LONGEST)
        except UNREADABLE as error:
            self._fault = _unreadable(error)
            return ""
        self._left -= len(more)
        if self._left < 0:
            self._fault = _too_long()
            return ""
        return more

    def _bytes(self, start: int, end: int) -> bytes:
        return self._text[start:end].encode(errors="surrogateescape")


def _opened(file: Path) -> IO[bytes]:
    try:
        return cast("IO[bytes]", gzip.open(file)) if file.suffix == ".gz" else file.open("rb")
    except OSError as error:
        hint = "--data names the folder of question sets and graphs"
        raise DatasetError(f"{file}: {error.strerror}", hint=hint) from error


def _pass_over(stream: IO[bytes]) -> int:
    """Reads to the end of a line; the bytes that were left of it, `MOST` at most."""
    passed = 0
    while passed < MOST and (part := stream.readline(LONGEST)):
        passed += len(part)
        if part.endswith(b"\n"):
            break
    return passed


def _unreadable(error: Exception) -> str:
    return f"the file cannot be read any further: {error}"


def _too_long() -> str:
    return f"the file has more than {MOST:,} characters, and is read no further"
