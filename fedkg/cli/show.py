"""Answers, proofs and edges as a person reads them.

Labels come from outside: what could steer a terminal, or pass for an arrow of ours, is taken out before anything is
printed, and nothing is read as markup.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.core.answer import Answer, AnswerValue, Path, PathEdge, Status
from fedkg.core.question import JUDGED, Kind
from fedkg.core.terms import Iri, Term, own_name
from fedkg.core.usage import Gap, ModelCall, Usage
from fedkg.llm.ledger import by_call

__all__ = ["answer", "console", "counted", "dollars", "edge", "gaps", "plain", "table", "usage"]

ANSI = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[@-_]")
# control characters, line separators, half characters, and what changes the direction of writing
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
LABEL, OPTION = 200, 500
MOST_ANSWERS = 50
MOST_PATHS = 20
WIDE = 1_000
SMALLEST = 0.0001
"""US dollars; less is not told in figures."""
SENTENCES = {
    Status.ANSWERED: "Answered.",
    Status.NONE: "No answer: the graph has none.",
    Status.NOT_FOUND: "No answer was found within the limits of the search.",
    Status.FAILED: "No answer: an endpoint or the model failed, so the question stays open.",
    Status.ABSTAINED: "No answer: the model does not answer questions of this kind.",
}


class _Console(Console):
    """rich ends the program where its reader has gone away; here the command line does, with the right code."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console that prints text as it is: no markup, no emoji names, no folding of long lines."""
    return _Console(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)


def plain(text: str, limit: int = LABEL) -> str:
    """The text as one line of at most `limit` characters, without terminal sequences and control characters."""
    folded = " ".join(ANSI.sub("", text[: 20 * limit]).split())
    shown = UNSAFE.sub("", folded)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def answer(out: Console, said: Answer, *, everything: bool = False) -> None:
    """Prints the answers, each path as a proof where there are any, the status, gaps, warnings and the usage."""
    for value in said.answers if everything else said.answers[:MOST_ANSWERS]:
        out.print(_value(value, said.kind))
    _more(out, len(said.answers), MOST_ANSWERS, "answers", everything=everything)
    for number, path in enumerate(said.paths if everything else said.paths[:MOST_PATHS], 1):
        _path(out, f"{'proof' if said.answers else 'path'} {number}", path)
    _more(out, len(said.paths), MOST_PATHS, "paths", everything=everything)
    if said.answers or said.paths:
        out.print()
    out.print(Text(SENTENCES[said.status], "bold"))
    gaps(out, said.gaps)
    for warning, times in Counter(said.warnings).items():
        again = f" ({times} times)" if times > 1 else ""
        out.print(Text(f"warning: {plain(warning, 1_000)}{again}", "yellow"))
    out.print(Text(usage(said.usage, sum(call.replayed for call in said.ledger)), "dim"))
    if everything and said.ledger:
        table(out, _ledger(said.ledger))


def table(out: Console, rows: Table) -> None:
    """Prints a table, however wide it is: folded it could not be read, and an IRI that is cut could not be copied."""
    out.width = WIDE
    out.print(rows)


def edge(shown: PathEdge, mark: str = "") -> Text:
    """One edge as a line, in the direction it was walked: `A → relation → B  (qualifiers)  [endpoint]`."""
    arrow = "→" if shown.direction == "out" else "←"
    start, end = (shown.subject, shown.object) if shown.direction == "out" else (shown.object, shown.subject)
    line = Text(f"{mark}{_node(start, shown)}")
    line.append(f" {arrow} {_relation(shown)} {arrow} ", "cyan")
    line.append(_node(end, shown))
    if shown.qualifiers:
        said = (f"{_name(leg.relation, shown.labels)}: {_name(leg.value, shown.labels)}" for leg in shown.qualifiers)
        line.append(f"  ({'; '.join(said)})", "dim")
    line.append(f"  [{plain(shown.endpoint)}]", "dim")
    return line


def gaps(out: Console, missing: Iterable[Gap]) -> None:
    """Prints what is missing, one line each."""
    for gap in missing:
        out.print(Text(f"gap: {plain(gap.endpoint)}: {plain(gap.asked, 500)}: {plain(gap.reason, 500)}", "yellow"))


def usage(cost: Usage, replayed: int = 0) -> str:
    """What a question cost, in one line; `replayed` of its model calls were answered by kept replies, at no cost now."""
    parts = [
        f"{counted(cost.requests, 'request')} in {counted(cost.round_trips, 'round trip')}",
        f"{cost.bytes / 1000:.1f} kB",
        counted(cost.cache_hits, "cache hit"),
        f"{counted(cost.labels_embedded, 'label')} embedded",
        counted(cost.model_calls, "model call") + (f" ({replayed} replayed)" if replayed else ""),
    ]
    if cost.model_calls:
        cached = f" ({cost.cached} cached)" if cost.cached else ""
        parts += [f"{cost.tokens_in} + {cost.tokens_out} tokens{cached}", dollars(cost.price)]
    if replayed:
        parts.append("all replayed" if replayed == cost.model_calls else "partly replayed")
    unpriced = cost.spent.endswith("money") and cost.price is None
    spent = f"; the budget of {cost.spent} {'cannot hold' if unpriced else 'is spent'}" if cost.spent else ""
    return f"{', '.join(parts)}, {cost.seconds:.1f} s{spent}"


def dollars(price: float | None) -> str:
    """An amount of money; small ones are not rounded to nothing."""
    if price is None:
        return "price unknown"
    return f"${price:.4f}" if price == 0 or price >= SMALLEST else f"less than ${SMALLEST}"


def counted(number: int, what: str) -> str:
    """The number with its noun, in the plural where it is not one."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _value(value: AnswerValue, kind: Kind) -> Text:
    number = f"{plain(value.label)}. " if kind == "choice" else ""
    line = Text(f"{number}{plain(value.value, OPTION)}", "bold green")
    if value.iri:
        line.append(f"  <{plain(value.iri, 500)}>", "dim")
    if kind in JUDGED and value.paths:
        line.append("  (judged from these paths, not grounded in the graph)", "yellow")
    elif not value.grounded:
        line.append("  (not grounded in the graph)", "yellow")
    return line


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


def _path(out: Console, name: str, path: Path) -> None:
    out.print(Text(f"\n{name} (score {path.score:.2f})", "dim"))
    for step in path.edges:
        out.print(edge(step, "  "))


def _more(out: Console, count: int, most: int, what: str, *, everything: bool) -> None:
    if count > most and not everything:
        out.print(Text(f"… and {count - most} more {what}; -v shows all of them", "dim"))


def _name(term: Term, labels: Mapping[str, str]) -> str:
    name = plain(labels.get(term.text) or own_name(term)).replace("→", "->").replace("←", "<-")
    return name or term.text


def _node(term: Term, shown: PathEdge) -> str:
    """The node's name; an identifier with the entity that it stands for."""
    name = _name(term, shown.labels)
    meant = shown.identifies if term == shown.object else None
    return f"{name} = {_name(meant, shown.labels)}" if meant else name


def _relation(shown: PathEdge) -> str:
    legs: Sequence[Iri] = (shown.relation, shown.through.relation) if shown.through else (shown.relation,)
    return " / ".join(_name(leg, shown.labels) for leg in legs)
