"""A file of records, one line a question, that is only ever added to: a run that ended is gone on with."""

from collections.abc import Iterable
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

import msgspec

from fedkg.core.encoding import encode
from fedkg.errors import DatasetError

__all__ = ["KeptRecord", "RecordFile"]


class KeptRecord(Protocol):
    """What a record has: the question's `id`, what the file is made of, and why the question failed, if it did."""

    @property
    def id(self) -> str:
        """The question's."""
        ...

    @property
    def recipe(self) -> msgspec.Struct:
        """What the file is made of."""
        ...

    @property
    def error(self) -> str:
        """Why there is nothing; "" where there is something."""
        ...


Record = TypeVar("Record", bound=KeptRecord)


class RecordFile(Generic[Record]):
    """The file: `done` are the records in it that need not be made again, by the ids of their questions."""

    def __init__(self, file: Path, kind: type[Record], recipe: msgspec.Struct) -> None:
        self._file, self._kind, self._recipe = file, kind, recipe
        self.done: dict[str, Record] = {}

    def open(self) -> Self:
        """Reads the file, and drops a last line that was not written to its end.

        Raises DatasetError where the file cannot be read or written, or is of another kind.
        """
        try:
            with self._file.open("a+b") as lines:
                lines.seek(0)
                lines.truncate(self._read(lines))
        except OSError as error:
            raise DatasetError(
                f"{self._file}: {error.strerror}", hint="--out takes a file that can be written"
            ) from error
        return self

    def add(self, record: Record) -> None:
        """Writes the record at the end. Raises DatasetError where that fails."""
        try:
            with self._file.open("ab") as lines:
                lines.write(encode(record) + b"\n")
        except OSError as error:
            raise DatasetError(f"{self._file}: {error.strerror}") from error

    def _read(self, lines: Iterable[bytes]) -> int:
        """Where the last whole line ends."""
        end = 0
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            self._note(line, f"{self._file}, line {number}")
            end += len(line)
        return end

    def _note(self, line: bytes, place: str) -> None:
        try:
            record = msgspec.json.decode(line, type=self._kind)
        except msgspec.MsgspecError as error:
            raise DatasetError(f"{place}: {error}", hint="--out takes a new file, or one of an earlier run") from error
        if record.recipe != self._recipe:
            raise DatasetError(f"{place}: made with {record.recipe}", hint="use the same options, or another --out")
        self.done.pop(record.id, None)
        if not record.error:
            self.done[record.id] = record
