"""How far a walk is: its depth, its requests and the candidates at hand, and a display of that in a notebook."""

import html
from typing import TYPE_CHECKING

from fedkg.common.plain_text import plain
from fedkg.core.events import Answered, Chosen, Event, Fetched, Proposed, Ranked, Scored
from fedkg.core.rendering import counted

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

__all__ = ["SHOWN", "NotebookProgress", "WalkState"]

SHOWN = 5
"""Candidates that are shown."""


class WalkState:
    """What is known of a walk by its events so far."""

    def __init__(self) -> None:
        self.depth = 0
        self.requests = 0
        self.best: tuple[str, ...] = ()

    def take(self, event: Event) -> None:
        """Takes the next event."""
        match event:
            case Fetched(depth, _, _, _, usage):
                self.depth, self.requests = depth, usage.requests
            case Ranked(_, _, lines) | Proposed(lines) | Scored(_, _, lines) | Chosen(_, lines) if lines:
                self.best = lines

    @property
    def headline(self) -> str:
        """Depth and requests in words."""
        return f"depth {self.depth}, {counted(self.requests, 'request')}" if self.depth else "linking"


class NotebookProgress:
    """Shows a walk below a notebook's cell while it happens: `session.ask(question, on_event=NotebookProgress())`.

    The display vanishes with the answer. One serves one question after the other; outside of a notebook nothing is
    shown.
    """

    def __init__(self) -> None:
        self._state = WalkState()
        self._display: DisplayHandle | None = None

    def __call__(self, event: Event) -> None:
        """Takes the next event."""
        self._state.take(event)
        self._show("" if isinstance(event, Answered) else self.html())
        if isinstance(event, Answered):
            self._state, self._display = WalkState(), None

    def html(self) -> str:
        """What is shown now."""
        lines = "".join(f"<div>{html.escape(plain(line, 300))}</div>" for line in self._state.best[:SHOWN])
        return f"<div><b>{html.escape(self._state.headline)} …</b><div>{lines}</div></div>"

    def _show(self, page: str) -> None:
        try:
            from IPython.core.getipython import get_ipython  # noqa: PLC0415  # a notebook has it
            from IPython.display import HTML, display  # noqa: PLC0415  # the same
        except ImportError:
            return
        if get_ipython() is None:
            return
        if self._display is None:
            self._display = display(HTML(page), display_id=True)
        else:
            self._display.update(HTML(page))
