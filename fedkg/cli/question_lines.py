"""Questions and their answers as JSON Lines: what a line asks, and what a line of answers tells of its question."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from fedkg.cli.answer import outcome_code
from fedkg.common.plain_text import plain
from fedkg.core.answer import Answer, Status
from fedkg.core.caveat import Caveat
from fedkg.core.encoding import encode
from fedkg.core.question import Kind
from fedkg.core.usage import Usage
from fedkg.errors import DatasetError, FedkgError

__all__ = ["AnswerLine", "QuestionFailure", "QuestionLine", "answer_line", "answer_lines", "failure_line", "parsed"]

FORM = 'a line is {"question": …}, with "id", "topics", "kind", "options", "method" and "endpoints" as they are needed'


class QuestionLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line that asks: the arguments of `Session.ask`, and an `id`; without one it is the line's number."""

    question: str
    id: str | int | None = None
    topics: str | tuple[str, ...] = ()
    kind: Kind | None = None
    options: tuple[str, ...] = ()
    method: str = ""
    endpoints: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that stand for all but the question and its id: topics, kind, options and so on."""
        topics = (self.topics,) if isinstance(self.topics, str) else self.topics
        rest = msgspec.structs.replace(self, id=None, question="", topics=topics)
        return hashlib.sha256(encode(rest)).hexdigest()[:16]


class QuestionFailure(msgspec.Struct, frozen=True):
    """Why a question has no document: the class of the error, its sentence, what was asked, and what helps.

    `retryable`: the same question may be answered later. `exit_code` is that of `fedkg ask` for the question alone.
    """

    kind: str
    message: str
    asked: str = ""
    hint: str = ""
    retryable: bool = False
    exit_code: int = 3


class AnswerLine(msgspec.Struct, frozen=True):
    """What a line of answers tells of its question: how it ended, in a document or in an error.

    `digest` is that of the line that asked; older files have none.
    """

    id: str | int
    question: str = ""
    digest: str = ""
    status: Status | None = None
    usage: Usage = Usage()
    caveats: tuple[Caveat, ...] = ()
    settings: dict[str, Any] = {}
    error: QuestionFailure | None = None

    @property
    def finished(self) -> bool:
        """Whether the question need not be asked again: nothing failed, and no budget of the whole run ended it."""
        failed = self.error is not None or self.status in {None, Status.FAILED}
        return not failed and not self.usage.spent.startswith("run ")

    def answers(self, asked: QuestionLine) -> bool:
        """Whether that was asked: the same words, however they are spaced, with the same topics, kind and so on."""
        return self.question.split() == asked.question.split() and self.digest in {"", asked.digest}

    def exit_code(self, *, strict: bool = False) -> int:
        """The exit code that `fedkg ask` has for the question alone."""
        if self.error or self.status is None:
            return self.error.exit_code if self.error else 3
        return outcome_code(self.status, self.usage.spent, caveats=bool(self.caveats), strict=strict)


def parsed(number: int, line: bytes) -> QuestionLine:
    """The question of the line with that number, from 1, with its id. Raises DatasetError where it is none."""
    try:
        asked = msgspec.json.decode(line, type=QuestionLine)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DatasetError(f"line {number} is no question: {plain(str(error), 300)}", hint=FORM) from error
    return asked if asked.id is not None else msgspec.structs.replace(asked, id=str(number))


def answer_line(asked: QuestionLine, answer: Answer) -> bytes:
    """The answer document with the question's id and digest, as one line."""
    return b'{"id":%b,"digest":"%b",%b\n' % (encode(asked.id), asked.digest.encode(), answer.to_json()[1:])


def failure_line(name: str | int, question: str, error: Exception) -> bytes:
    """The error that a question ended with, as one line."""
    return encode({"id": name, "question": question, "error": _failure(error)}) + b"\n"


def answer_lines(data: bytes, file: str) -> Mapping[str, AnswerLine]:
    """The last line of each question in a file of answers, by its id as a text. Raises DatasetError for another."""
    return {str(line.id): line for line in _decoded(data, file)}


def _decoded(data: bytes, file: str) -> Iterator[AnswerLine]:
    for number, line in enumerate(data.splitlines(), 1):
        try:
            yield msgspec.json.decode(line, type=AnswerLine)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            hint = "name another file with --out: nothing is written over"
            raise DatasetError(f"{file}, line {number}, is no answer: {plain(str(error), 300)}", hint=hint) from error


def _failure(error: Exception) -> QuestionFailure:
    if isinstance(error, FedkgError):
        facts = (error.asked, error.hint, error.retryable, error.exit_code)
        return QuestionFailure(type(error).__name__, plain(error.message, 2_000), *facts)
    return QuestionFailure(type(error).__name__, plain(str(error), 2_000))
