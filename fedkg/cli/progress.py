"""A walk as it happens, on stderr: live on a terminal, or one line per event."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.spinner import Spinner
from rich.text import Text

from fedkg.cli.show import console, plain
from fedkg.core.event_lines import described
from fedkg.core.events import Event, Reached
from fedkg.display.walk_progress import SHOWN, WalkState

__all__ = ["Board", "ticking", "watched"]


class Board(WalkState):
    """What the live display shows: depth, requests, and the best candidates at hand."""

    def after(self, event: Event) -> RenderableType:
        """The display after that event."""
        self.take(event)
        return self.drawn()

    def drawn(self) -> RenderableType:
        """The display as it is now."""
        lines = [Text(f"  {plain(line)}", "dim", no_wrap=True, overflow="ellipsis") for line in self.best[:SHOWN]]
        return Group(Spinner("dots", Text(self.headline)), *lines)


@contextmanager
def watched(*, verbose: bool, out: Console | None = None) -> Iterator[Callable[[Event], None]]:
    """Who takes a run's events: prints each as a line, keeps a display that vanishes, or nothing off a terminal."""
    out = out or console(stderr=True)
    if verbose:
        yield lambda event: None if isinstance(event, Reached) else out.print(Text(described(event), "dim"))
    elif out.is_terminal:
        from rich.live import Live  # noqa: PLC0415  # off a terminal nothing is shown

        board = Board()
        with Live(board.drawn(), console=out, transient=True) as live:
            yield lambda event: live.update(board.after(event))
    else:
        yield lambda _event: None


@contextmanager
def ticking(out: Console | None = None) -> Iterator[Callable[[str], None]]:
    """Who takes one changing line: shown on a terminal until the work is done, else nothing."""
    out = out or console(stderr=True)
    if not out.is_terminal:
        yield lambda _line: None
        return
    from rich.live import Live  # noqa: PLC0415  # off a terminal nothing is shown

    with Live(Spinner("dots"), console=out, transient=True) as live:
        yield lambda line: live.update(Spinner("dots", Text(plain(line))))
