import io

from rich.console import Console

from fedkg.cli.progress import Board, ticking, watched
from fedkg.core.events import Chosen, Fetched, Judged, Proposed, Ranked, Scored
from fedkg.core.usage import Usage
from tests.support.events import EVENTS


def terminal(*, real: bool = True) -> Console:
    """A console that takes itself for a terminal, or not."""
    return Console(file=io.StringIO(), force_terminal=real, width=60, markup=False, highlight=False)


def seen(console: Console) -> str:
    """Everything that was written to the console."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_display_shows_depth_requests_and_candidates() -> None:
    """The live display keeps the latest of each, and markup in a label is plain text."""
    out, board = terminal(), Board()
    for event, _ in EVENTS:
        board.after(event)
    board.after(Fetched(3, 1, 1, 0, Usage(requests=7)))
    board.after(Ranked(3, 2, ("A → [red]r[/red] → B", "C\x1b[2J")))
    board.after(Chosen(3, ()))
    out.print(board.drawn())
    assert "depth 3, 7 requests" in seen(out)
    assert "A → [red]r[/red] → B" in seen(out)
    assert "\x1b[2J" not in seen(out)


def test_display_shows_what_was_proposed_and_scored() -> None:
    """With methods that choose nothing, too, the best lines are those that came last."""
    board, out = Board(), terminal()
    board.after(Proposed(("→ proposed →",)))
    out.print(board.drawn())
    board.after(Scored(2, "entities", ("A → r → scored",), (0.5,)))
    board.after(Judged(("A → r → judged",), adequate=True))
    out.print(board.drawn())
    assert ("→ proposed →" in seen(out), "A → r → scored" in seen(out), "judged" in seen(out)) == (True, True, False)


def test_display_vanishes_from_a_terminal() -> None:
    """On a terminal the display is drawn while the walk lasts and erased at its end."""
    out = terminal()
    with watched(verbose=False, out=out) as on_event:
        on_event(EVENTS[3][0])
    assert "linking" in seen(out)
    assert seen(out).endswith("\x1b[2K") or "\x1b[1A\x1b[2K" in seen(out)


def test_nothing_is_drawn_off_a_terminal() -> None:
    """In a pipe or a log there is no display, neither of a walk nor of a benchmark."""
    out = terminal(real=False)
    with watched(verbose=False, out=out) as on_event, ticking(out) as tick:
        on_event(EVENTS[0][0])
        tick("1 of 2")
    assert seen(out) == ""


def test_verbose_is_lines_everywhere() -> None:
    """With -v events are lines, on a terminal as off it."""
    out = terminal(real=False)
    with watched(verbose=True, out=out) as on_event:
        on_event(EVENTS[3][0])
    assert seen(out) == "depth 1: 30 edges of 2 entities, 4 requests so far\n"


def test_ticking_line() -> None:
    """A long run shows one changing line on a terminal."""
    out = terminal()
    with ticking(out) as tick:
        tick("metaqa: 1 of 2 questions")
    assert "metaqa: 1 of 2 questions" in seen(out)
