"""All ablations (`eval/ablations/`) with a model that takes the gold step whenever it is offered.

So they show what each setting lets any model find; with a model that compares words most settings change nothing. A
benchmark whose ways to the answers are not known is left out, as is what the model cannot do. Finished questions are on
disk in `--out`: the same command goes on from there. With --write the results and the reports are kept in
eval/results/ablations/, and the figures of all that are there in eval/results/ablations.json. With --kept nothing is
asked: what is there is reported anew.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from eval.support.gold import present
from eval.support.runs import ReportPlace, Runs, keep, kept, progress, report, report_again, run_options, timed
from fedkg.bench.data import definitions
from fedkg.bench.report.tables import same_answers
from fedkg.bench.run import ablation
from fedkg.bench.run.ablation import Grid, GridCell
from fedkg.bench.run.gold import GoldExecutor
from fedkg.bench.run.processes import in_processes
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.scores import mean, score
from fedkg.config.settings import Settings
from fedkg.errors import FedkgError
from fedkg.methods.registry import METHODS
from fedkg.testing import GoldChat

COMMAND = "python eval/quality/grids.py --write"
QUESTIONS = 50
NOTE = (
    f"The model {GoldChat.name} is scripted, and takes the gold step whenever it is offered: its figures are upper "
    "bounds."
)

RECALLED = f"a method without a graph would recall the answers that {GoldChat.name} is told"


def main() -> None:
    """Runs all ablations of a benchmark in one process, so that they share what is embedded, and reports each."""
    parser = run_options(__doc__ or "", Path("build/ablations"), QUESTIONS)
    parser.add_argument("--ablations", nargs="+", default=ablation.names(), metavar="NAME")
    parser.add_argument("--value", action="append", default=[], metavar="NAME=VALUE", help="a further value of an axis")
    parser.add_argument("--kept", action="store_true", help="report what is in eval/results/ anew, and ask nothing")
    chosen = parser.parse_args()
    if chosen.kept:
        again(chosen.ablations)
        return
    with timed():
        grids = {Path(name).stem: ablation.find(name).extended(chosen.value) for name in chosen.ablations}
        benchmarks = list(dict.fromkeys(name for grid in grids.values() for name in grid.benchmarks))
        present(chosen.data, benchmarks)
        groups = in_processes(partial(ran, grids=grids, chosen=chosen), benchmarks, chosen.processes)
        for name, grid in grids.items():
            place = ReportPlace(f"ablations/{name}", grid.title, chosen.out / name, notes(grid))
            report(place, [runs[name] for runs in groups if name in runs], write=chosen.write)
        if chosen.write:
            keep("ablations", COMMAND, figures(ablation.names()))


def notes(grid: Grid) -> tuple[str, ...]:
    """What a reader has to know of an ablation."""
    return tuple(filter(None, (NOTE, grid.note, *(f"{row}." for row in grid.missing))))


def again(names: Sequence[str]) -> None:
    """Reports what is kept of these ablations anew, and its figures."""
    for name in names:
        if ordered := _ordered(name):
            grid = ablation.find(name)
            place = ReportPlace(f"ablations/{Path(name).stem}", grid.title, Path(), notes(grid))
            report_again(place, list(ordered.values()))
    keep("ablations", COMMAND, figures([*ablation.names(), *names]))


def _ordered(name: str) -> dict[str, BenchmarkResult]:
    """The kept results of an ablation, of each benchmark the unchanged settings first."""
    places = {Path(benchmark).stem: place for place, benchmark in enumerate(ablation.find(name).benchmarks)}
    read = {
        file: result
        for file, result in kept(f"ablations/{Path(name).stem}").items()
        if result.header.benchmark in places and METHODS[result.header.method].graph
    }

    def order(file: str) -> tuple[int, bool]:
        return places[read[file].header.benchmark], not file.endswith(".base")

    return {file: read[file] for file in sorted(read, key=order)}


def figures(names: Sequence[str]) -> dict[str, Any]:
    """Of each ablation and benchmark the questions, Hits@1 and F1 by what was changed, and whether an answer moved."""
    ablations = {Path(name).stem: _ordered(name) for name in names}
    return {name: _by_benchmark(read) for name, read in ablations.items() if read}


def _by_benchmark(read: Mapping[str, BenchmarkResult]) -> dict[str, Any]:
    groups: dict[str, list[tuple[str, BenchmarkResult]]] = {}
    for file, result in read.items():
        groups.setdefault(result.header.benchmark, []).append((file, result))
    return {benchmark: _figures(group) for benchmark, group in groups.items()}


def _figures(cells: Sequence[tuple[str, BenchmarkResult]]) -> dict[str, Any]:
    changes = {file.split(".", 1)[1]: [score(record) for record in result.records] for file, result in cells}
    return {
        "questions": min(map(len, changes.values())),
        "moved": not same_answers([result for _, result in cells]),
        "runs": {
            change: {"hits_at_1": mean(one.hits_at_1 for one in scores), "f1": mean(one.f1 for one in scores)}
            for change, scores in changes.items()
        },
    }


def ran(benchmark: str, grids: Mapping[str, Grid], chosen: argparse.Namespace) -> dict[str, Runs]:
    """All ablations of one benchmark; this is what runs in a process of its own."""
    with GoldExecutor(chosen.data) as executor:
        return {
            name: asyncio.run(
                _ran(msgspec.structs.replace(grid, benchmarks=(benchmark,)), chosen.out / name, executor, chosen)
            )
            for name, grid in grids.items()
            if benchmark in grid.benchmarks
        }


async def _ran(grid: Grid, out: Path, executor: GoldExecutor, chosen: argparse.Namespace) -> Runs:
    """One of them, on that benchmark, and what the model could not do."""
    [benchmark] = grid.benchmarks
    if not executor.chains.known(definitions.find(benchmark)):
        return Runs((), (f"{Path(benchmark).stem} is left out: no way to its answers is known.",))
    settings = Settings(model=GoldChat.name, embedder=chosen.embedder, cache=False, replies=False)
    cells = ablation.cells(grid, settings, chosen.data, out, limit=chosen.limit)
    refused: dict[Path, str] = {}
    began = time.monotonic()

    def tell(cell: GridCell, records: Sequence[QuestionRecord]) -> None:
        if len(records) == cell.job.header.questions:
            print(progress(cell.file, records, time.monotonic() - began), flush=True)

    def refuse(cell: GridCell, error: FedkgError) -> None:
        refused[cell.file] = f"Left out: {cell.file.stem}: {error}."

    for cell in cells:
        if not METHODS[cell.job.header.method].graph:
            refused[cell.file] = f"Left out: {cell.file.stem}: {RECALLED}."
    await ablation.run([cell for cell in cells if cell.file not in refused], executor, tell, refuse)
    return Runs(tuple(cell.file for cell in cells if cell.file not in refused), tuple(refused.values()))


if __name__ == "__main__":
    main()
