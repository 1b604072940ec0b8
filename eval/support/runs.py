"""What tables and ablations share: their options, a line for each run, and the report of all results."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from eval.support.report import FOLDER, options
from fedkg.bench.report import benchmark_report
from fedkg.bench.run import results, runner
from fedkg.bench.run.executors import Executor
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import mean, score
from fedkg.errors import InputError

__all__ = [
    "ReportPlace",
    "Runs",
    "keep",
    "kept",
    "progress",
    "report",
    "report_again",
    "run",
    "run_options",
    "timed",
]

PROCESSES = 2


class Runs(NamedTuple):
    """The result files of some runs, and why others are missing."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


class ReportPlace(NamedTuple):
    """What a report is called, where in eval/results/ it is kept, and where it is written in any case."""

    name: str
    title: str
    out: Path
    notes: tuple[str, ...] = ()


def run_options(about: str, out: Path, limit: int) -> argparse.ArgumentParser:
    """The options that both have: tables and ablations."""
    parser = options(about)
    parser.add_argument("--out", type=Path, default=out, help="folder of the unfinished results, and of the page")
    parser.add_argument("--limit", type=int, default=limit, help="questions of each benchmark")
    parser.add_argument("--embedder", default="minilm", help="what compares texts, where nothing else is said")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    return parser


@contextmanager
def timed() -> Iterator[None]:
    """Prints at the end how long it took; what is wrong with the input ends the program with a message."""
    began = time.monotonic()
    try:
        yield
    except InputError as error:
        sys.exit(str(error))
    print(f"{(time.monotonic() - began) / 60:.1f} minutes, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


async def run(job: Job, executor: Executor, file: Path) -> None:
    """Asks what is not in the file yet."""
    began = time.monotonic()
    print(progress(file, await runner.run(job, executor, file), time.monotonic() - began), flush=True)


def progress(file: Path, records: Sequence[QuestionRecord], seconds: float) -> str:
    """How a run went."""
    hits = mean(score(record).hits_at_1 for record in records)
    return f"{file.stem}: {len(records)} questions, {seconds:.1f} s, Hits@1 {hits:.3f}"


def report(place: ReportPlace, groups: Sequence[Runs], *, write: bool) -> None:
    """Reports the results, and keeps them in eval/results/ where wanted: there without the list of questions."""
    read = {file.name: results.read(file) for runs in groups for file in runs.files}
    notes = [*place.notes, *(note for runs in groups for note in runs.notes)]
    made = benchmark_report.report(list(read.values()), place.title, notes=notes)
    print(*benchmark_report.write(made, place.out / "report.html"))
    if write:
        folder = FOLDER / "results" / place.name
        for file, result in read.items():
            results.save(result, folder / f"{file}.gz")
        benchmark_report.write_folder(made, folder)


def report_again(place: ReportPlace, read: Sequence[BenchmarkResult]) -> None:
    """Reports results that are kept in eval/results/ anew, there."""
    made = benchmark_report.report(read, place.title, notes=place.notes)
    benchmark_report.write_folder(made, FOLDER / "results" / place.name)


def kept(name: str) -> dict[str, BenchmarkResult]:
    """The results of that name in eval/results/, by their files' names without their endings."""
    files = sorted((FOLDER / "results" / name).glob("*.jsonl.gz"))
    return {file.name.removesuffix(".jsonl.gz"): results.read(file) for file in files}


def keep(name: str, command: str, figures: Mapping[str, Any]) -> None:
    """Keeps the figures of result files beside these: the same ones make the same file."""
    text = json.dumps({"measured": name, "command": command, "figures": figures}, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / "results" / f"{name}.json").write_text(text, encoding="utf-8")
