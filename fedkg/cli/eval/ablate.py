"""`fedkg eval ablate`: a run for each combination of settings, and their report."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from fedkg.bench.report import benchmark_report as bench
from fedkg.bench.run import ablation
from fedkg.bench.run.ablation import GridCell
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import QuestionRecord
from fedkg.cli import options
from fedkg.cli.answer import BUDGET_SPENT
from fedkg.cli.bar import bar
from fedkg.cli.connect import interruptible
from fedkg.cli.contact import contacted
from fedkg.cli.eval.price import confirm
from fedkg.cli.eval.report import write_report
from fedkg.cli.show import counted, plain
from fedkg.errors import DatasetError, FedkgError

__all__ = ["ablate"]


@click.command(cls=options.SectionedCommand)
@click.argument("definition", metavar="NAME|FILE.toml")
@options.drawn("Benchmark")
@options.option(
    "Benchmark",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    required=True,
    help="Folder of the result files and the report.",
)
@options.option(
    "Benchmark",
    "--value",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    help="A further value of an axis, such as embedder=onnx:FOLDER; several times.",
)
@options.concurrency
@options.yes
@options.connection
@options.model
@options.search
@options.budget
@options.run_budget
def ablate(  # noqa: PLR0917  # click gives all of them by name
    definition: str,
    data: Path | None,
    out: Path,
    values: tuple[str, ...],
    limit: int | None,
    seed: int,
    concurrency: int,
    skip_bad: bool,
    yes: bool,
    file: str | None,
    **flags: object,
) -> int:
    """Run an ablation, one result file for each combination of settings in --out, and report it there.

    What the definition says goes before the options. Whatever ends it, the same command goes on from there. NAME is
    one of the bundled definitions; an unknown one is answered with their list. FILE.toml has title, benchmarks,
    limit, a table [base] of settings, [[axis]] with name and values, and combine: "each" (one setting at a time is
    changed against the base; the default) or "product" (all combinations).

    Exit code 4: the budget of the whole run (--run-..., for all combinations together) was spent first.
    """
    settings, grid = contacted(options.settings(file, flags)), ablation.find(definition).extended(values)
    cells = ablation.cells(grid, settings, data, out, limit=limit, seed=seed, skip_bad=skip_bad)
    confirm(grid.title, [(cell.job, cell.file) for cell in cells], yes=yes)
    _make(out)
    refused = grid.missing
    for row in refused:
        click.echo(row, err=True)

    def refuse(cell: GridCell, error: FedkgError) -> None:
        refused.append(f"Left out: {cell.file.stem}: {error}")
        click.echo(plain(refused[-1], 500), err=True)

    with interruptible(settings), bar(grid.title, sum(len(cell.job.questions) for cell in cells)) as shown:
        runs = asyncio.run(ablation.run(cells, InProcess(concurrency), _progress(cells, shown), refuse))
    write_report(bench.report(runs, grid.title, seed, [*filter(None, (grid.note,)), *refused]), out / "report.html")
    click.echo(f"{counted(len(runs), 'result file')} in {out}", err=True)
    return BUDGET_SPENT if any(result.stopped for result in runs) else 0


def _progress(
    cells: Sequence[GridCell], shown: Callable[[int, str], None]
) -> Callable[[GridCell, Sequence[QuestionRecord]], None]:
    """Counts the questions of all runs together."""
    done: dict[Path, int] = {}

    def on_record(cell: GridCell, records: Sequence[QuestionRecord]) -> None:
        done[cell.file] = len(records)
        shown(sum(done.values()), f"run {len(done)} of {len(cells)}")

    return on_record


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"cannot make {out}: {error.strerror}", hint="--out names a folder") from error
