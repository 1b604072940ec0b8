"""The last answers of the command line, in a file of the user's own beside the cache: `fedkg log` shows them.

JSON Lines, the newest last, at most 16 MB; several processes may add at the same time. Keys, passwords and the contact
address do not enter it. What cannot be written is left out, and no question fails for it.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from fedkg.cache.folders import claim, read_bounded
from fedkg.common.line_file import LineFile, whole_lines
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, decode_answer
from fedkg.core.encoding import encode, to_builtins
from fedkg.engine.redaction import Redaction
from fedkg.errors import CacheError, DocumentError

__all__ = ["MOST_BYTES", "History", "HistoryEntry"]

MOST_BYTES = 16 << 20
"""Of the file; beyond it the older half goes."""
LARGEST = MOST_BYTES // 4
"""Bytes of a document; a larger one is left out."""
FOLDER, FILE = "history", "answers.jsonl"
HINT = "set FEDKG_HISTORY=off, or history = false in the settings, to keep none"

log = logging.getLogger(__name__)


class HistoryEntry(msgspec.Struct, frozen=True):
    """An answer, when it was given (UTC), and by which command: `ask`, `questions` or `chat`."""

    at: str
    command: str
    answer: Answer


class _Line(msgspec.Struct, frozen=True):
    at: str
    command: str
    answer: msgspec.Raw


class History:
    """The answers that commands of these settings have given; nothing is kept where the settings switch it off."""

    def __init__(self, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
        self.kept = settings.history and settings.cache
        self.file = settings.cache_path / FOLDER / FILE
        self._redaction = Redaction(settings, environ)

    def add(self, answer: Answer, command: str) -> None:
        """Keeps the answer; what is in the way of that is logged."""
        if not self.kept:
            return
        at = datetime.now(UTC).isoformat(timespec="seconds")
        line = encode({"at": at, "command": command, "answer": self._redaction.applied(to_builtins(answer))}) + b"\n"
        if len(line) > LARGEST:
            log.info("an answer of %d bytes is too large for %s", len(line), self.file)
            return
        try:
            claim(self.file.parent)
            self._append(line)
        except OSError as error:
            log.warning("the answer is not kept for `fedkg log`: %s; %s", error, HINT)

    def entries(self) -> list[HistoryEntry]:
        """What is kept, the newest first; lines that are none of ours are left out. Raises CacheError."""
        return [*self._entries()]

    def clear(self) -> int:
        """Removes all; returns how many there were. Raises CacheError."""
        count = len(whole_lines(self._data()).splitlines())
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(self.file, error) from error
        return count

    def _append(self, line: bytes) -> None:
        """Raises OSError."""
        with closing(LineFile(self.file, wait=True, private=True)) as lines:
            if lines.size() + len(line) > MOST_BYTES:
                _replace(self.file, _newer(self.file.read_bytes()) + line)
            else:
                lines.append(b"\n" * lines.is_torn() + line)

    def _entries(self) -> Iterator[HistoryEntry]:
        for line in reversed(whole_lines(self._data()).splitlines()):
            try:
                read = msgspec.json.decode(line, type=_Line)
                yield HistoryEntry(read.at, read.command, decode_answer(bytes(read.answer)))
            except (msgspec.MsgspecError, UnicodeDecodeError, DocumentError) as error:
                log.info("%s: %s", self.file, error)

    def _data(self) -> bytes:
        """Raises CacheError."""
        try:
            return read_bounded(self.file, 2 * MOST_BYTES)
        except FileNotFoundError:
            return b""
        except (OSError, ValueError) as error:
            raise _unusable(self.file, error) from error


def _newer(data: bytes) -> bytes:
    """The newest whole lines that take half of the room."""
    half = whole_lines(data)[-MOST_BYTES // 2 :]
    return half[half.find(b"\n") + 1 :]


def _replace(file: Path, data: bytes) -> None:
    """Puts another file in the place of this one at once. Raises OSError."""
    draft = file.with_suffix(f".{os.getpid()}.part")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(data)
    draft.replace(file)


def _unusable(file: Path, error: Exception) -> CacheError:
    return CacheError(f"the answers in {file} cannot be read or removed: {error}", hint="remove that file")
