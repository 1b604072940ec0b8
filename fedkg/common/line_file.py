"""Files of lines that are appended to, so that whatever kills the program takes at most the line in hand along.

While one process has such a file open no other one does, where the system has locks for that.
"""

import errno
import logging
import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

__all__ = ["LineFile", "whole_lines"]

log = logging.getLogger(__name__)


class LineFile:
    """A file to append lines to, made where it is missing, and this process's alone until it is closed.

    With `wait` another process is waited for; without it there is a BlockingIOError where one has the file. `private`
    files are made with mode 0600 and behind no link. Raises OSError, also for what is no
    regular file, such as a device.
    """

    def __init__(self, path: Path, *, wait: bool = False, private: bool = False) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            self._stream, self._made = _opened(path, private=private)
            try:
                _lock(self._stream, wait=wait)
                if self._there():
                    return
            except BaseException:
                self._stream.close()
                raise
            self._stream.close()
            if not wait:
                raise BlockingIOError(errno.EWOULDBLOCK, "another process has just removed it", str(path))

    def append(self, data: bytes) -> None:
        """Writes the data, one or more whole lines, and syncs them to the disk. Raises OSError."""
        while data:
            data = data[self._stream.write(data) :]
        os.fsync(self._stream.fileno())

    def mend(self) -> bytes:
        """Cuts off a last line that is not whole; returns all that is left. Raises OSError."""
        lines = whole_lines(self.path.read_bytes())
        self._stream.truncate(len(lines))
        return lines

    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self._stream.fileno()).st_size

    def is_torn(self) -> bool:
        """Whether the last line is not whole. Raises OSError."""
        if not self.size():
            return False
        with self.path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) != b"\n"

    def clear(self) -> None:
        """Cuts off everything. Raises OSError."""
        self._stream.truncate(0)

    def close(self) -> None:
        """Gives the file back; one that was made here and stayed empty goes, while no other process can write it."""
        with suppress(OSError):  # an empty file is no harm
            if self._made and not self.size() and self._there():
                self.path.unlink()
        self._stream.close()

    def _there(self) -> bool:
        """Whether the file still stands in its place: who had the lock before may have removed it."""
        return self.path.exists() and os.path.samestat(self.path.stat(), os.fstat(self._stream.fileno()))


def whole_lines(data: bytes) -> bytes:
    """The lines that have an end."""
    return data[: data.rfind(b"\n") + 1]


def _opened(path: Path, *, private: bool) -> tuple[FileIO, bool]:
    """The file, and whether it was made by this. A device is not even opened: that may do something already."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (getattr(os, "O_NOFOLLOW", 0) if private else 0)
    mode = 0o600 if private else 0o666
    try:
        return FileIO(os.open(path, flags | os.O_EXCL, mode), "ab"), True
    except FileExistsError:
        return FileIO(os.open(path, flags, mode), "ab"), False


def _lock(stream: FileIO, *, wait: bool) -> None:
    """Raises BlockingIOError where another process holds the lock and is not waited for.

    It is given back when the file is closed, or the process killed.
    """
    try:
        import fcntl  # noqa: PLC0415  # Windows has none
    except ImportError:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError as error:  # a network's file system may have no locks
        log.debug("%s", error)
