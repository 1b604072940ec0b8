"""Questions in this process: several at a time, until nothing is left to spend."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.executors import InProcess, flowing
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.runner import Job
from fedkg.core.usage import Usage

MakeJob = Callable[..., Job]
ASKED = tuple(BenchmarkQuestion(str(number), "who?") for number in range(10))


def timeless(record: QuestionRecord) -> QuestionRecord:
    """The record without what it cost, which depends on what was asked at the same time."""
    return msgspec.structs.replace(record, usage=Usage())


async def records_of(job: Job, width: int) -> dict[str, QuestionRecord]:
    """The records of a run, by their questions."""
    return {record.id: timeless(record) async for record in InProcess(width).records(job.work, job.questions)}


async def test_as_many_at_a_time_as_wanted_give_the_same(kingdom: MakeJob) -> None:
    """Whatever is asked at the same time: the records are the same."""
    job = kingdom(6)
    alone, together = await records_of(job, 1), await records_of(job, 4)
    assert alone == together
    assert len(alone) == 6


@pytest.mark.parametrize("width", [1, 3, 20])
async def test_never_more_at_a_time_than_wanted(width: int) -> None:
    """As soon as one is finished the next one starts: the width is used as long as there are questions."""
    running, most = 0, 0

    async def ask(question: BenchmarkQuestion) -> QuestionRecord:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return QuestionRecord(id=question.id, question="", kind="entities", status="none")

    ids = [record.id async for record in flowing(ask, ASKED, width)]
    assert sorted(ids) == [question.id for question in ASKED]
    assert most == min(width, len(ASKED))


async def test_where_nothing_is_left_no_further_question_starts() -> None:
    """Those that run are finished, and count."""
    started: list[str] = []

    async def ask(question: BenchmarkQuestion) -> QuestionRecord | None:
        started.append(question.id)
        await asyncio.sleep(0)
        spent = len(started) > 4
        return None if spent else QuestionRecord(id=question.id, question="", kind="entities", status="none")

    ids = [record.id async for record in flowing(ask, ASKED, 2)]
    assert sorted(ids) == started[: len(ids)]
    assert len(started) <= len(ids) + 2 < len(ASKED)


async def test_what_finished_with_one_that_raised_is_not_lost() -> None:
    """In whatever order they are looked at: first the records, then the error."""
    ids: set[str] = set()

    async def ask(question: BenchmarkQuestion) -> QuestionRecord:
        if question.id == "3":
            raise KeyError(question.id)
        return QuestionRecord(id=question.id, question="", kind="entities", status="none")

    async def take() -> None:
        async for record in flowing(ask, ASKED[:8], 8):
            ids.add(record.id)

    with pytest.raises(KeyError):
        await take()
    assert ids == set("0124567")


async def test_who_stops_leaves_no_question_behind() -> None:
    """What runs when nobody wants further records is ended."""
    ended: list[str] = []

    async def ask(question: BenchmarkQuestion) -> QuestionRecord:
        try:
            await asyncio.sleep(0 if question.id == "0" else 60)
        finally:
            ended.append(question.id)
        return QuestionRecord(id=question.id, question="", kind="entities", status="none")

    records = flowing(ask, ASKED, 3)
    await anext(records)
    await records.aclose()
    assert sorted(ended) == ["0", "1", "2"]
