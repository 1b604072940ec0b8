"""What the bench costs beyond the asking, and how many questions a second it asks of a warm cache.

MetaQA's questions of one hop with the model `local`. Overhead: the same questions eight at a time, as a run that writes
its records and, in turns with it, through a bare session; and what of a run's time goes into the bench's own code.
Throughput: offline, from what a first run has kept, with MiniLM's vectors and with BM25, 1, 4 and 16 at a time, from
the first record to the last; the functions that take most of the processor's time. Other work on the machine changes
seconds of the clock; those of the processor it changes less.
"""

import asyncio
import cProfile
import pstats
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from eval.support.report import Report, options, require
from fedkg.bench.data import definitions
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run import asking, results, runner
from fedkg.bench.run.asking import topics
from fedkg.bench.run.executors import InProcess, flowing
from fedkg.bench.run.record import QuestionRecord, failed
from fedkg.bench.run.runner import Job
from fedkg.config.settings import load
from fedkg.session import Session

NAME = "metaqa-1hop"
QUESTIONS, ROUNDS, AT_ONCE = 300, 5, 8
TARGETS = {"overhead at concurrency 8": "under 2 %", "questions a second, warm": "at least 100 on 2 cores"}
TOP = 15


def main() -> None:
    """Measures both."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=QUESTIONS)
    parser.add_argument("--cache", type=Path, help="folder of a cache that stays, so that nothing is embedded twice")
    chosen = parser.parse_args()
    require(chosen.data, f"{NAME}-test.jsonl.gz", "metaqa.nt.gz")
    report = Report("bench", write=chosen.write)
    report.add("targets", TARGETS)
    report.add("questions", str(chosen.limit))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for embedder in ("bm25", "minilm"):
            asyncio.run(runner.run(prepared(chosen, place, embedder, "live"), InProcess(AT_ONCE)))
            warm = prepared(chosen, place, embedder, "offline")
            report.add(f"overhead, {embedder}", overhead(warm, place / embedder))
            report.add(f"throughput, {embedder}", {str(width): throughput(warm, width) for width in (1, 4, 16)})
            report.add(f"profile, {embedder}", profile(warm))
    report.close()


def prepared(chosen: Any, place: Path, embedder: str, mode: str) -> Job:
    """The run of these questions."""
    settings = load(flags={"embedder": embedder, "mode": mode, "cache_dir": str(chosen.cache or place / "cache")})
    return runner.prepared(settings, definitions.find(NAME), chosen.data, limit=chosen.limit, verify=False)


def overhead(job: Job, place: Path) -> dict[str, Any]:
    """Medians of the seconds of both ways, in turns, and the part of a run that is spent in the bench's own code."""
    place.mkdir()
    bare, whole, shares = [], [], []
    for number in range(ROUNDS):
        bare.append(timed(partial(bare_run, job)))
        with watched() as bench_seconds:
            whole.append(timed(partial(recorded_run, job, place / f"{number}.jsonl")))
        shares.append(bench_seconds() / whole[-1][0])
    wall, cpu = ([statistics.median(measured[at] for measured in way) for way in (bare, whole)] for at in (0, 1))
    return {
        "seconds, bare session": round(wall[0], 3),
        "seconds, run": round(wall[1], 3),
        "difference, %": round(100 * (wall[1] / wall[0] - 1), 2),
        "processor, bare session": round(cpu[0], 3),
        "processor, run": round(cpu[1], 3),
        "of the run's wall time in the bench's own code, %": round(100 * statistics.median(shares), 2),
    }


def recorded_run(job: Job, out: Path) -> None:
    """The run, with its result file."""
    asyncio.run(runner.run(job, InProcess(AT_ONCE), out))


def bare_run(job: Job) -> None:
    """The same questions through a session, as many at a time, without records."""
    asyncio.run(asked_only(job))


async def asked_only(job: Job) -> None:
    """Asks, and keeps nothing."""
    work = job.work
    async with Session(settings=work.settings) as session:

        async def ask(question: BenchmarkQuestion) -> QuestionRecord:
            kind = question.kind or work.definition.kind
            await session.ask(question.question, topics(work, question), kind=kind, options=question.options)
            return failed(question, RuntimeError())

        async for _ in flowing(ask, job.questions, AT_ONCE):
            pass


@contextmanager
def watched() -> Iterator[Callable[[], float]]:
    """Tells the seconds that were spent in what the bench does with a question and its record.

    Syncing happens beside the asking.
    """
    spent = [0.0]
    places: Sequence[tuple[Any, str]] = [(asking, "_record"), (asking.GoldTrace, "follow"), (results, "encode")]
    kept = [getattr(owner, name) for owner, name in places]

    def clocked(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            began = time.thread_time()
            try:
                return work(*given)
            finally:
                spent[0] += time.thread_time() - began

        return run

    for (owner, name), work in zip(places, kept, strict=True):
        setattr(owner, name, clocked(work))
    try:
        yield lambda: spent[0]
    finally:
        for (owner, name), work in zip(places, kept, strict=True):
            setattr(owner, name, work)


def throughput(job: Job, width: int) -> dict[str, float]:
    """Questions a second, of the clock and of the processor, from the first record to the last.

    The best of some rounds.
    """
    rates = []
    for _ in range(ROUNDS):
        times: list[tuple[float, float]] = []
        asyncio.run(runner.run(job, InProcess(width), None, partial(_note, times)))
        (wall, cpu), (wall_end, cpu_end) = times[0], times[-1]
        rates.append(((len(times) - 1) / (wall_end - wall), (len(times) - 1) / (cpu_end - cpu)))
    best, median = max(rates), statistics.median(rate[1] for rate in rates)
    return {"a second, best": round(best[0], 1), "a second of the processor, median": round(median, 1)}


def _note(times: list[tuple[float, float]], _records: object) -> None:
    times.append(now())


def profile(job: Job) -> list[str]:
    """The functions of the main thread that take most of its time, with their share."""
    profiler = cProfile.Profile(time.thread_time)
    profiler.runcall(asyncio.run, runner.run(job, InProcess(16)))
    entries = pstats.Stats(profiler).stats.items()  # type: ignore[attr-defined]  # it is there
    total = sum(seconds for _, (_, _, seconds, _, _) in entries)
    rows = sorted(((seconds, calls, name) for name, (_, calls, seconds, _, _) in entries), reverse=True)[:TOP]
    return [
        f"{100 * seconds / total:.1f} % {Path(file).name}:{name}, {calls} calls"
        for seconds, calls, (file, _, name) in rows
    ]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    before = now()
    work()
    return tuple(end - start for start, end in zip(before, now(), strict=True))  # type: ignore[return-value]


def now() -> tuple[float, float]:
    """The clock, and the processor's time of this process."""
    return time.perf_counter(), time.process_time()


if __name__ == "__main__":
    main()
