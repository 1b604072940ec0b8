"""Answers that a server keeps, each at an address that cannot be guessed."""

import contextlib
import os
import re
import secrets
from pathlib import Path

from fedkg.cache.folders import claim, read_bounded
from fedkg.core.answer import Answer, decode_answer
from fedkg.errors import CacheError, DocumentError

__all__ = ["AnswerShelf"]

NAME = re.compile(r"[A-Za-z0-9_-]{22}")
KEPT = re.compile(rf"{NAME.pattern}\.json")
"""The files that are answers of ours: what else lies in the folder is let be."""
BYTES = 16
"""Random bytes of a name: who has it may read the answer."""
MOST_BYTES = 64 << 20
HINT = "name a folder that can be written and belongs to you with --keep"


class AnswerShelf:
    """The latest `most` answers in a folder, a JSON document each.

    Raises CacheError where the folder cannot be used.
    """

    def __init__(self, folder: Path, most: int = 10_000) -> None:
        self._folder = folder
        self._most = most
        try:
            claim(folder)
        except OSError as error:
            raise CacheError(f"{folder}: {error.strerror}", hint=HINT) from error

    def put(self, answer: Answer) -> str:
        """Keeps the answer; returns its name. Raises CacheError."""
        name = secrets.token_urlsafe(BYTES)
        part = self._folder / f"{name}.part"
        try:
            part.write_bytes(answer.to_json())
            part.replace(self._file(name))
            self._make_room()
        except OSError as error:
            with contextlib.suppress(OSError):  # a full disk has room for no rest of it
                part.unlink(missing_ok=True)
            raise CacheError(f"the answer cannot be kept: {error.strerror}", hint=HINT) from error
        return name

    def get(self, name: str) -> Answer | None:
        """The answer of that name; None where there is none, or a file that is none."""
        if not NAME.fullmatch(name):
            return None
        try:
            return decode_answer(read_bounded(self._file(name), MOST_BYTES))
        except (OSError, ValueError, DocumentError):
            return None

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _make_room(self) -> None:
        """Removes the oldest answers beyond the most."""
        with os.scandir(self._folder) as entries:
            paths = [entry.path for entry in entries if KEPT.fullmatch(entry.name)]
        for path in sorted(paths, key=_age)[: max(0, len(paths) - self._most)]:
            Path(path).unlink(missing_ok=True)


def _age(path: str) -> int:
    """When the file was written; what others have removed meanwhile counts as the oldest."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
