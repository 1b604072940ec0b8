"""Many runs over the processes of this machine."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

__all__ = ["in_processes"]

T = TypeVar("T")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Of the embedder: the processes take all cores."""


def in_processes(work: Callable[[str], T], names: Sequence[str], processes: int) -> list[T]:
    """What `work` makes of each name, in their order; each process takes the next name when it is done with one.

    With one process all is done in this one. `work` has to be known by its name in a module, so that it can be sent.
    """
    os.environ.update(ONE_THREAD)
    if processes == 1:
        return list(map(work, names))
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return list(pool.map(work, names))
