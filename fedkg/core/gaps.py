"""What is missing besides edges: labels, tables. Noted where it happens, for the question that is being answered.

An edge that is missing stands in its neighbourhood. A label that is missing changes what ranks first, unseen by the
reader. The notes belong to the running task and the tasks that it starts, so they need not be handed through every
call.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from fedkg.core.usage import Gap

__all__ = ["miss", "noted"]

_notes: ContextVar[dict[Gap, None] | None] = ContextVar("missing", default=None)


def miss(gap: Gap) -> None:
    """Notes the gap, once; nowhere where no question is being answered."""
    notes = _notes.get()
    if notes is not None:
        notes[gap] = None


@contextlib.contextmanager
def noted(notes: dict[Gap, None]) -> Iterator[None]:
    """Puts what is missed inside here into `notes`, in the order in which it happens."""
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)
