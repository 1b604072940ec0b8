"""All ablations (`eval/ablations/`) with a model that takes the gold step whenever it is offered: what each setting lets any model find.

With a model that compares words most settings change nothing. A benchmark whose ways to the answers are not known is left out, as
is what the model cannot do. Finished questions are on disk in `--out`: the same command goes on from there. With --write the
results and the reports are kept in eval/results/ablations/.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from eval.asker import Asker
from eval.cells import Cells, Kept, collected, kept, line, spread, started
from eval.walks import Tally, present
from fedkg.bench import ablation, definitions
from fedkg.bench.ablation import Cell, Grid
from fedkg.bench.record import Record
from fedkg.errors import MethodError
from fedkg.settings import Settings

QUESTIONS = 30
NOTE = (
    f"The model {Tally.name} is scripted, and takes the gold step whenever it is offered: its figures are upper bounds."
)


def main() -> None:
    """Runs each ablation in a process of its own, and reports it."""
    parser = collected(__doc__ or "", Path("cache/ablations"), QUESTIONS)
    parser.add_argument("--ablations", nargs="+", default=ablation.names(), metavar="NAME")
    chosen = parser.parse_args()
    with started():
        grids = {Path(name).stem: ablation.find(name) for name in chosen.ablations}
        present(chosen.data, [benchmark for grid in grids.values() for benchmark in grid.benchmarks])
        found = spread(partial(ran, chosen=chosen), chosen.ablations, chosen.processes)
        for (name, grid), cells in zip(grids.items(), found, strict=True):
            folder = chosen.out / name
            kept(Kept(f"ablations/{name}", grid.title, folder, (NOTE,)), [cells], write=chosen.write)


def ran(name: str, chosen: argparse.Namespace) -> Cells:
    """One ablation; this is what runs in a process of its own."""
    with Asker(chosen.data) as asker:
        grid, notes = known(ablation.find(name), asker)
        settings = Settings(model=Tally.name, embedder=chosen.embedder, cache=False, replies=False)
        cells = ablation.cells(grid, settings, chosen.data, chosen.out / Path(name).stem, limit=chosen.limit)
        done, refused = asyncio.run(_ran(cells, asker))
    return Cells(done, (*notes, *refused))


def known(grid: Grid, asker: Asker) -> tuple[Grid, list[str]]:
    """The ablation on those benchmarks whose ways to the answers are known, and which ones that leaves out."""
    found = tuple(name for name in grid.benchmarks if asker.knows(definitions.find(name)))
    others = [name for name in grid.benchmarks if name not in found]
    notes = [f"{name} is left out: no way to its answers is known." for name in others]
    return msgspec.structs.replace(grid, benchmarks=found), notes


async def _ran(cells: Sequence[Cell], asker: Asker) -> tuple[tuple[Path, ...], list[str]]:
    """The files, and what the model could not do."""
    refused: dict[Path, str] = {}
    began = time.monotonic()

    def tell(cell: Cell, records: Sequence[Record]) -> None:
        if len(records) == cell.job.header.questions:
            print(line(cell.file, records, time.monotonic() - began), flush=True)

    def refuse(cell: Cell, error: MethodError) -> None:
        refused[cell.file] = f"Left out: {cell.file.stem}: {error}"

    await ablation.run(cells, asker, tell, refuse)
    return tuple(cell.file for cell in cells if cell.file not in refused), list(refused.values())


if __name__ == "__main__":
    main()
