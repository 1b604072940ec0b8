"""Questions on a Ray cluster: workers in processes of their own, on as many machines as the cluster has.

Each worker has a session of its own, and its share of the endpoint's pace and of the run's budget. A worker that dies takes
the questions that it was asking along: each is a record with an error, and another worker starts in
its place, with the same share.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

import msgspec
import ray
from ray.exceptions import RayError

from fedkg.bench.asking import Work, asked
from fedkg.bench.datasets import Question
from fedkg.bench.executors import flowing
from fedkg.bench.record import Record, failed
from fedkg.errors import SettingsError
from fedkg.session import Session
from fedkg.settings import Budget, Settings

__all__ = ["Cluster"]


class Asker:
    """What runs in a worker's process: a session, opened with its first question."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._session = Session(settings=work.settings)

    async def ask(self, question: Question) -> Record | None:
        """The record of a question; None where nothing is left to spend."""
        return None if self._session.spent else await asked(self._session, self._work, question)

    async def close(self) -> None:
        """Closes the session."""
        await self._session.aclose()


class Cluster:
    """Asks on the Ray cluster at `address`, or on one that is started here, with `workers` that ask `concurrency` questions at a time."""

    def __init__(self, workers: int, concurrency: int = 1, address: str = "") -> None:
        self._workers = workers
        self._concurrency = concurrency
        self._address = address

    async def records(self, work: Work, questions: Sequence[Question]) -> AsyncGenerator[Record, None]:
        """The records as they finish. Raises SettingsError where the cluster cannot be reached."""
        share = msgspec.structs.replace(work, settings=_share(work.settings, self._workers))
        # the settings are checked here: in a worker a typing error would be as many errors as there are questions
        async with Session(settings=share.settings) as session:
            if session.method.graph:
                await session.graph()
        with _joined(self._address):
            workers = [Worker(share, self._concurrency) for _ in range(self._workers)]
            idle: asyncio.Queue[Worker] = asyncio.Queue()
            for worker in workers * self._concurrency:
                idle.put_nowait(worker)

            async def ask(question: Question) -> Record | None:
                worker = await idle.get()
                record = await worker.ask(question)
                if record:
                    idle.put_nowait(worker)
                return record

            async with contextlib.aclosing(flowing(ask, questions, self._workers * self._concurrency)) as records:
                async for record in records:
                    yield record
            await asyncio.gather(*(worker.close() for worker in workers))


class Worker:
    """The place of a worker: where its process is lost, another one starts in it."""

    def __init__(self, work: Work, concurrency: int) -> None:
        self._work = work
        self._concurrency = concurrency
        self._asker = self._started()

    async def ask(self, question: Question) -> Record | None:
        """The record of a question, an error where the process was lost with it; None where nothing is left to spend."""
        asker = self._asker
        try:
            record: Record | None = await asker.ask.remote(question)
        except RayError as error:  # whose words name machines and processes
            if self._asker is asker:
                self._asker = self._started()
            return failed(question, RuntimeError(f"the worker was lost ({type(error).__name__})"))
        return record

    async def close(self) -> None:
        """Closes the session; one that was lost has none."""
        with contextlib.suppress(RayError):
            await self._asker.close.remote()

    def _started(self) -> Any:
        options = {"max_concurrency": self._concurrency, "scheduling_strategy": "SPREAD"}
        return ray.remote(Asker).options(**options).remote(self._work)


@contextlib.contextmanager
def _joined(address: str) -> Iterator[None]:
    """Connected to the cluster; one that was started for it ends with it."""
    try:
        ray.init(address=address or "local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        hint = "--address is that of a cluster that runs, HOST:PORT; without it one is started here"
        raise SettingsError(f"the Ray cluster cannot be reached: {type(error).__name__}", hint=hint) from error
    try:
        yield
    finally:
        ray.shutdown()


def _share(settings: Settings, workers: int) -> Settings:
    """What one of the workers may do: together they keep the pace of the endpoints and the budget of the run.

    Raises SettingsError where there are more workers than calls or tokens.
    """
    run = settings.run
    if workers > min(run.calls or workers, run.tokens or workers):
        raise SettingsError(f"the budget of the run is too small for {workers} workers", hint="give fewer --workers")
    part = Budget(
        calls=run.calls and run.calls // workers,
        tokens=run.tokens and run.tokens // workers,
        money=run.money and run.money / workers,
        seconds=run.seconds,
    )
    return msgspec.structs.replace(settings, clients=settings.clients * workers, run=part)
