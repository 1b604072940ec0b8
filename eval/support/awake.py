"""The machine's cores kept awake by work that gives way to all other.

A virtual core that has slept may take milliseconds until it computes, and where several requests come together after a
wait, they are then worked on one after another by the one core that is awake. A server that is asked by others, too,
does not sleep.
"""

import contextlib
import multiprocessing
import os
from collections.abc import Iterator

__all__ = ["awake"]

SPAWN = multiprocessing.get_context("spawn")


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """Keeps each core busy at the lowest priority there is, below that of any process that was told to be nice."""
    spinners = [SPAWN.Process(target=_spin, daemon=True) for _ in range(os.cpu_count() or 1)]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.terminate()
            spinner.join()


def _spin() -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while True:
        pass
