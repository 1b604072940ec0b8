"""What the servers that this process has started take of the processor, as Linux tells it."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

__all__ = ["processor_seconds"]

NAME = 15
"""Characters of a process's name that the system keeps."""
USER, SYSTEM = 11, 12
"""The fields of /proc/PID/stat behind the name, which may hold spaces."""


def processor_seconds(*programs: str) -> float:
    """Seconds so far of our children, and theirs, that run one of the programs; 0.0 where the system does not tell."""
    names = {program[:NAME] for program in programs}
    ticks = 0
    for place in _children(Path("/proc/self")):
        name, _, fields = _text(place / "stat").partition("(")[2].rpartition(")")
        if name in names:
            ticks += int(fields.split()[USER]) + int(fields.split()[SYSTEM])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children(parent: Path) -> Iterator[Path]:
    for listed in parent.glob("task/*/children"):
        for child in (Path("/proc", number) for number in _text(listed).split()):
            yield child
            yield from _children(child)  # Comunica's server has a worker


def _text(file: Path) -> str:
    """What the system says there; "" where the thread or process has ended meanwhile."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return file.read_text()
    return ""
