"""`fedkg eval run`: benchmarks, question by question, into result files."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Metric
from fedkg.bench.run import provenance, runner
from fedkg.bench.run.executors import Executor, InProcess
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult, earlier
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import score
from fedkg.bench.scoring.summary import Summary, summary
from fedkg.cli import options
from fedkg.cli.answer import BUDGET_SPENT
from fedkg.cli.bar import bar
from fedkg.cli.connect import interruptible
from fedkg.cli.contact import contacted
from fedkg.cli.eval.price import confirm
from fedkg.cli.eval.score import show_summary
from fedkg.cli.show import console, counted, dollars, plain
from fedkg.core.answer import Status
from fedkg.core.encoding import encode
from fedkg.errors import DatasetError, SettingsError

__all__ = ["run"]

MOST_ERRORS = 3
FAILED = 3
"""Exit code where every question failed."""
DRAWN = ("data", "limit", "seed", "skip_bad", "retry_errors")
"""What options say to `runner.prepared` by the same names."""
WHERE = ("executor", "workers", "address", "concurrency", "transcript")
"""What they say of who asks."""


@click.command(cls=options.SectionedCommand)
@click.argument("names", metavar="BENCH...", nargs=-1, required=True)
@options.drawn("Benchmark")
@options.option(
    "Benchmark",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder of the result files.",
)
@options.option("Benchmark", "--retry-errors", is_flag=True, help="Ask again what an error has ended in --out.")
@options.option(
    "Benchmark", "--no-verify", is_flag=True, help="Do not ask the endpoint again for each edge of an answer."
)
@options.option(
    "Benchmark",
    "--executor",
    type=click.Choice(["here", "ray"]),
    default="here",
    help="This process, or a Ray cluster.",
)
@options.option(
    "Benchmark", "--workers", type=options.PARALLEL, default=2, show_default=True, help="Processes of a Ray cluster."
)
@options.option(
    "Benchmark", "--address", default="", metavar="HOST:PORT", help="A Ray cluster that runs; otherwise one is started."
)
@options.as_json
@options.transcript
@options.concurrency
@options.yes
@options.connection
@options.model
@options.search
@options.budget
@options.run_budget
def run(  # noqa: PLR0917  # click gives all of them by name
    names: tuple[str, ...],
    out: Path | None,
    no_verify: bool,
    yes: bool,
    as_json: bool,
    file: str | None,
    **flags: Any,
) -> int:
    """Run the benchmarks BENCH... and print their scores: names of `fedkg eval list`, FILE.toml, or custom:FILE.jsonl.

    The graph is the benchmark's own unless -e names an endpoint; topic entities are the gold ones unless the
    benchmark says otherwise. With --out each finished question is on disk in DIR/BENCH.jsonl before the next one
    counts: whatever ends a run, the same command goes on from there; with --retry-errors also with the questions that
    an error has ended, as of an endpoint that was down.

    Exit code 3: every question failed. Exit code 4: the budget of the whole run (--run-..., for all of BENCH...
    together) was spent; the questions that were asked until then are scored, the others are counted.

    With the model `local` --beam, --candidates and --alpha have no effect: it scores all candidates itself.
    """
    drawn, where = ({name: flags.pop(name) for name in group} for group in (DRAWN, WHERE))
    settings = contacted(options.settings(file, flags))
    options.warn_of_unheeded(settings, flags)
    benchmarks = [definitions.find(name) for name in dict.fromkeys(names)]
    jobs = [runner.prepared(settings, benchmark, verify=not no_verify, **drawn) for benchmark in benchmarks]
    started = list(zip(jobs, _files(jobs, out), strict=True))
    for job, place in started:
        _print_deviations(job)
        confirm(job.header.benchmark, [(job, place)], yes=yes)
    with interruptible(settings):
        summaries = _summaries(started, _asker(**where), show=not as_json)
    if as_json:
        click.echo(encode(summaries))
    return max(map(_exit_code, summaries))


def _summaries(jobs: Iterable[tuple[Job, Path | None]], asker: Executor, *, show: bool) -> list[Summary]:
    """The jobs one after the other, each shown as soon as it is done."""
    summaries = []
    for job, file in jobs:
        summaries.append(_run(job, asker, file))
        if show:
            show_summary(console(), summaries[-1])
    return summaries


def _files(jobs: Sequence[Job], out: Path | None) -> list[Path | None]:
    """Where the results go. Raises DatasetError, before anything is asked, where they cannot go there."""
    names = [job.header.benchmark for job in jobs]
    if len(set(names)) < len(names):
        raise DatasetError("two of the benchmarks have the same name", hint="run them one by one, or rename a file")
    if out is None:
        return [None] * len(jobs)
    files = [out / f"{name}.jsonl" for name in names]
    for file, job in zip(files, jobs, strict=True):
        earlier(file, job.header)
    return [*files]


def _asker(executor: str, workers: int, address: str, concurrency: int, transcript: str | None) -> Executor:
    """Raises SettingsError where Ray is not installed, or a transcript is wanted of calls that are made elsewhere."""
    if executor == "here":
        return InProcess(concurrency, transcript)
    if transcript:
        raise SettingsError("a transcript is written by this process only", hint="leave out --executor ray")
    try:
        from fedkg.bench.run.cluster import Cluster  # noqa: PLC0415  # an optional extra
    except ImportError as error:
        raise SettingsError("--executor ray needs fedkg's extra `ray`", hint="pip install 'fedkg[ray]'") from error
    return Cluster(workers, concurrency, address)


def _print_deviations(job: Job) -> None:
    """What is otherwise than one would think: questions that were left out, files that are not the published ones."""
    for bad in job.header.left_out:
        click.echo(f"left out: {plain(str(bad), 300)}", err=True)
    for name in provenance.deviating(job.header, job.work.definition):
        click.echo(f"note: {plain(name)} is not the file that the committed results were made from", err=True)


def _run(job: Job, executor: Executor, file: Path | None) -> Summary:
    header = job.header
    try:
        with bar(header.benchmark, header.questions) as shown:
            records = asyncio.run(runner.run(job, executor, file, _progress(shown, header.metric)))
    except KeyboardInterrupt as stop:
        kept = f"the finished questions are in {file}; the same command asks the others"
        stop.add_note(kept if file else "without --out no finished question is kept")
        raise
    _print_errors(records)
    if file and records:
        click.echo(f"results: {file}", err=True)
    return summary(BenchmarkResult(header, records))


def _progress(shown: Callable[[int, str], None], metric: Metric) -> Callable[[Sequence[QuestionRecord]], None]:
    """Shows how many are done, the benchmark's own measure of them, and what they cost."""
    total = price = 0.0
    seen = 0

    def on_record(records: Sequence[QuestionRecord]) -> None:
        nonlocal total, price, seen
        for record in records[seen:]:
            total += getattr(score(record), metric)
            price += record.usage.price or 0.0
        seen = len(records)
        shown(seen, f"{metric} {total / seen:.3f}" + (f", {dollars(price)}" if price else ""))

    return on_record


def _exit_code(scores: Summary) -> int:
    counts = scores.counts
    if counts.unasked or any(name.startswith("run ") for name in counts.spent):
        return BUDGET_SPENT
    return FAILED if counts.error + counts.failed == counts.questions else 0


def _print_errors(records: Sequence[QuestionRecord]) -> None:
    """Why questions failed, the most frequent reasons first; the file has them all."""
    often = Counter(
        record.error or "; ".join(record.warnings[-1:])
        for record in records
        if record.error or record.status == Status.FAILED
    )
    for reason, times in often.most_common(MOST_ERRORS):
        click.echo(f"{counted(times, 'question')} failed: {plain(reason, 300)}", err=True)
