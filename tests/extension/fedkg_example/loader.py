"""A loader of question files: `question,answer`, one a line."""

import csv
from collections.abc import Iterator
from pathlib import Path

from fedkg.bench.data.formats import Format, MisfitError, checked_question
from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.bench.data.rows import Row
from fedkg.core.question import Kind


def rows(file: Path) -> Iterator[Row]:
    """The lines of the file, each with its number."""
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        yield Row(number, line)


def read(text: bytes, kind: Kind | None) -> BenchmarkQuestion:
    """The question of one line, which is called by its number. Raises MisfitError for a line that is none."""
    match next(csv.reader([text.decode()])):
        case [question, answer]:
            return checked_question("", question, [Gold(answer)], kind=kind)
    raise MisfitError("expected a question and its answer")


FORMAT = Format(rows, read)
