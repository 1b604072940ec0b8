"""Result files: append-only JSON Lines, so that whatever kills a run takes at most the questions in flight along.

Each record is written by one call and synced to the disk before the next question is counted as finished. A file whose
last line was cut by a crash is mended by cutting that line off: its question is asked again. Where another version of
fedkg goes on, or with another budget of the whole run, its header stands before its records. While one process writes a
file no other one does, where the system has locks for that. The header comes with the first record: a run that finishes
no question leaves no file, and one without a record holds no run.

A finished one may be packed by gzip (`.gz`); the same result gives the same bytes.
"""

import gzip
import logging
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from fedkg.bench.run.record import SCHEMA, Header, QuestionRecord
from fedkg.common.line_file import LineFile, whole_lines
from fedkg.core.answer import Status
from fedkg.core.encoding import encode
from fedkg.errors import DatasetError

__all__ = ["BenchmarkResult", "ResultWriter", "earlier", "every", "read", "resumed", "save"]

T = TypeVar("T")
MOST = 1 << 30
"""Bytes of a result: a few packed kilobytes can stand for any number."""
HINT = "name a result file of `fedkg eval run`"

log = logging.getLogger(__name__)


class BenchmarkResult(msgspec.Struct, frozen=True):
    """A result file as read: the header, each question's record once, and the headers of later starts."""

    header: Header
    records: tuple[QuestionRecord, ...]
    continued: tuple[Header, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether the budget of the whole run was spent before all questions were answered."""
        return len(self.records) < self.header.questions or any(map(_is_stopped, self.records))


class LineHead(msgspec.Struct, frozen=True):
    """What tells a header from a record, and its version, before anything else of it is read."""

    schema: int | None = None


class ResultWriter:
    """Appends records to a result file, the first one behind `header` if there is one.

    Each is on disk when `add` returns.
    """

    def __init__(self, file: LineFile, header: Header | None = None) -> None:
        self._file = file
        self._header = header

    def add(self, record: QuestionRecord) -> None:
        """Writes one line and syncs it. Raises DatasetError where that cannot be done, as on a full disk."""
        line = b"".join(encode(part) + b"\n" for part in (self._header, record) if part)
        self._header = None
        try:
            self._file.append(line)
        except OSError as error:
            raise _unwritable(self._file.path, error) from error


def read(file: Path) -> BenchmarkResult:
    """The result in a file.

    A last line that is not whole yet is left out, with a warning, and another one where versions differ. Raises
    DatasetError where it is none, or one of another version, naming the line.
    """
    data = _unpacked(file)
    if not data.endswith(b"\n"):
        log.warning("%s: its last line is not whole, and is left out", file)
    result = _parsed(file, data)
    if any(header.version != result.header.version for header in result.continued):
        log.warning("%s: its records are of several versions of fedkg or of packages", file)
    return result


def every(files: Iterable[Path]) -> list[tuple[Path, BenchmarkResult]]:
    """The results in the files, as `read` has them; one without a record is left out, with a warning.

    Raises DatasetError where there are files, and none has any.
    """
    read_files = [(file, read(file)) for file in files]
    for file, result in read_files:
        if not result.records:
            log.warning("%s: it holds no finished question, and is left out", file)
    kept = [result_file for result_file in read_files if result_file[1].records]
    if read_files and not kept:
        raise DatasetError("no question is finished in any of the result files", hint="run the benchmark again")
    return kept


def _parsed(file: Path, data: bytes) -> BenchmarkResult:
    lines = whole_lines(data).splitlines()
    if not lines:
        raise DatasetError(f"{file}: the file is empty", hint=HINT)
    headers: list[Header] = []
    records: dict[str, QuestionRecord] = {}
    for number, line in enumerate(lines, 1):
        if (schema := _decoded(line, LineHead, file, number).schema) is None and headers:
            record = _decoded(line, QuestionRecord, file, number)
            records[record.id] = record
        elif schema not in {SCHEMA, None}:
            raise DatasetError(
                f"{file}: schema {schema} is not known (this is {SCHEMA})",
                hint="run it again, or read it with the fedkg that wrote it",
            )
        else:
            headers.append(_decoded(line, Header, file, number))
    return BenchmarkResult(headers[0], tuple(records.values()), tuple(headers[1:]))


def save(result: BenchmarkResult, file: Path) -> None:
    """Writes a result file as a whole, in the place of whatever is there.

    Raises DatasetError where it cannot be written.
    """
    whole = b"".join(encode(line) + b"\n" for line in (result.header, *result.continued, *result.records))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(whole, mtime=0) if file.suffix == ".gz" else whole)
    except OSError as error:
        raise _unwritable(file, error) from error


def earlier(file: Path, header: Header, *, retry_errors: bool = False) -> tuple[QuestionRecord, ...]:
    """The questions that an earlier start of the same run has finished in the file.

    Raises DatasetError where it holds another run. With `retry_errors` those that an error has ended are not among
    them.
    """
    return _finished(_earlier(file, header), retry_errors=retry_errors)


def _finished(result: BenchmarkResult | None, *, retry_errors: bool) -> tuple[QuestionRecord, ...]:
    """What the budget of the whole run has ended is not finished: it is asked again when there is another budget."""
    again = {"error", Status.FAILED} if retry_errors else set()
    records = result.records if result else ()
    return tuple(record for record in records if record.status not in again and not _is_stopped(record))


def _is_stopped(record: QuestionRecord) -> bool:
    return record.usage.spent.startswith("run ")


def _earlier(file: Path, header: Header) -> BenchmarkResult | None:
    try:
        if not file.exists() or not whole_lines(data := file.read_bytes()):
            return None
    except OSError as error:
        raise _unwritable(file, error) from error
    result = _parsed(file, data)
    if not result.records:
        return None
    if differing := _differing(result.header, header):
        hint = "name another folder with --out, or remove that file"
        raise DatasetError(f"{file} holds another run (other {differing})", hint=hint)
    return result


@contextmanager
def resumed(
    file: Path, header: Header, *, retry_errors: bool = False
) -> Iterator[tuple[ResultWriter, tuple[QuestionRecord, ...]]]:
    """The writer of a run's records, and those that an earlier start of the same run has finished (see `earlier`).

    Where that was another version there is a warning. Raises DatasetError where the file holds another run or another
    process writes it, and where it cannot be written.
    """
    with closing(_opened(file)) as lines:
        result = _earlier(file, header)
        last = (result.header, *result.continued)[-1] if result else None
        _mend(lines, empty=result is None)
        if last and last.version != header.version:
            log.warning("%s was begun by another version of fedkg or of packages; the file names both", file)
        yield (
            ResultWriter(lines, None if last == header else header),
            _finished(result, retry_errors=retry_errors),
        )


def _opened(file: Path) -> LineFile:
    """The file, to append to, and for this process alone as long as it is open."""
    try:
        return LineFile(file)
    except BlockingIOError as error:
        hint = "wait until it has ended, or name another folder with --out"
        raise DatasetError(f"another run is writing {file}", hint=hint) from error
    except OSError as error:
        raise _unwritable(file, error) from error


def _mend(lines: LineFile, *, empty: bool) -> None:
    """Cuts off a last line that is not whole, or all where there is no record."""
    try:
        if empty:
            lines.clear()
        else:
            lines.mend()
    except OSError as error:
        raise _unwritable(lines.path, error) from error


def _unpacked(file: Path) -> bytes:
    """Raises DatasetError where the file cannot be read, or what it packs is too large."""
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            data = stream.read(MOST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{file}: {getattr(error, 'strerror', None) or error}", hint=HINT) from error
    if len(data) > MOST:
        raise DatasetError(f"{file}: it holds more than {MOST:,} bytes", hint=HINT)
    return data


def _unwritable(file: Path, error: OSError) -> DatasetError:
    hint = "--out names a folder that can be written to; what was finished is kept, and the same command goes on"
    return DatasetError(f"cannot write {file}: {error.strerror}", hint=hint)


def _differing(first: Header, second: Header) -> str:
    """What makes it another run: what asks may be a later version, and may be given more to spend."""
    before, now = first.identity, second.identity
    return ", ".join(name for name in before | now if before.get(name) != now.get(name))


def _decoded(line: bytes, kind: type[T], file: Path, number: int) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DatasetError(f"{file}, line {number}: {error}", hint="this is no result file of this fedkg") from error
