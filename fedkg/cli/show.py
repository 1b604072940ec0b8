"""What commands print: answers, proofs and edges in colours, and tables. Nothing is read as markup."""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.common.plain_text import plain
from fedkg.core.answer import Answer
from fedkg.core.rendering import RenderedLine, Role, counted, dollars
from fedkg.core.usage import ModelCall
from fedkg.llm.ledger import by_call

__all__ = ["answer", "console", "counted", "dollars", "line", "lines", "plain", "table"]

WIDE = 1_000
STYLES: dict[Role, str] = {
    "text": "",
    "answer": "bold green",
    "status": "bold",
    "relation": "cyan",
    "detail": "dim",
    "caution": "yellow",
}


class _Console(Console):
    """rich ends the program where its reader has gone away; here the command line does, with the right code."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is: no markup, no emoji names, no folding of long lines."""
    return _Console(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)


AS_QUERY = "One SPARQL query gives the same: --sparql prints it, verify asks it again."


def answer(out: Console, document: Answer, *, everything: bool = False) -> None:
    """Prints what `Answer.text` says, in colours; with `everything` also the ledger of the model's calls."""
    lines(out, document.lines(everything=everything, more="-v shows all of them"))
    if document.query:
        out.print(Text(AS_QUERY, "dim"))
    if everything and document.ledger:
        table(out, _ledger(document.ledger))


def lines(out: Console, rendered: Iterable[RenderedLine]) -> None:
    """Prints lines, each part in the colour of its role."""
    for spans in rendered:
        out.print(line(spans))


def line(spans: RenderedLine) -> Text:
    """A line in its colours."""
    text = Text()
    for span in spans:
        text.append(span.text, STYLES[span.role])
    return text


def table(out: Console, rows: Table) -> None:
    """Prints a table, however wide it is: folded it could not be read, and an IRI that is cut could not be copied."""
    out.width = WIDE
    out.print(rows)


def _ledger(calls: Sequence[ModelCall]) -> Table:
    """One line for each call and template; cached tokens are part of those in, reasoning of those out."""
    table = Table("call", "template", box=None, pad_edge=False, padding=(0, 2, 0, 0), style="dim")
    for figure in ("calls", "in", "cached", "out", "reasoning", "s", "price"):
        table.add_column(figure, justify="right")
    for (call, template), spend in by_call(calls).items():
        counts = (spend.calls, spend.tokens_in, spend.cached, spend.tokens_out, spend.reasoning)
        cells = (call, template, *map(str, counts), f"{spend.seconds:.1f}", dollars(spend.price))
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table
