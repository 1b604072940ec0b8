"""What was made of files, once per process, for as long as the files stay as they are."""

import os
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from fedkg.common.bounded import BoundedDict

__all__ = ["FileCache"]

MOST = 512

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
State = tuple[object, ...]


class FileCache(Generic[K, V]):
    """Values by key, each made anew when the time or the size of one of its files has changed.

    A folder among them stands for the files that lie in it, not below.

    The values are shared by all threads of the process, so they may not be changed.
    """

    def __init__(self) -> None:
        self._values: BoundedDict[K, tuple[State, V]] = BoundedDict(MOST)

    def get(self, key: K, files: Iterable[Path], make: Callable[[], V]) -> V:
        """The value of that key, which `make` makes of these files; where it raises nothing is kept."""
        state = tuple(map(_state, files))
        kept = self._values.get(key)
        if kept is None or kept[0] != state:
            kept = (state, make())
            self._values[key] = kept
        return kept[1]


def _state(path: Path) -> State:
    """What tells the versions of a file apart, or of what lies in a folder; of a path that leads nowhere, its place."""
    place = os.path.abspath(path)  # noqa: PTH100  # ten times as fast as Path.absolute
    try:
        if not path.is_dir():
            return place, _version(path.stat())
        with os.scandir(place) as entries:
            return place, *sorted((entry.name, *_version(entry.stat())) for entry in entries)
    except OSError:
        return (place,)


def _version(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_mtime_ns, stat.st_size
