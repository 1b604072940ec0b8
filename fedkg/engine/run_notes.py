"""What a run has to say beside its answer: events for who watches, warnings and caveats for the document."""

import logging

from fedkg.common.one_line import line
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.events import Event, Warned

__all__ = ["RunNotes"]

log = logging.getLogger(__name__)


class RunNotes:
    """The events of a run that were not taken yet, and all its warnings and caveats.

    They belong to no step of the run, so that a step which notes something does not keep the run alive.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.caveats: list[Caveat] = []
        self._events: list[Event] = []

    def tell(self, event: Event) -> None:
        """Notes an event; a warning is for the document, too."""
        self._events.append(event)
        if isinstance(event, Warned):
            self.warnings.append(event.message)
            log.info("warning: %s", line(event.message, 500))

    def warn(self, message: str) -> None:
        """Notes something that a reader of the answer should know."""
        self.tell(Warned(message))

    def admit(self, kind: CaveatKind, about: str) -> None:
        """Notes a caveat of the answer."""
        self.caveats.append(Caveat(kind, about))

    def take(self) -> list[Event]:
        """The events since the last time."""
        events, self._events = self._events, []
        return events
