"""Many runs at once: two processes share them, each has a result file, and a report is made of all.

The digits are the same each time: within a run, and within what one process is given, one question is asked after the other.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

from eval.support.asker import Asker
from eval.support.report import FOLDER, options
from fedkg.bench.report import benchmark_report
from fedkg.bench.report.benchmark_report import BenchmarkReport
from fedkg.bench.run import results, runner
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import mean, score
from fedkg.errors import InputError

__all__ = ["Cells", "Kept", "collected", "kept", "line", "run", "spread", "started"]

T = TypeVar("T")
PROCESSES = 2
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
"""Of the embedder: there are as many processes as cores."""
PLAIN = re.compile(r"[^\w.-]+")


class Cells(NamedTuple):
    """The result files of some runs, and why others are missing."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


class Kept(NamedTuple):
    """What a report is called, where in eval/results/ it is kept, and where it is written in any case."""

    name: str
    title: str
    out: Path
    notes: tuple[str, ...] = ()


def collected(about: str, out: Path, limit: int) -> argparse.ArgumentParser:
    """The options that both have: tables and ablations."""
    parser = options(about)
    parser.add_argument("--out", type=Path, default=out, help="folder of the unfinished results, and of the page")
    parser.add_argument("--limit", type=int, default=limit, help="questions of each benchmark")
    parser.add_argument("--embedder", default="minilm", help="what compares texts, where nothing else is said")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    return parser


@contextmanager
def started() -> Iterator[None]:
    """Says at the end how long it took; what is wrong with the input ends the program with a message."""
    began = time.monotonic()
    try:
        yield
    except InputError as error:
        sys.exit(str(error))
    print(f"{(time.monotonic() - began) / 60:.1f} minutes, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def spread(work: Callable[[str], T], names: Sequence[str], processes: int) -> list[T]:
    """What comes of each, in their order; of several processes each takes the next one when it is done."""
    os.environ.update(ONE_THREAD)
    if processes == 1:
        return list(map(work, names))
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return list(pool.map(work, names))


async def run(job: Job, asker: Asker, file: Path) -> None:
    """Asks what is not in the file yet."""
    began = time.monotonic()
    print(line(file, await runner.run(job, asker, file), time.monotonic() - began), flush=True)


def line(file: Path, records: Sequence[QuestionRecord], seconds: float) -> str:
    """How a run went."""
    hits = mean(score(record).hits_at_1 for record in records)
    return f"{file.stem}: {len(records)} questions, {seconds:.1f} s, Hits@1 {hits:.3f}"


def kept(made: Kept, cells: Sequence[Cells], *, write: bool) -> None:
    """Reports the results, and keeps them in eval/results/ where that is wanted: there without the list of questions."""
    read = {file.name: results.read(file) for one in cells for file in one.files}
    notes = [note for one in cells for note in one.notes]
    found = benchmark_report.report(list(read.values()), made.title, notes=[*made.notes, *notes])
    print(*benchmark_report.write(found, made.out / "report.html"))
    if write:
        for file, result in read.items():
            results.save(result, FOLDER / "results" / made.name / f"{file}.gz")
        _draw(found, FOLDER / "results" / made.name)


def _draw(made: BenchmarkReport, folder: Path) -> None:
    """The tables, and each plot as a file."""
    plots = [plot for section in made.sections for plot in section.plots]
    shown = [f"![{title}]({_file(title)})\n" for title, _ in plots]
    (folder / "report.md").write_text("\n".join([benchmark_report.as_markdown(made), *shown]), encoding="utf-8")
    for title, svg in plots:
        (folder / _file(title)).write_text(svg, encoding="utf-8")


def _file(title: str) -> str:
    return f"{PLAIN.sub('-', title)}.svg"
