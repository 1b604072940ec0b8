"""How much of many questions is done, on stderr: a bar on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from fedkg.cli.show import console, plain

__all__ = ["bar"]


@contextmanager
def bar(title: str, total: int, out: Console | None = None) -> Iterator[Callable[[int, str], None]]:
    """Who takes how many are done, and a remark: a bar with its rate and the time left on a terminal, else nothing."""
    out = out or console(stderr=True)
    if not out.is_terminal:
        yield lambda _done, _remark: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[remark]}"), console=out, transient=True) as shown:
        task = shown.add_task(plain(title), total=total, remark="")
        yield lambda done, remark: shown.update(task, completed=done, remark=plain(remark))


class Rate(ProgressColumn):
    """Questions per second."""

    def render(self, task: Task) -> Text:
        """The rate of late; nothing before the first question."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")
