"""Coroutines run for callers that are not asynchronous."""

import asyncio
import signal

import pytest

from fedkg.common.sync_runner import SyncRunner


def test_ctrl_c_leaves_no_event_loop_made_by_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes once the loop is whole, and ends the work."""
    making = asyncio.new_event_loop
    stages = []

    def interrupted() -> asyncio.AbstractEventLoop:
        signal.raise_signal(signal.SIGINT)
        stages.append("made")
        return making()

    async def work() -> None:
        stages.append("worked")

    monkeypatch.setattr("fedkg.common.sync_runner.asyncio.new_event_loop", interrupted)
    runner, coroutine = SyncRunner(), work()
    with pytest.raises(KeyboardInterrupt):
        runner.run(coroutine)
    coroutine.close()
    runner.close()
    assert stages == ["made"]


async def answer() -> int:
    """A coroutine."""
    return 42


def test_a_loop_is_kept_for_later_runs() -> None:
    """What was opened in it stays open."""
    runner = SyncRunner()
    loops = set()

    async def work() -> int:
        loops.add(asyncio.get_running_loop())
        return await answer()

    assert [runner.run(work()) for _ in range(3)] == [42, 42, 42]
    assert len(loops) == 1
    runner.close()
    assert next(iter(loops)).is_closed()
