"""All ablations (`eval/ablations/`) with a model that takes the gold step whenever it is offered.

So they show what each setting lets any model find; with a model that compares words most settings change nothing. A
benchmark whose ways to the answers are not known is left out, as is what the model cannot do. Finished questions are on
disk in `--out`: the same command goes on from there. With --write the results and the reports are kept in
eval/results/ablations/.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from eval.support.gold import present
from eval.support.runs import ReportPlace, Runs, progress, report, run_options, timed
from fedkg.bench.data import definitions
from fedkg.bench.run import ablation
from fedkg.bench.run.ablation import Grid, GridCell
from fedkg.bench.run.gold import GoldExecutor
from fedkg.bench.run.processes import in_processes
from fedkg.bench.run.record import QuestionRecord
from fedkg.config.settings import Settings
from fedkg.errors import FedkgError
from fedkg.testing import GoldChat

QUESTIONS = 50
NOTE = (
    f"The model {GoldChat.name} is scripted, and takes the gold step whenever it is offered: its figures are upper "
    "bounds."
)


def main() -> None:
    """Runs all ablations of a benchmark in one process, so that they share what is embedded, and reports each."""
    parser = run_options(__doc__ or "", Path("build/ablations"), QUESTIONS)
    parser.add_argument("--ablations", nargs="+", default=ablation.names(), metavar="NAME")
    parser.add_argument("--value", action="append", default=[], metavar="NAME=VALUE", help="a further value of an axis")
    chosen = parser.parse_args()
    with timed():
        grids = {Path(name).stem: ablation.find(name).extended(chosen.value) for name in chosen.ablations}
        benchmarks = list(dict.fromkeys(name for grid in grids.values() for name in grid.benchmarks))
        present(chosen.data, benchmarks)
        groups = in_processes(partial(ran, grids=grids, chosen=chosen), benchmarks, chosen.processes)
        for name, grid in grids.items():
            notes = filter(None, (NOTE, grid.note, *(f"{row}." for row in grid.missing)))
            place = ReportPlace(f"ablations/{name}", grid.title, chosen.out / name, tuple(notes))
            report(place, [runs[name] for runs in groups if name in runs], write=chosen.write)


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

    await ablation.run(cells, executor, tell, refuse)
    return Runs(tuple(cell.file for cell in cells if cell.file not in refused), tuple(refused.values()))


if __name__ == "__main__":
    main()
