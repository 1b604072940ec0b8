"""Questions on a Ray cluster: workers in processes of their own, on as many machines as the cluster has.

Each worker has a session of its own, and its share of the endpoint's pace and of the run's budget. A worker that dies
takes the questions that it was asking along: each is a record with an error, and another worker starts in its place,
with what is left of its share.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
import ray
from ray.exceptions import RayError

from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.asking import AskingTask, asked
from fedkg.bench.run.executors import flowing
from fedkg.bench.run.record import QuestionRecord, failed
from fedkg.config.settings import Budget, Settings
from fedkg.errors import SettingsError
from fedkg.llm.ledger import Account, Spend
from fedkg.session import Session

__all__ = ["Cluster"]

SECONDS = 5.0
"""That a cluster has to answer in: Ray itself would try for minutes."""


class RayWorker:
    """What runs in a worker's process: a session, opened with its first question."""

    def __init__(self, work: AskingTask) -> None:
        self._work = work
        self._account = Account(work.settings.total_budget)
        self._session = Session(settings=work.settings, account=self._account)

    async def ask(self, question: BenchmarkQuestion) -> tuple[QuestionRecord | None, Spend]:
        """The record of a question, None where nothing is left to spend.

        And what all questions here have cost so far.
        """
        record = None if self._session.spent else await asked(self._session, self._work, question)
        return record, self._account.total

    async def close(self) -> Spend:
        """Closes the session; what all of its questions have cost."""
        await self._session.aclose()
        return self._account.total


class Cluster:
    """Asks on the Ray cluster at `address`, or on one that is started here.

    It has `workers` that ask `concurrency` questions at a time.
    """

    def __init__(self, workers: int, concurrency: int = 1, address: str = "") -> None:
        self._workers = workers
        self._concurrency = concurrency
        self._address = address
        self._account: Account | None = None

    async def records(
        self, work: AskingTask, questions: Sequence[BenchmarkQuestion]
    ) -> AsyncGenerator[QuestionRecord, None]:
        """The records as they finish. Raises SettingsError where the cluster cannot be reached."""
        self._account = account = self._account or Account(work.settings.total_budget)
        number = _enough(account, self._workers)
        share = msgspec.structs.replace(work, settings=_share(work.settings, account.rest, number))
        # the settings are checked here: in a worker a typing error would be as many errors as there are questions
        async with Session(settings=share.settings) as session:
            if session.method.graph:
                await session.graph()
        if account.spent:
            return
        with _joined(self._address):
            account.begin()
            workers = [WorkerSlot(share, self._concurrency) for _ in range(number)]
            idle: asyncio.Queue[WorkerSlot] = asyncio.Queue()
            for worker in workers * self._concurrency:
                idle.put_nowait(worker)

            async def ask(question: BenchmarkQuestion) -> QuestionRecord | None:
                worker = await idle.get()
                record = await worker.ask(question)
                if record:
                    idle.put_nowait(worker)
                return record

            async with contextlib.aclosing(flowing(ask, questions, number * self._concurrency)) as records:
                async for record in records:
                    yield record
            for spend in await asyncio.gather(*(worker.close() for worker in workers)):
                account.add(spend)


class WorkerSlot:
    """The place of a worker: where its process is lost, another one starts in it."""

    def __init__(self, work: AskingTask, concurrency: int) -> None:
        self._work = work
        self._concurrency = concurrency
        self._account = Account(work.settings.total_budget)
        self._account.begin()
        self._lost = Spend()
        self._asker = self._started()

    async def ask(self, question: BenchmarkQuestion) -> QuestionRecord | None:
        """The record of a question, an error where the process was lost with it.

        None where nothing is left to spend.
        """
        asker = self._asker
        try:
            reply: tuple[QuestionRecord | None, Spend] = await asker.ask.remote(question)
        except RayError as error:  # whose words name machines and processes
            if self._asker is asker:
                self._lost = self._account.total
                self._asker = self._started()
            return failed(question, RuntimeError(f"the worker was lost ({type(error).__name__})"))
        if self._asker is asker:
            self._account.total = self._lost + reply[1]
        return reply[0]

    async def close(self) -> Spend:
        """Closes the session, one that was lost has none.

        What all processes in this place have cost, as far as they have said.
        """
        with contextlib.suppress(RayError):
            self._account.total = self._lost + await self._asker.close.remote()
        return self._account.total

    def _started(self) -> Any:
        options = {"max_concurrency": self._concurrency, "scheduling_strategy": "SPREAD"}
        settings = msgspec.structs.replace(self._work.settings, total_budget=self._account.rest)
        return ray.remote(RayWorker).options(**options).remote(msgspec.structs.replace(self._work, settings=settings))


@contextlib.contextmanager
def _joined(address: str) -> Iterator[None]:
    """Connected to the cluster; one that was started for it ends with it."""
    try:
        _probe(address)
        ray.init(address=address or "local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        hint = "--address is that of a cluster that runs, HOST:PORT; without it one is started here"
        raise SettingsError(f"the Ray cluster cannot be reached: {type(error).__name__}", hint=hint) from error
    try:
        yield
    finally:
        ray.shutdown()


def _probe(address: str) -> None:
    """Nothing where somebody listens at HOST:PORT, or ray://HOST:PORT; other addresses Ray looks up.

    Raises OSError, ValueError.
    """
    where = urlsplit(address if "://" in address else f"//{address}")
    if where.hostname and where.port:
        socket.create_connection((where.hostname, where.port), SECONDS).close()


def _enough(account: Account, workers: int) -> int:
    """As many workers as there are calls and tokens left for.

    Raises SettingsError where that is too few from the beginning.
    """
    run, rest = account.budget, account.rest
    if workers > min(run.calls or workers, run.tokens or workers):
        raise SettingsError(f"the budget of the run is too small for {workers} workers", hint="give fewer --workers")
    return min(workers, rest.calls or workers, rest.tokens or workers)


def _share(settings: Settings, rest: Budget, workers: int) -> Settings:
    """What one worker may do: together they keep the pace of the endpoints, and spend no more than that rest."""
    part = Budget(
        calls=rest.calls and rest.calls // workers,
        tokens=rest.tokens and rest.tokens // workers,
        money=rest.money and rest.money / workers,
        seconds=rest.seconds,
    )
    return msgspec.structs.replace(settings, clients=settings.clients * workers, total_budget=part)
