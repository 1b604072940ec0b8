"""Work that its owner can end, and coroutines run from plain threads."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fedkg.common.in_flight import InFlight
from fedkg.common.lifecycle import Lifecycle
from fedkg.common.sync_runner import SyncRunner
from fedkg.errors import InputError, SessionClosedError


def closed() -> SessionClosedError:
    """What work ends with."""
    return SessionClosedError("closed")


async def forever(work: InFlight) -> None:
    """Work that does not end by itself."""
    async with work.one():
        await asyncio.sleep(60)


async def test_all_work_ends_and_none_begins() -> None:
    """Whoever waits inside gets the error; so does who comes later."""
    work = InFlight(closed)
    tasks = [asyncio.create_task(forever(work)) for _ in range(3)]
    await asyncio.sleep(0)
    await work.end(1)
    assert [type(error) for error in await asyncio.gather(*tasks, return_exceptions=True)] == [SessionClosedError] * 3
    with pytest.raises(SessionClosedError):
        await forever(work)


async def test_who_ends_the_work_is_not_ended() -> None:
    """Work may close its owner, and goes on to its end."""
    work = InFlight(closed)
    async with work.one():
        await work.end(1)
        await asyncio.sleep(0)
    assert work.ended


async def test_work_within_work_is_one() -> None:
    """Of one task the outer one counts; it ends once."""
    work = InFlight(closed)

    async def nested() -> None:
        async with work.one():
            await forever(work)

    task = asyncio.create_task(nested())
    await asyncio.sleep(0)
    await work.end(1)
    with pytest.raises(SessionClosedError):
        await task


async def test_a_cancelled_task_stays_cancelled() -> None:
    """Only what the owner ends becomes the owner's error, and errors before that stay what they are."""
    work = InFlight(closed)
    task = asyncio.create_task(forever(work))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(TimeoutError):
        async with work.one(), asyncio.timeout(0):
            await asyncio.sleep(1)


async def test_work_that_will_not_end_is_not_waited_for() -> None:
    """The owner closes all the same."""
    work = InFlight(closed)
    release = asyncio.Event()

    async def stubborn() -> None:
        async with work.one():
            try:
                await asyncio.sleep(60)
            finally:
                await release.wait()

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    started = time.monotonic()
    await work.end(0.05)
    assert time.monotonic() - started < 5
    assert not task.done()
    release.set()
    with pytest.raises(SessionClosedError):
        await task


def test_runs_at_once_have_loops_of_their_own() -> None:
    """One after the other they share a loop."""
    runner = SyncRunner()
    both = threading.Barrier(2)

    async def loop() -> asyncio.AbstractEventLoop:
        await asyncio.to_thread(both.wait, 20)
        return asyncio.get_running_loop()

    async def alone() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    with ThreadPoolExecutor(2) as pool:
        loops = list(pool.map(lambda _: runner.run(loop()), range(2)))
    assert loops[0] is not loops[1]
    assert runner.run(alone()) in loops
    runner.close()
    assert all(loop.is_closed() for loop in loops)


def test_closing_waits_for_no_thread() -> None:
    """What a thread of the loop is doing cannot be stopped."""
    runner, release = SyncRunner(), threading.Event()

    async def leaves_a_thread() -> None:
        _ = asyncio.get_running_loop().run_in_executor(None, release.wait, 20)

    runner.run(leaves_a_thread())
    started = time.monotonic()
    runner.close()
    assert time.monotonic() - started < 10
    release.set()


async def test_in_a_loop_nothing_is_run() -> None:
    """The coroutine is closed, and the error says what to do."""
    life = Lifecycle()
    with pytest.raises(InputError, match="running already") as caught:
        life.run(asyncio.sleep(0))
    assert "await" in caught.value.hint
    await life.aclose()
