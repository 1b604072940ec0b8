"""The questions of a benchmark, read strictly: a row that is none is named with file, line and id.

With `skip_bad` it is left out and listed, and the next readable one is gone on with.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from fedkg.bench.data import files
from fedkg.bench.data.definitions import Definition, Only, custom
from fedkg.bench.data.formats import Format, MisfitError, find
from fedkg.bench.data.gold_operations import GoldOperation
from fedkg.bench.data.questions import Bad, BenchmarkQuestion, drawn
from fedkg.bench.data.rows import Row
from fedkg.config.settings import Settings
from fedkg.errors import DatasetError

__all__ = ["questions", "read"]

MOST_QUESTIONS = 1_000_000
MOST_BAD = 1_000
HINT = "--skip-bad leaves such questions out, and lists them"


class StatedOperations(msgspec.Struct, frozen=True):
    """A file that tells what questions ask to be computed, by their ids."""

    operations: dict[str, GoldOperation]


def read(
    definition: Definition, data: Path | None, settings: Settings | None = None, *, skip_bad: bool = False
) -> tuple[list[BenchmarkQuestion], list[Bad]]:
    """The questions of a benchmark in the file's order, and those that were left out.

    `data` is the folder of its files; what is not there is fetched where the definition has a checksum, with settings
    that allow it. Raises DatasetError where a file cannot be had, for the first bad row unless they are skipped, and
    where no question is left.
    """
    file = files.find(definition, definition.questions, data, settings)
    wanted, supported = (
        _ids(files.find(definition, part.file, data, settings), part) if part else None
        for part in (definition.only, definition.conditions)
    )
    stated = _operations(definition, data, settings)
    questions: list[BenchmarkQuestion] = []
    bad: list[Bad] = []
    for row in _each(definition, file):
        if wanted is not None and row.id and row.id not in wanted:
            continue
        if isinstance(row, BenchmarkQuestion):
            questions.append(_marked(row, supported, stated))
        elif skip_bad:
            bad.append(row)
        else:
            raise DatasetError(str(row), hint=HINT)
        _check(file, len(questions), len(bad))
    if not questions:
        raise DatasetError(f"{file}: there is no question" + (f"; the first fault: {bad[0]}" if bad else ""))
    return questions, bad


def questions(file: Path, limit: int | None = None, seed: int = 0) -> list[BenchmarkQuestion]:
    """The questions of one JSON Lines file, or `limit` of them drawn by `seed`.

    Raises DatasetError for any that is bad.
    """
    return drawn(read(custom(str(file)), None)[0], limit, seed)


def _marked(
    question: BenchmarkQuestion, supported: set[str] | None, stated: Mapping[str, GoldOperation]
) -> BenchmarkQuestion:
    """The question, with what other files tell of it: whether the graph has all its conditions, and its operation."""
    if supported is not None:
        question = msgspec.structs.replace(question, supported=question.id in supported)
    operation = stated.get(question.id)
    return msgspec.structs.replace(question, operation=operation) if operation else question


def _operations(definition: Definition, data: Path | None, settings: Settings | None) -> dict[str, GoldOperation]:
    """The operations that the definition's file states, by the ids of their questions."""
    if not definition.operations:
        return {}
    file = files.find(definition, definition.operations, data, settings)
    try:
        return msgspec.json.decode(file.read_bytes(), type=StatedOperations).operations
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DatasetError(f"{file}: no operations of questions: {error}") from error


def _each(definition: Definition, file: Path) -> Iterator[BenchmarkQuestion | Bad]:
    """The rows, in turn. A row without an id that can be read is said to stand behind the one before it."""
    seen: dict[str, int] = {}
    before = ""
    form = find(definition.loader)
    for row in form.rows(file):
        question = _read(form, definition, file, row)
        if question.id in seen:
            question = Bad(f"{file.name}, line {row.line}", question.id, f"the id of line {seen[question.id]} again")
        elif isinstance(question, Bad) and not question.id and before:
            question = msgspec.structs.replace(question, reason=f"{question.reason} (behind {before})")
        if question.id:
            before = question.id
            seen.setdefault(question.id, row.line)
        yield question


def _read(form: Format, definition: Definition, file: Path, row: Row) -> BenchmarkQuestion | Bad:
    if row.fault:
        return Bad(f"{file.name}, line {row.line}", row.id, row.fault)
    try:
        question = form.read(row.text, definition.kind)
    except MisfitError as error:
        return Bad(f"{file.name}, line {row.line_of(error.key)}", row.id or str(row.line), str(error))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Bad(f"{file.name}, line {row.line_of(_key(error))}", row.id, str(error))
    return question if question.id else msgspec.structs.replace(question, id=str(row.line))


def _key(error: Exception) -> str:
    """The key that msgspec names as the one that does not fit, as in `Expected ... - at `$.answer``."""
    return str(error).partition("`$.")[2].partition("`")[0].partition(".")[0].partition("[")[0]


def _check(file: Path, good: int, bad: int) -> None:
    if good > MOST_QUESTIONS:
        raise DatasetError(f"{file}: there are more than {MOST_QUESTIONS:,} questions")
    if bad > MOST_BAD:
        raise DatasetError(f"{file}: more than {MOST_BAD:,} rows are no questions", hint="is it the right file?")


def _ids(file: Path, only: Only) -> set[str]:
    """The ids that the file lists under these keys, with one of these values."""
    try:
        table = msgspec.json.decode(file.read_bytes())
        for key in only.keys:
            table = table[key]
        return {str(name) for name, value in table.items() if not only.values or value in only.values}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, LookupError, TypeError, AttributeError) as error:
        raise DatasetError(f"{file}: no ids under {'.'.join(only.keys)}: {error}") from error
