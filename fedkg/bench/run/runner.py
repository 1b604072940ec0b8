"""Runs a benchmark: what is asked, what an earlier start has left, and the records as they come.

The order in which questions finish is not that in which they are asked; a result file holds them as they finish.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from fedkg.bench.data import files, loaders
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run import provenance
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.executors import Executor
from fedkg.bench.run.record import Header, QuestionRecord
from fedkg.bench.run.results import ResultWriter, resumed
from fedkg.config.settings import Settings
from fedkg.errors import DatasetError
from fedkg.methods import registry

__all__ = ["Job", "prepared", "run", "with_graph"]

log = logging.getLogger(__name__)


class Job(msgspec.Struct, frozen=True):
    """A run as it will be: the header of its result file, the questions, and what asks them.

    With `retry_errors` what an error has ended in an earlier start is asked again.
    """

    header: Header
    questions: tuple[BenchmarkQuestion, ...]
    work: AskingTask
    retry_errors: bool = False


def prepared(
    settings: Settings,
    definition: Definition,
    data: Path | None,
    *,
    limit: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
    verify: bool = True,
    retry_errors: bool = False,
) -> Job:
    """The run of one benchmark with these settings; the graph is the benchmark's own where no endpoint is given.

    Raises InputError where benchmark, data or settings do not fit; with `skip_bad` questions that cannot be read are
    left out, and listed in the header.
    """
    settings = _settings(settings, definition, data)
    readable, left_out = loaders.read(definition, data, settings, skip_bad=skip_bad)
    questions = drawn(readable, limit, seed)
    header = provenance.header(settings, definition, data, limit, seed)
    header = msgspec.structs.replace(header, questions=len(questions), left_out=tuple(left_out), verified=verify)
    return Job(header, tuple(questions), AskingTask(settings, definition, verify), retry_errors)


async def run(
    job: Job,
    executor: Executor,
    out: Path | None = None,
    on_record: Callable[[Sequence[QuestionRecord]], None] = lambda _records: None,
) -> tuple[QuestionRecord, ...]:
    """The records of a run, those that an earlier start has left in `out` first.

    Each is in `out` before `on_record` gets all that there are. Where the budget of the run is spent no further
    question is asked. Raises InputError where the session cannot be opened, or `out` not be written.
    """
    if out is None:
        return await _asked(job, executor, (), None, on_record)
    with resumed(out, job.header, retry_errors=job.retry_errors) as (writer, done):
        return await _asked(job, executor, _known(job, done, out), writer, on_record)


def _known(job: Job, done: Sequence[QuestionRecord], out: Path) -> tuple[QuestionRecord, ...]:
    """The records of the run's own questions; a file that was edited may have others."""
    names = {question.id for question in job.questions}
    if unknown := [record.id for record in done if record.id not in names]:
        log.warning("%s: records of no question of the run do not count: %d, as %.100r", out, len(unknown), unknown[0])
    return tuple(record for record in done if record.id in names)


async def _asked(
    job: Job,
    executor: Executor,
    done: Sequence[QuestionRecord],
    writer: ResultWriter | None,
    on_record: Callable[[Sequence[QuestionRecord]], None],
) -> tuple[QuestionRecord, ...]:
    records, known = list(done), {record.id for record in done}
    open_ = [question for question in job.questions if question.id not in known]
    async with aclosing(executor.records(job.work, open_)) as finished:
        async for record in finished:
            if writer:
                await _kept(writer, record)
            records.append(record)
            on_record(records)
    return tuple(records)


async def _kept(writer: ResultWriter, record: QuestionRecord) -> None:
    """Writes the record while others are asked: a disk takes longer to sync than some questions.

    Who is interrupted waits for it.
    """
    writing = asyncio.ensure_future(asyncio.to_thread(writer.add, record))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await writing
        raise


def with_graph(settings: Settings, definition: Definition, data: Path | None) -> Settings:
    """The settings with the benchmark's own graph where no endpoint is given.

    Raises DatasetError where it is not there.
    """
    if settings.endpoints:
        return settings
    if not definition.graph:
        raise DatasetError(f"{definition.name} has no graph of its own", hint="name an endpoint with -e")
    graph = files.find(definition, definition.graph, data)
    return msgspec.structs.replace(settings, endpoints=(f"{definition.profile}@{graph}",))


def _settings(settings: Settings, definition: Definition, data: Path | None) -> Settings:
    """The settings with the benchmark's depth, and with model replies kept unless told not to be.

    Where no endpoint is given and the method asks one, it is the benchmark's graph.
    """
    search = msgspec.structs.replace(settings.search, depth=definition.depth)
    settings = msgspec.structs.replace(settings, search=search, replies=settings.replies is not False)
    return with_graph(settings, definition, data) if registry.find(settings.method).graph else settings
