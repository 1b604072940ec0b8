"""Loading models of transformers from this machine: the hub is not asked, and nothing is printed."""

import contextlib
from collections.abc import Iterator
from typing import Any

__all__ = ["offline", "quiet"]


@contextlib.contextmanager
def offline() -> Iterator[None]:
    """Keeps the hub's own library from asking the hub for anything, which it does for local files, too."""
    from huggingface_hub import constants as module  # noqa: PLC0415  # comes with transformers

    constants: Any = module  # they are declared to be final
    was, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = was


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no notes on standard error while a model loads; as it was before, afterwards."""
    from transformers.utils import logging as module  # noqa: PLC0415  # optional, and slow to import

    logging: Any = module  # has no types
    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
