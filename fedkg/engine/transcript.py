"""The transcript of a session: what its model was asked, what it replied, and what each reply was taken for.

A file of JSON Lines: a header, then one line for each call as soon as it has ended. A file that is there already is
gone on with, under a header of its own. Keys, passwords and the contact address do not enter it.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from fedkg.common.one_line import line
from fedkg.config.settings import Settings, public
from fedkg.core.encoding import to_builtins
from fedkg.engine.redaction import Redaction
from fedkg.errors import DocumentError, SettingsError
from fedkg.llm.base import Completion, Message
from fedkg.llm.exchange import Attempt, CallObserver, Exchange

__all__ = [
    "SCHEMA",
    "Transcript",
    "TranscriptAttempt",
    "TranscriptCall",
    "TranscriptEntry",
    "TranscriptFile",
    "TranscriptHeader",
    "TranscriptSink",
    "dump",
    "opened",
    "read",
]

SCHEMA = 1
LONGEST_ERROR = 2_000
LOCAL = "the model `local` decides by itself: no model is asked, so no calls follow"

log = logging.getLogger(__name__)


class TranscriptHeader(msgspec.Struct, frozen=True, tag_field="line", tag="header"):
    """The first line: `schema` of the file, `version` of fedkg, when it was `started` (UTC), and `settings`."""

    schema: int
    version: str
    started: str
    settings: dict[str, Any]
    note: str = ""


class TranscriptAttempt(msgspec.Struct, frozen=True):
    """One request of a call, with all its messages, and the reply as it came; None where none came.

    `error` says what came instead, or why the reply could not be used. Tokens are as the service counts them; `seconds`
    is wall-clock time; `replayed`: the reply was kept from an earlier time. `request_digest` and `reply_digest` are
    SHA-256 over the request and over the reply's text: equal ones are equal to the byte, before anything was masked.
    """

    messages: tuple[Message, ...]
    reply: str | None = None
    error: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    reasoning: int = 0
    retries: int = 0
    seconds: float = 0.0
    replayed: bool = False
    request_digest: str = ""
    reply_digest: str = ""


class TranscriptCall(msgspec.Struct, frozen=True, tag_field="line", tag="call"):
    """One call of a model: the `question` that it was made for, its attempts, and what they came to.

    `template` is version and digest of the prompt, `schema` that of the reply; `sample` and `alternatives` as in a
    Request; `constraint` is how many paths the model's tokens were held to, 0 for none. `result` is what the reply was
    taken for, `error` what the call ended with instead: the method then goes on without it, or the question ends.
    """

    question: str
    call: str
    model: str
    template: str = ""
    schema: dict[str, Any] = {}
    sample: int = 0
    alternatives: int = 0
    constraint: int = 0
    attempts: tuple[TranscriptAttempt, ...] = ()
    result: Any = None
    error: str = ""


TranscriptEntry = TranscriptHeader | TranscriptCall
E = TypeVar("E", TranscriptHeader, TranscriptCall)


class TranscriptSink(Protocol):
    """Takes a transcript, line by line: a header first, then the calls as they end."""

    def write(self, entry: TranscriptEntry) -> None:
        """Takes one line. What it raises ends the transcript, and no question."""
        ...


class TranscriptFile:
    """A sink that is a file; each line is written at once. Raises SettingsError for one that is not ours."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._stream = self.path.open("ab", buffering=0)
            self._resume()
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def write(self, entry: TranscriptEntry) -> None:
        """Writes the line. Raises OSError."""
        data = dump(entry) + b"\n"
        while data:
            data = data[self._stream.write(data) :]

    def close(self) -> None:
        """Closes the file."""
        self._stream.close()

    def _resume(self) -> None:
        """Cuts off a last line that a crash has torn. Raises SettingsError where the file is no transcript."""
        if not self.path.is_file() or not (data := self.path.read_bytes()):
            return  # a pipe, or a new file
        try:
            _header(str(self.path), data.partition(b"\n")[0])
        except DocumentError as error:
            self._stream.close()
            hint = "name another file: nothing is written over"
            raise SettingsError(f"{self.path} exists, and is no transcript", hint=hint) from error
        self._stream.truncate(data.rfind(b"\n") + 1)


class Transcript:
    """What a session's questions tell a sink. It ends with the first line that cannot be written; the questions go on.

    `names` are those of models that were brought along, whose URLs may hold a password too.
    """

    def __init__(
        self,
        sink: TranscriptSink | None,
        settings: Settings,
        names: Sequence[str] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._sink = sink
        self._redaction = Redaction(settings, environ, names)
        if sink is not None:
            sink.write(self._header(settings))

    def observer(self, question: str) -> CallObserver:
        """What the model's calls for that question are handed to."""
        return partial(self._write, question)

    def close(self) -> None:
        """Closes a file; another sink is its owner's to close. Nothing is written any more."""
        if isinstance(self._sink, TranscriptFile):
            self._sink.close()
        self._sink = None

    def _write(self, question: str, exchange: Exchange) -> None:
        if self._sink is None:
            return
        try:
            self._sink.write(self._redacted(_call(question, exchange), TranscriptCall))
        except Exception as error:  # noqa: BLE001  # a sink of somebody else's may raise anything
            log.warning("the transcript ends here: %s", line(_described(error), 300))
            self.close()

    def _header(self, settings: Settings) -> TranscriptHeader:
        from importlib.metadata import version  # noqa: PLC0415  # most sessions write none

        started = datetime.now(UTC).isoformat(timespec="seconds")
        note = LOCAL if settings.local else ""
        header = TranscriptHeader(SCHEMA, version("fedkg"), started, public(settings), note)
        return self._redacted(header, TranscriptHeader)

    def _redacted(self, entry: E, kind: type[E]) -> E:
        return msgspec.convert(self._redaction.applied(msgspec.to_builtins(entry)), kind)


def opened(target: str | Path | TranscriptSink | None, settings: Settings, names: Sequence[str] = ()) -> Transcript:
    """The transcript that goes to a file, or to a sink of the caller's; without a target nothing is written.

    Raises SettingsError where the file cannot be written.
    """
    if not isinstance(target, str | Path):
        return Transcript(target, settings, names)
    file = TranscriptFile(target)
    try:
        return Transcript(file, settings, names)
    except OSError as error:
        file.close()
        raise _unwritable(file.path, error) from error


def read(file: str, data: bytes) -> Iterator[TranscriptEntry]:
    """The entries of a transcript, which is called `file`, one by one.

    Raises DocumentError, which names the line, at the first that is none; those before it are yielded.
    """
    first, *rest = data.removesuffix(b"\n").split(b"\n")
    yield _header(file, first)
    for number, text in enumerate(rest, 2):
        yield _entry(file, number, text)


def dump(record: object) -> bytes:
    """Any record as JSON on one line, also one with text that is no Unicode."""
    builtins = msgspec.to_builtins(record)
    try:
        return json.dumps(builtins, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a pair of surrogates, which some models write
        return json.dumps(builtins).encode()


def _call(question: str, exchange: Exchange) -> TranscriptCall:
    requests = [attempt.request for attempt in exchange.attempts]
    call = TranscriptCall(
        question,
        exchange.call,
        exchange.model.name,
        attempts=tuple(map(_attempt, exchange.attempts)),
        result=_plain(exchange.result),
        error=_described(exchange.error),
    )
    if not requests:
        return call
    first = requests[0]
    return msgspec.structs.replace(
        call,
        template=first.template,
        schema=first.schema,
        sample=first.sample,
        alternatives=first.alternatives,
        constraint=len(first.constraint.texts) if first.constraint else 0,
    )


def _attempt(attempt: Attempt) -> TranscriptAttempt:
    request, reply = attempt.request, attempt.reply
    counted = reply.counted(request) if reply else Completion("")
    return TranscriptAttempt(
        messages=request.messages,
        reply=reply.text if reply else None,
        error=_described(attempt.error),
        tokens_in=counted.tokens_in,
        tokens_out=counted.tokens_out,
        cached=counted.cached,
        reasoning=counted.reasoning,
        retries=counted.retries,
        seconds=round(attempt.seconds, 3),
        replayed=counted.replayed,
        request_digest=_digest(request),
        reply_digest=_digest(reply.text) if reply else "",
    )


def _digest(record: object) -> str:
    return sha256(dump(record)).hexdigest()


def _plain(result: object) -> Any:
    """The result as JSON has it; what is none by its text, so that a method's own kind of result ends no question."""
    try:
        return to_builtins(result)
    except TypeError:
        return line(result, 1_000)


def _described(error: BaseException | None) -> str:
    """The class of an error with what it says."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")[:LONGEST_ERROR] if error else ""


def _unwritable(path: Path, error: OSError) -> SettingsError:
    reason = error.strerror or type(error).__name__
    return SettingsError(f"the transcript {path} cannot be written: {reason}", hint="name another file")


def _header(file: str, data: bytes) -> TranscriptHeader:
    entry = _entry(file, 1, data)
    if not isinstance(entry, TranscriptHeader):
        raise _foreign(file, 1, "the header is missing")
    return entry


def _entry(file: str, number: int, data: bytes) -> TranscriptEntry:
    try:
        # not msgspec alone: it reads no half pairs of surrogates
        entry: TranscriptEntry = msgspec.convert(json.loads(data), TranscriptEntry)
    except (ValueError, RecursionError) as error:
        raise _foreign(file, number, line(error, 300)) from error
    if isinstance(entry, TranscriptHeader) and entry.schema != SCHEMA:
        raise _foreign(file, number, f"schema {entry.schema} is not known (this is {SCHEMA})")
    return entry


def _foreign(file: str, number: int, reason: str) -> DocumentError:
    hint = "`fedkg ask … --transcript FILE` writes a transcript"
    return DocumentError(f"{file}, line {number}, is no line of a transcript: {reason}", hint=hint)
