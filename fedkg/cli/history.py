"""`fedkg log`: the last questions, their answers, and what they cost."""

from collections.abc import Sequence
from datetime import datetime

import click
from rich.table import Table
from rich.text import Text

from fedkg.cli import options, show
from fedkg.cli.show import counted, dollars, plain
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, Status
from fedkg.core.encoding import encode
from fedkg.engine.history import History, HistoryEntry
from fedkg.errors import DocumentError, InputError

__all__ = ["history"]

QUESTION, VALUES = 70, 50
"""Most characters of a question, and of its answers."""
ENDINGS = {
    Status.NONE: "(the graph has none)",
    Status.NOT_FOUND: "(none found)",
    Status.FAILED: "(failed)",
    Status.ABSTAINED: "(abstained)",
}


@click.command("log")
@click.argument("number", type=options.COUNT, required=False)
@click.option("--limit", default=20, type=options.COUNT, show_default=True, help="Most answers in the list.")
@click.option("--clear", is_flag=True, help="Remove all that is kept.")
@options.as_json
@options.place
def history(number: int | None, limit: int, clear: bool, as_json: bool, file: str | None, **flags: object) -> int:
    """List the last answers of `ask` and `chat`, the newest last, or show the answer NUMBER, where 1 is the newest.

    They are kept on this machine alone, beside the cache, at most 16 MB of them, without keys and passwords. With
    --no-cache nothing is kept, nor with FEDKG_HISTORY=off (setting `history`).
    """
    settings = options.settings(file, flags)
    if clear:
        if number:
            raise InputError("--clear removes all of them", hint="leave out NUMBER, or --clear")
        click.echo(f"{counted(History(settings).clear(), 'answer')} removed.")
        return 0
    entries = History(settings).entries()
    if number:
        _one(entries, number, as_json=as_json)
    elif as_json:
        click.echo(encode(entries[:limit]))
    else:
        _all(entries[:limit], settings)
    return 0


def _one(entries: Sequence[HistoryEntry], number: int, *, as_json: bool) -> None:
    """Raises DocumentError where there is none of that number."""
    if number > len(entries):
        raise DocumentError(f"there is no answer {number}", hint=f"`fedkg log` has {counted(len(entries), 'answer')}")
    entry = entries[number - 1]
    if as_json:
        click.echo(entry.answer.to_json())
        return
    out = show.console()
    out.print(Text(f"{_time(entry.at)}  {plain(entry.answer.question, 1_000)}", "bold"))
    show.answer(out, entry.answer, everything=True)


def _all(entries: Sequence[HistoryEntry], settings: Settings) -> None:
    """The newest last, which stands next to what is typed after it."""
    if not entries:
        off = "" if settings.history else "; the setting history is off"
        click.echo(f"No answer is kept{off}.")
        return
    rows = Table("", "when", "question", "answer", box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for figure in ("s", "price"):
        rows.add_column(figure, justify="right")
    for number, entry in reversed([*enumerate(entries, 1)]):
        cost = entry.answer.usage
        price = dollars(cost.price) if cost.model_calls else ""
        cells = (_time(entry.at), plain(entry.answer.question, QUESTION), _values(entry.answer))
        rows.add_row(*map(Text, (str(number), *cells, f"{cost.seconds:.1f}", price)))
    show.table(show.console(), rows)


def _values(answer: Answer) -> str:
    values = ", ".join(value.value for value in answer.answers)
    return plain(values, VALUES) or ENDINGS.get(answer.status, "")


def _time(at: str) -> str:
    """The time in this machine's zone, to the minute."""
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return plain(at, 16)
