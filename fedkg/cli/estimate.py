"""What a question will cost, as a person reads it, before anything is spent."""

from collections.abc import Sequence

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.cli.connect import opened
from fedkg.cli.show import console, dollars, plain, table
from fedkg.config.settings import Settings
from fedkg.core.encoding import encode
from fedkg.core.question import Kind
from fedkg.engine.estimate import Cost, Estimate

__all__ = ["estimated", "priced", "show"]


def priced(
    settings: Settings,
    question: str,
    topics: Sequence[str],
    kind: Kind | None,
    choices: Sequence[str],
    *,
    as_json: bool,
) -> int:
    """Prints what the question would cost; nothing is sent. Returns the exit code."""
    estimate = estimated(settings, question, topics, kind, choices)
    if as_json:
        click.echo(encode(estimate))
    else:
        show(console(), estimate)
    return 0


def estimated(
    settings: Settings, question: str, topics: Sequence[str], kind: Kind | None, choices: Sequence[str]
) -> Estimate:
    """The estimate for one question; nothing is sent, and no key is needed. Raises InputError as `ask` does."""
    offline = msgspec.structs.replace(settings, mode="offline", refresh=False)
    with opened(offline) as session:
        return session.run(session.estimate(question, topics, kind=kind, options=choices))


def show(out: Console, estimate: Estimate) -> None:
    """Prints the three cases side by side, and what is not counted."""
    out.print(Text(f"Nothing was asked. With the model {plain(estimate.model)} this question takes about:"))
    rows = Table("", "calls", "tokens in", "tokens out", "requests", "price", "which calls", box=None)
    for name, cost in (("least", estimate.least), ("typical", estimate.typical), ("most", estimate.most)):
        rows.add_row(*(Text(cell) for cell in (name, *_cells(cost))))
    table(out, rows)
    for note in estimate.notes:
        out.print(Text(plain(note, 500), "dim"))


def _cells(cost: Cost) -> Sequence[str]:
    counts = (f"{count:,}" for count in (cost.calls, cost.tokens_in, cost.tokens_out, cost.requests))
    calls = ", ".join(f"{count} {plain(name)}" for name, count in cost.by_call.items())
    return (*counts, dollars(cost.price), calls)
