"""`fedkg eval score` and `fedkg eval compare`: every figure of result files, computed from their records alone."""

from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.bench.run import results
from fedkg.bench.scoring import compare as bench
from fedkg.bench.scoring.compare import Comparison, Flip, MeasureDifference
from fedkg.bench.scoring.scores import COST, STRICT, WALK
from fedkg.bench.scoring.summary import Counts, MeanEstimate, Part, Summary, summary
from fedkg.cli import options, show
from fedkg.cli.show import counted, plain
from fedkg.core.encoding import encode

__all__ = ["compare", "score", "show_summary"]

FILE = click.Path(path_type=Path)
LENIENT_FOR = {"hit": "lenient_hit", "hits_at_1": "contained_hit", "f1": "contained_f1"}
"""The strict measure beside which a lenient one stands: those who publish it call it so."""
FIRST = ("hits_at_1", "f1", "exact", "lenient_hit")
"""What is told of the parts of a run."""
MOST_FLIPS = 20

seed_option = click.option("--seed", default=0, show_default=True, help="What the resampling depends on.")


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@seed_option
@options.as_json
def score(files: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Compute every score of the result files FILE... again, from their records alone: no endpoint, no model.

    Each figure is a mean over all questions that were asked, with its 95 % bootstrap confidence interval; errors,
    abstentions and questions without a path count as wrong. Strict scores compare IRIs, lenient ones texts, as other walkers
    publish them.
    """
    found = [summary(one, seed) for _, one in results.every(files)]
    if as_json:
        click.echo(encode(found))
        return
    out = show.console()
    for number, one in enumerate(found):
        if number:
            out.print()
        show_summary(out, one)


@click.command()
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@click.option("-v", "verbose", is_flag=True, help="List every question that flipped.")
@seed_option
@options.as_json
def compare(first: Path, second: Path, verbose: bool, seed: int, as_json: bool) -> None:
    """Compare two runs of one benchmark on the questions that both have: what changed, which questions flipped, and why.

    Differences are SECOND less FIRST, with a paired bootstrap interval; hits are tested by McNemar's exact test.
    """
    found = bench.compare(results.read(first), results.read(second), seed)
    for warning in found.warnings:
        click.echo(f"warning: {plain(warning, 1_000)}", err=True)
    if as_json:
        click.echo(encode(found))
    else:
        _print_comparison(show.console(), found, everything=verbose)


def show_summary(out: Console, found: Summary) -> None:
    """Prints a summary: the answers' scores, those of the way, why answers are wrong, and the parts."""
    out.print(Text(plain(f"{found.benchmark}: {found.method}, {found.model}"), "bold"))
    out.print(Text(_ended(found.counts)))
    measures = found.overall.measures
    sides = _table("", "strict", "95 % interval", "lenient", "95 % interval")
    for name in STRICT:
        other = LENIENT_FOR.get(name, "")
        _row(sides, name, *_cells(measures.get(name)), *_cells(measures.get(other), other))
    way = _table("", "mean", "95 % interval", "questions")
    for name in (*WALK, *COST):
        one = measures.get(name)
        _row(way, name, *_cells(one), str(one.n) if one else "0")
    _show(out, sides)
    _show(out, way)
    _show(out, _faults(found.overall))
    for title, parts in (("hops", found.by_hops), ("kind", found.by_kind)):
        if len(parts) > 1:
            _show(out, _parts(title, {str(key): part for key, part in parts.items()}))
    _show(out, _coverage(found.coverage))


def _ended(counts: Counts) -> str:
    """How the questions ended, in one line."""
    ends = {
        "answered": counts.answered,
        "the graph has none": counts.none,
        "no path found": counts.not_found,
        "abstained": counts.abstained,
        "failed": counts.failed,
        "ended in an error": counts.error,
        "not asked": counts.unasked,
        "left out": counts.left_out,
        "of unknown price": counts.unpriced,
    }
    ends |= {f"budget of {plain(name)} spent": often for name, often in counts.spent.items()}
    return f"{counted(counts.questions, 'question')}: " + ", ".join(f"{n:,} {what}" for what, n in ends.items() if n)


def _faults(part: Part) -> Table:
    table = _table("wrong, because of", "questions", "share")
    for kind, often in part.faults.items():
        _row(table, kind, f"{often:,}", f"{often / part.questions:.1%}")
    return table


def _parts(title: str, parts: dict[str, Part]) -> Table:
    table = _table(title, "questions", *FIRST)
    for key, part in parts.items():
        means = (part.measures[name].mean for name in FIRST)
        _row(table, key if key != "0" else "not known", f"{part.questions:,}", *(f"{mean:.4f}" for mean in means))
    return table


def _coverage(coverage: dict[int, MeanEstimate]) -> Table:
    table = _table("coverage at depth", "mean", "95 % interval", "questions")
    for depth, one in coverage.items():
        _row(table, str(depth), *_cells(one), str(one.n))
    return table


def _print_comparison(out: Console, found: Comparison, *, everything: bool) -> None:
    hits = found.hits
    out.print(Text(f"{plain(found.benchmark)}: {counted(found.questions, 'question')} in both runs", "bold"))
    if any(found.missing):
        out.print(Text(f"in one run only: {found.missing[0]} and {found.missing[1]}"))
    out.print(
        Text(
            f"hit by both {hits.both}, by the first alone {hits.first}, by the second alone {hits.second}, by none"
            f" {hits.neither}; McNemar's exact p {hits.p:.4f}"
        )
    )
    _show(out, _settings(found))
    _show(out, _differences(found.differences))
    _show(out, _flips(found.flips if everything else found.flips[:MOST_FLIPS]))
    if len(found.flips) > MOST_FLIPS and not everything:
        out.print(Text(f"… and {len(found.flips) - MOST_FLIPS} more questions; -v lists all of them", "dim"))


def _settings(found: Comparison) -> Table:
    table = _table("setting", "first", "second")
    for name, values in found.settings.items():
        _row(table, name, *(str(value) for value in values))
    return table


def _differences(found: dict[str, MeasureDifference]) -> Table:
    table = _table("measure", "first", "second", "difference", "95 % interval", "p", "questions")
    for name, one in found.items():
        bounds = f"{one.low:+.4f} to {one.high:+.4f}"
        figures = f"{one.first:.4f}", f"{one.second:.4f}", f"{one.difference:+.4f}"
        _row(table, name, *figures, bounds, f"{one.p:.4f}", str(one.n))
    return table


def _flips(flips: Iterable[Flip]) -> Table:
    table = _table("flipped", "", "first", "second", "question")
    for flip in flips:
        _row(
            table, flip.id, "won" if flip.won else "lost", flip.first or "right", flip.second or "right", flip.question
        )
    return table


def _table(*columns: str) -> Table:
    table = Table(*columns[:1], box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns[1:]:
        table.add_column(column)
    return table


def _show(out: Console, table: Table) -> None:
    """Prints a table that has any rows."""
    if table.row_count:
        out.print()
        show.table(out, table)


def _row(table: Table, *cells: str) -> None:
    table.add_row(*(Text(plain(cell)) for cell in cells))


def _cells(one: MeanEstimate | None, name: str = "") -> tuple[str, str]:
    """The mean, with the measure's own name where it needs one, and its interval."""
    if one is None:
        return "" if not name else f"- {name}", ""
    mean = f"{one.mean:.4f} {name}".strip()
    return mean, f"{one.low:.4f} to {one.high:.4f}"
