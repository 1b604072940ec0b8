"""`fedkg eval report`: result files as tables and plots."""

from pathlib import Path

import click

from fedkg.bench.report import benchmark_report as bench
from fedkg.bench.report.benchmark_report import BenchmarkReport
from fedkg.bench.run import results

__all__ = ["report", "write_report"]

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--out", type=FILE, metavar="FILE.html", required=True, help="The page; Markdown is written beside it.")
@click.option("--title", default="Results", show_default=True, help="The title of the report.")
@click.option("--seed", default=0, show_default=True, help="What the resampling depends on.")
def report(files: tuple[Path, ...], out: Path, title: str, seed: int) -> None:
    """Write a report of the result files FILE...: tables as in the papers, plots, and every question with its paths.

    The page needs no network and no scripts. Of each benchmark the first file is what the others are compared with;
    which tables there are is decided by what differs between the runs. The same files give the same report.
    """
    write_report(bench.report([result for _, result in results.every(files)], title, seed), out)


def write_report(page: BenchmarkReport, out: Path) -> None:
    """Writes the report's files, and prints their names."""
    for file in bench.write(page, out):
        click.echo(f"report: {file}", err=True)
