"""Many questions, one a line: asked several at a time, answered in the order in which they came."""

import asyncio
import codecs
import contextlib
import io
import logging
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import click
import msgspec

from fedkg.cli.connect import opened
from fedkg.cli.progress import ticking
from fedkg.cli.question_lines import AnswerLine, QuestionLine, answer_line, answer_lines, failure_line, parsed
from fedkg.cli.show import counted
from fedkg.common.in_order import in_order
from fedkg.common.line_file import LineFile, whole_lines
from fedkg.config.settings import Settings, public
from fedkg.core.answer import Status
from fedkg.engine.history import History
from fedkg.errors import DatasetError
from fedkg.session import Session

__all__ = ["all_answered"]

ENDINGS = ("answered", "without an answer", "failed", "answered before")

log = logging.getLogger(__name__)


class _Ended(NamedTuple):
    """How a question ended; `line` is empty where an earlier start has answered it."""

    line: bytes
    outcome: AnswerLine


def all_answered(settings: Settings, questions: str, out: Path | None, at_once: int, transcript: str | None) -> int:
    """Answers the questions of a file, or of standard input (-), into `out` or on standard output.

    Returns the highest of the exit codes that the questions would have alone: 0 where all are answered. Those that
    `out` has answers of are not asked again. Raises DatasetError where a file cannot be used.
    """
    with ExitStack() as files, ticking() as tick:
        source = files.enter_context(_source(questions))
        before, write = files.enter_context(_written(out, settings))
        run = _Run(before, write, tick, History(settings), strict=settings.strict)
        try:
            with opened(settings, transcript) as session:
                session.run(run.finish(session, source, at_once))
        except KeyboardInterrupt as stop:
            kept = f"the finished questions are in {out}; the same command asks the others"
            stop.add_note(kept if out else "without --out no finished question is kept")
            raise
    click.echo(run.summary, err=True)
    return run.code


class _Run:
    """The questions of one command.

    `before` are the answers of an earlier start, `write` gets each new line, `tick` how many there are of each ending,
    `history` the answers.
    """

    def __init__(
        self,
        before: Mapping[str, AnswerLine],
        write: Callable[[bytes], None],
        tick: Callable[[str], None],
        history: History,
        *,
        strict: bool,
    ) -> None:
        self.code = 0
        self._before = before
        self._write = write
        self._tick = tick
        self._history = history
        self._strict = strict
        self._names: set[str] = set()
        self._counts: Counter[str] = Counter()

    @property
    def summary(self) -> str:
        """How many questions ended how."""
        counts = [f"{self._counts[ending]} {ending}" for ending in ENDINGS if self._counts[ending]]
        return f"{counted(self._counts.total(), 'question')}: {', '.join(counts) or 'none'}"

    async def finish(self, session: Session, source: BinaryIO, at_once: int) -> None:
        """Asks until no line is left. Raises InputError and EndpointError where the session cannot be connected."""
        if session.method.graph:
            await session.graph()

        async def ended(numbered: tuple[int, bytes]) -> _Ended:
            return await self._ended(session, *numbered)

        async with contextlib.aclosing(_numbered(source)) as lines:
            await in_order(lines, ended, self._taken, at_once)

    async def _ended(self, session: Session, number: int, line: bytes) -> _Ended:
        """The answer of the line; a line that is no question has an error, as a question that fails."""
        try:
            asked = parsed(number, line)
        except DatasetError as error:  # the id that it will have, once it is mended
            return _new(failure_line(str(number), "", error))
        if str(asked.id) in self._names:
            return _new(failure_line(f"line {number}", "", _taken_id(asked)))
        self._names.add(str(asked.id))
        if known := self._known(asked):
            return _Ended(b"", known)
        try:
            answer = await session.ask(
                asked.question,
                asked.topics,
                kind=asked.kind,
                options=asked.options,
                method=asked.method,
                endpoints=asked.endpoints,
            )
        except Exception as error:  # noqa: BLE001  # a fault of ours is no answer too: the others go on
            return _new(failure_line(asked.id or "", asked.question, error))
        await asyncio.to_thread(self._history.add, answer, "questions")
        return _new(answer_line(asked, answer))

    def _known(self, asked: QuestionLine) -> AnswerLine | None:
        """The answer that an earlier start has left; None where there is none, or it failed.

        Raises DatasetError where it is that of another question.
        """
        known = self._before.get(str(asked.id))
        if known is None or not known.finished:
            return None
        if not known.answers(asked):
            hint = "name another file with --out"
            raise DatasetError(f"the answers there are those of other questions, as of {known.id!r}", hint=hint)
        return known

    async def _taken(self, ended: _Ended) -> None:
        """Writes and counts the answer; who is interrupted waits until it is written."""
        before = self._before.get(str(ended.outcome.id))
        if ended.line and not (before and _keeps(before, ended.outcome)):
            writing = asyncio.ensure_future(asyncio.to_thread(self._write, ended.line))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await writing
                raise
        self._counts[_ending(ended)] += 1
        self.code = max(self.code, ended.outcome.exit_code(strict=self._strict))
        self._tick(self.summary)


def _new(line: bytes) -> _Ended:
    return _Ended(line, msgspec.json.decode(line, type=AnswerLine))


def _taken_id(asked: QuestionLine) -> DatasetError:
    hint = "each question needs an id of its own, or none"
    return DatasetError(f"the id {str(asked.id)[:100]!r} stands on an earlier line, too", hint=hint)


def _keeps(before: AnswerLine, now: AnswerLine) -> bool:
    """Whether the line of an earlier start stays: an answer is not lost to an error, nor an error written twice."""
    if now.error is None:
        return False
    return before.finished or (before.question, before.error) == (now.question, now.error)


def _ending(ended: _Ended) -> str:
    outcome = ended.outcome
    if not ended.line:
        return "answered before"
    if outcome.error or outcome.status is Status.FAILED:
        return "failed"
    return "answered" if outcome.status is Status.ANSWERED else "without an answer"


@contextmanager
def _source(name: str) -> Generator[BinaryIO, None, None]:
    """The file of that name, or standard input. Raises DatasetError where it cannot be read."""
    if name == "-":
        yield _standard_input()
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115  # only opening it is tried
    except OSError as error:
        raise DatasetError(f"{name}: {error.strerror}", hint="--questions takes a file of JSON Lines, or -") from error
    with stream:
        yield stream


def _standard_input() -> BinaryIO:
    """Standard input by another descriptor: the thread that waits there does not hold up the end of the program."""
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except (OSError, io.UnsupportedOperation):  # a program that calls this one has put a text there
        return sys.stdin.buffer


async def _numbered(source: BinaryIO) -> AsyncGenerator[tuple[int, bytes], None]:
    """The lines that are not empty, with their numbers from 1, each as soon as it is there. Raises DatasetError."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[tuple[int, bytes] | OSError | None] = asyncio.Queue(1)

    def put(item: tuple[int, bytes] | OSError | None) -> None:
        asyncio.run_coroutine_threadsafe(lines.put(item), loop).result()

    def read() -> None:
        with contextlib.suppress(RuntimeError, CancelledError):  # the questions have ended first
            try:
                for number, line in enumerate(source, 1):
                    # editors of Windows begin a file of UTF-8 with a mark
                    line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line  # noqa: PLW2901
                    if line.strip():
                        put((number, line))
                put(None)
            except OSError as error:
                put(error)

    threading.Thread(target=read, daemon=True).start()
    while item := await lines.get():
        if isinstance(item, OSError):
            hint = "--questions takes a file of JSON Lines, or -"
            raise DatasetError(f"the questions cannot be read: {item.strerror}", hint=hint) from item
        yield item


@contextmanager
def _written(
    out: Path | None, settings: Settings
) -> Generator[tuple[Mapping[str, AnswerLine], Callable[[bytes], None]], None, None]:
    """The answers that an earlier start has left in the file, and what takes those of this one.

    Raises DatasetError where the file is none of answers, or cannot be written.
    """
    if out is None:
        yield {}, _printed
        return
    try:
        lines = LineFile(out)
    except BlockingIOError as error:
        hint = "wait until it has ended, or name another file with --out"
        raise DatasetError(f"another command is writing {out}", hint=hint) from error
    except OSError as error:
        raise _unwritable(out, error) from error

    def write(line: bytes) -> None:
        try:
            lines.append(line)
        except OSError as error:
            raise _unwritable(out, error) from error

    with contextlib.closing(lines):
        try:
            before = answer_lines(whole_lines(out.read_bytes()), str(out))
            lines.mend()
        except OSError as error:
            raise _unwritable(out, error) from error
        _warn_of_others(out, before, settings)
        yield before, write


def _printed(line: bytes) -> None:
    click.echo(line, nl=False)
    sys.stdout.flush()


def _warn_of_others(out: Path, before: Mapping[str, AnswerLine], settings: Settings) -> None:
    """Answers of a file that were asked for in different ways can hardly be compared."""
    now = public(settings)
    settings_before = [line.settings for line in before.values() if line.settings]
    earlier = next(iter(settings_before), now)
    keys = [key for key in now if key in earlier and earlier[key] != now[key] and key not in {"endpoints", "run"}]
    # a question may have had endpoints of its own: the digest of its line has these
    if settings_before and all(shown.get("endpoints") != now["endpoints"] for shown in settings_before):
        keys.append("endpoints")
    if keys:
        log.warning("%s has answers that were found with other settings (%s)", out, ", ".join(keys))


def _unwritable(out: Path, error: OSError) -> DatasetError:
    hint = "--out names a file that can be written; what was answered is kept, and the same command goes on"
    return DatasetError(f"cannot write {out}: {error.strerror}", hint=hint)
