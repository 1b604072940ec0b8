"""`fedkg eval`: benchmarks."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import msgspec

from fedkg.bench import runner
from fedkg.bench.runner import Record, Result, Summary
from fedkg.bench.scores import mean
from fedkg.cli import options
from fedkg.cli.ask import BUDGET_SPENT
from fedkg.cli.connect import interruptible
from fedkg.cli.contact import contacted
from fedkg.cli.draft import drafted, write
from fedkg.cli.progress import ticking
from fedkg.cli.show import counted, plain
from fedkg.records import Status, encode

__all__ = ["evaluation"]

MOST_ERRORS = 3
NEW_FILE = click.Path(dir_okay=False, writable=True, allow_dash=True, path_type=Path)


@click.group("eval")
def evaluation() -> None:
    """Run benchmarks."""


@evaluation.command()
@click.argument("name")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of question sets and graphs.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Draw so many questions.")
@click.option("--seed", default=0, show_default=True, help="What the draw depends on.")
@click.option("--json", "out", type=NEW_FILE, metavar="OUT", help="Write everything to this file (- is stdout).")
@options.connection
@options.model
@options.search
@options.budget
@options.run_budget
def run(  # noqa: PLR0917  # click gives all of them by name
    name: str, data: Path, limit: int | None, seed: int, out: Path | None, file: str | None, **flags: object
) -> int:
    """Run the benchmark NAME and print its scores.

    The graph is the benchmark's own unless -e names an endpoint; topic entities are the gold ones. Exit code 3: every
    question failed. Exit code 4: the budget of the whole run (--run-…) was spent; the questions that were asked until then
    are scored, the others are counted.

    With the model `local` --beam, --candidates, --alpha and --verifier none have no effect: it scores all candidates itself.

    While it runs, the finished records lie in OUT.part, one JSON object a line; a run that is interrupted leaves them.
    """
    settings = contacted(options.settings(file, flags))
    to_stdout = str(out) == "-"
    with interruptible(settings), drafted(out) as keep:
        with ticking() as tick:
            on_progress = _progress(name, tick, keep)
            result = asyncio.run(runner.run(settings, name, data, limit=limit, seed=seed, on_progress=on_progress))
        if out and not to_stdout:
            write(out, runner.as_json(result))
    _print(result.summary, err=to_stdout)
    _print_errors(result.records)
    if to_stdout:
        click.echo(runner.as_json(result))
    return _exit_code(result)


def _exit_code(result: Result) -> int:
    if result.summary.unasked or any(record.usage.spent.startswith("run ") for record in result.records):
        return BUDGET_SPENT
    return 3 if all(record.error or record.status == Status.FAILED for record in result.records) else 0


def _progress(
    name: str, tick: Callable[[str], None], keep: Callable[[bytes], None]
) -> Callable[[Sequence[Record], int], None]:
    def on_progress(records: Sequence[Record], total: int) -> None:
        keep(encode(records[-1]))
        hits = mean(record.score.hits_at_1 for record in records)
        tick(f"{name}: {len(records)} of {total} questions, Hits@1 {hits:.3f}")

    return on_progress


def _print_errors(records: Sequence[Record]) -> None:
    """Why questions failed, the most frequent reasons first; the file has them all."""
    often = Counter(
        record.error or "; ".join(record.warnings[-1:])
        for record in records
        if record.error or record.status == Status.FAILED
    )
    for why, times in often.most_common(MOST_ERRORS):
        click.echo(f"{counted(times, 'question')} failed: {plain(why, 300)}", err=True)


def _print(summary: Summary, *, err: bool) -> None:
    for key, value in msgspec.structs.asdict(summary).items():
        digits = 6 if key == "price" else 4
        shown = "-" if value is None else f"{value:.{digits}f}" if isinstance(value, float) else value
        click.echo(f"{key:16} {shown}", err=err)
