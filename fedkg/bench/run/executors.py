"""Where the questions of a run are asked: in this process, or in those of a Ray cluster. The records are the same."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import aclosing
from itertools import islice
from typing import Any, Protocol

from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.asking import AskingTask, asked
from fedkg.bench.run.record import QuestionRecord
from fedkg.errors import EndpointError
from fedkg.llm.ledger import Account
from fedkg.session import Session

__all__ = ["Executor", "InProcess", "flowing", "together"]


class Executor(Protocol):
    """Asks questions, several at a time, and gives their records as they finish.

    One that is asked for the records of several runs spends the budget of the whole run (`run`) once, in all of them
    together.
    """

    def records(self, work: AskingTask, questions: Sequence[BenchmarkQuestion]) -> AsyncGenerator[QuestionRecord, None]:
        """The records, until all are asked or the budget of the run is spent.

        Raises InputError where no session can be opened.
        """
        ...


class InProcess:
    """Asks in this process, `concurrency` questions at a time, in one session for each run.

    `transcript` is the file of one.
    """

    def __init__(self, concurrency: int = 1, transcript: str | None = None) -> None:
        self._concurrency = concurrency
        self._transcript = transcript
        self._account: Account | None = None

    async def records(
        self, work: AskingTask, questions: Sequence[BenchmarkQuestion]
    ) -> AsyncGenerator[QuestionRecord, None]:
        """The records as they finish."""
        self._account = self._account or Account(work.settings.total_budget)
        async with (
            Session(settings=work.settings, account=self._account, transcript=self._transcript) as session,
            aclosing(together(session, work, questions, self._concurrency)) as records,
        ):
            async for record in records:
                yield record


async def together(
    session: Session, work: AskingTask, questions: Sequence[BenchmarkQuestion], width: int
) -> AsyncGenerator[QuestionRecord, None]:
    """The records of questions that one session is asked, `width` at a time, as they finish.

    Raises InputError where it cannot be connected.
    """
    if session.method.graph:
        await session.graph()
    await embedded(session)

    async def ask(question: BenchmarkQuestion) -> QuestionRecord | None:
        return None if session.spent else await asked(session, work, question)

    async with aclosing(flowing(ask, questions, width)) as records:
        async for record in records:
            yield record


async def embedded(session: Session) -> None:
    """Embeds the whole graph once, where the session's retriever makes its candidates of what is nearest in it.

    Raises EndpointError where an endpoint cannot list what it holds.
    """
    search = session.settings.search
    if search.retriever == "global" and not session.indexed:
        made = await session.index()
        for gap in made.missing:
            message = f"{gap.endpoint} cannot list {gap.asked}, and the retriever global needs all: {gap.reason}"
            raise EndpointError(message, endpoint=gap.endpoint)


async def flowing(
    ask: Callable[[BenchmarkQuestion], Coroutine[Any, Any, QuestionRecord | None]],
    questions: Iterable[BenchmarkQuestion],
    width: int,
) -> AsyncGenerator[QuestionRecord, None]:
    """What `ask` makes of the questions, at most `width` at a time, as they finish.

    None, where nothing is left to spend, ends it. What `ask` raises is raised, after what finished at the same time.
    """
    left = iter(questions)
    running = {asyncio.create_task(ask(question)) for question in islice(left, width)}
    try:
        while running:
            finished, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(finished, key=_raised):
                if record := task.result():
                    yield record
                    running |= {asyncio.create_task(ask(question)) for question in islice(left, 1)}
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _raised(task: asyncio.Task[QuestionRecord | None]) -> bool:
    return task.cancelled() or task.exception() is not None
