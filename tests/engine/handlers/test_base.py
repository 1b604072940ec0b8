"""The table of handlers: every need has one, of its own type, and a need from elsewhere can be given one."""

import inspect
from typing import TYPE_CHECKING

import pytest

from fedkg.engine.handlers.base import HANDLERS, RunningWalk, handles
from fedkg.engine.interpreter import THEMES
from fedkg.errors import MethodError
from fedkg.methods import base
from fedkg.methods.base import Judging, Need

if TYPE_CHECKING:

    @handles(Judging)  # type: ignore[arg-type]  # a warning of its own if mypy took the wrong reply
    async def wrong_reply(walk: RunningWalk, need: Judging) -> str:
        """Never run."""
        return ""

    @handles(Judging)  # type: ignore[arg-type]  # a warning of its own if mypy took the wrong need
    async def wrong_need(walk: RunningWalk, need: base.Completing) -> bool:
        """Never run."""
        return True


KINDS = [kind for _, kind in inspect.getmembers(base, inspect.isclass) if issubclass(kind, Need) and kind is not Need]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_every_need_has_a_handler(kind: type[Need[object]]) -> None:
    """Declared beside it, by its name, in one of the modules of the engine."""
    handler = HANDLERS[kind]
    assert inspect.signature(handler).parameters["need"].annotation is kind
    assert handler.__module__ in {module.__name__ for module in THEMES}


def test_a_handler_stays_a_function() -> None:
    """It can be called by another handler, and registered for a need that fedkg does not have."""

    class Counting(Need[int], frozen=True):
        """A need of a method from elsewhere."""

    async def count(walk: RunningWalk, need: Counting) -> int:
        return 3

    try:
        assert handles(Counting)(count) is count
        with pytest.raises(MethodError, match=r"Counting has a handler already: .*count"):
            handles(Counting)(count)
        assert HANDLERS[Counting] is count
    finally:
        HANDLERS.pop(Counting)
