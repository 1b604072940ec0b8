from types import SimpleNamespace
from typing import Any

import pytest

from fedkg.core.answer import Answer, Status
from fedkg.core.events import Answered, Event, Fetched, Linked, Ranked
from fedkg.core.usage import Usage
from fedkg.display.walk_progress import NotebookProgress
from tests.support.extras import needs

EVENTS: list[Event] = [
    Linked(()),
    Fetched(1, 2, 30, 0, Usage(requests=4)),
    Ranked(1, 9, ("A → <r> → B", *"cdefg")),
    Answered(Answer("q", "entities", Status.NONE)),
]


class Cell:
    """What a notebook shows below a cell; `pages` are the displays, each as it was last."""

    def __init__(self) -> None:
        self.pages: list[list[str]] = []

    def display(self, page: Any, *, display_id: bool) -> "Cell":
        assert display_id
        self.pages.append([page.data])
        return self

    def update(self, page: Any) -> None:
        self.pages[-1].append(page.data)


@needs("dev", "IPython")
def test_one_display_follows_a_walk_and_goes_with_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Depth, requests and the best candidates, escaped; the next question has a display of its own."""
    cell = Cell()
    monkeypatch.setattr("IPython.display.display", cell.display)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", SimpleNamespace)
    progress = NotebookProgress()
    for event in EVENTS * 2:
        progress(event)
    first, second = cell.pages
    assert first == second
    assert "linking" in first[0]
    assert "depth 1, 4 requests" in first[1]
    assert "A → &lt;r&gt; → B" in first[2]
    assert ">f<" in first[2]
    assert ">g<" not in first[2]
    assert first[3] == ""


def test_outside_of_a_notebook_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """A program may be the same in both places."""
    progress = NotebookProgress()
    for event in EVENTS:
        progress(event)
    assert capsys.readouterr().out == ""
