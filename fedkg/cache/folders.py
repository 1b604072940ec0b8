"""The cache's own folders and files, which may have come from anywhere: a stranger's archive, a shared machine.

Nothing is followed out of them: a link stands for nothing of ours, and what is no regular file is not opened.
"""

import errno
import os
import stat
from pathlib import Path

__all__ = ["claim", "is_plain", "read_bounded"]

PRIVATE = 0o700


def claim(folder: Path) -> None:
    """Makes the folder where it is missing, and closes it to others.

    Raises OSError where it is a link, a file, or another user's: a mode is changed only of what is the user's own.
    """
    if not os.path.lexists(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
    state = folder.lstat()
    if not stat.S_ISDIR(state.st_mode):
        kind = "a link" if stat.S_ISLNK(state.st_mode) else "a file"
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is {kind}, and no folder of its own")
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, f"{folder} belongs to another user")
    if stat.S_IMODE(state.st_mode) != PRIVATE:
        folder.chmod(PRIVATE)


def is_plain(file: Path) -> bool:
    """Whether this is a regular file: no link, folder, pipe or device."""
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except OSError:
        return False


def read_bounded(file: Path, most: int) -> bytes:
    """What the file holds. Raises OSError where it is no regular file or cannot be read, ValueError beyond `most`."""
    if not is_plain(file):
        raise FileNotFoundError(errno.ENOENT, "there is no regular file", str(file))
    with file.open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{file} has more than {most:,} bytes")
    return data
