"""The interpreter of a method: does what it asks for, over one graph with one model, for one question.

The method decides, the interpreter acts: for each kind of need there is one handler (`fedkg/engine/handlers/`). A model
that replies unusably does not end a walk: its choice falls back to the retriever's ranking, with a warning in the
answer.
"""

from typing import TypeVar, cast

from fedkg.engine.handlers import answering, choosing, expanding, operating, planning, scoring, verifying
from fedkg.engine.handlers.base import HANDLERS, RunningWalk
from fedkg.engine.walk import WalkContext, WalkRecord
from fedkg.errors import MethodError
from fedkg.methods.base import Need

__all__ = ["THEMES", "Interpreter"]

THEMES = (expanding, choosing, verifying, scoring, planning, operating, answering)
"""The modules that register the handlers of fedkg's own needs."""
Reply = TypeVar("Reply")


class Interpreter:
    """Serves the needs of a method, and remembers what the answer is made of in its `record`, which it alone writes."""

    def __init__(self, context: WalkContext) -> None:
        self.context = context
        self._walk = RunningWalk(context)

    @property
    def record(self) -> WalkRecord:
        """What the walk has left behind so far: to be read only."""
        return self._walk.record

    async def serve(self, need: Need[Reply]) -> Reply:
        """The reply to a need. Raises TopicError, BudgetError, EndpointError and ModelError.

        Raises MethodError for a need that has no handler.
        """
        handler = HANDLERS.get(type(need))
        if handler is None:
            raise MethodError(
                f"no handler is registered for the need {type(need).__name__}",
                hint="register one where the need is defined: @fedkg.engine.handlers.base.handles",
            )
        return cast("Reply", await handler(self._walk, need))
