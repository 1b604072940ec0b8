"""`fedkg eval compare`: what is otherwise between two runs of one benchmark."""

from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedkg.bench.run import results
from fedkg.bench.scoring.compare import Comparison, Flip, MeasureDifference
from fedkg.bench.scoring.compare import compare as compare_results
from fedkg.cli import options, show
from fedkg.cli.eval.tables import add_row, new_table, show_table
from fedkg.cli.show import counted, plain
from fedkg.core.encoding import encode

__all__ = ["compare"]

MOST_FLIPS = 20


@click.command()
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("-v", "verbose", is_flag=True, help="List every question that flipped.")
@click.option("--seed", default=0, show_default=True, help="What the resampling depends on.")
@options.as_json
def compare(first: Path, second: Path, verbose: bool, seed: int, as_json: bool) -> None:
    """Compare two runs of one benchmark on the questions of both: what changed, which questions flipped, and why.

    Differences are SECOND less FIRST, with a paired bootstrap interval; hits are tested by McNemar's exact test.
    """
    comparison = compare_results(results.read(first), results.read(second), seed)
    for warning in comparison.warnings:
        click.echo(f"warning: {plain(warning, 1_000)}", err=True)
    if as_json:
        click.echo(encode(comparison))
    else:
        _print_comparison(show.console(), comparison, everything=verbose)


def _print_comparison(out: Console, comparison: Comparison, *, everything: bool) -> None:
    hits = comparison.hits
    out.print(Text(f"{plain(comparison.benchmark)}: {counted(comparison.questions, 'question')} in both runs", "bold"))
    if any(comparison.missing):
        out.print(Text(f"in one run only: {comparison.missing[0]} and {comparison.missing[1]}"))
    out.print(
        Text(
            f"hit by both {hits.both}, by the first alone {hits.first}, by the second alone {hits.second}, by none"
            f" {hits.neither}; McNemar's exact p {hits.p:.4f}"
        )
    )
    show_table(out, _settings(comparison))
    show_table(out, _differences(comparison.differences))
    show_table(out, _flips(comparison.flips if everything else comparison.flips[:MOST_FLIPS]))
    if len(comparison.flips) > MOST_FLIPS and not everything:
        out.print(Text(f"… and {len(comparison.flips) - MOST_FLIPS} more questions; -v lists all of them", "dim"))


def _settings(comparison: Comparison) -> Table:
    table = new_table("setting", "first", "second")
    for name, values in comparison.settings.items():
        add_row(table, name, *(str(value) for value in values))
    return table


def _differences(differences: dict[str, MeasureDifference]) -> Table:
    table = new_table("measure", "first", "second", "difference", "95 % interval", "p", "questions")
    for name, change in differences.items():
        bounds = f"{change.low:+.4f} to {change.high:+.4f}"
        figures = f"{change.first:.4f}", f"{change.second:.4f}", f"{change.difference:+.4f}"
        add_row(table, name, *figures, bounds, f"{change.p:.4f}", str(change.n))
    return table


def _flips(flips: Iterable[Flip]) -> Table:
    table = new_table("flipped", "", "first", "second", "question")
    for flip in flips:
        add_row(
            table, flip.id, "won" if flip.won else "lost", flip.first or "right", flip.second or "right", flip.question
        )
    return table
