"""Work under way is shared, nothing is kept, and nobody is left waiting for work that was given up."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from fedkg.common.single_flight import SingleFlight


class Work:
    """Doubles numbers, when it is let; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.gate = asyncio.Event()

    async def __call__(self, keys: Sequence[int]) -> dict[int, int]:
        """The doubles."""
        self.asked.append(list(keys))
        await self.gate.wait()
        if 13 in keys:
            raise ValueError("thirteen")
        return {key: 2 * key for key in keys}


async def started(*tasks: asyncio.Task[dict[int, int]]) -> None:
    """Lets the tasks run until they wait."""
    for _ in range(3 * len(tasks)):
        await asyncio.sleep(0)


async def test_the_same_work_is_done_once_at_a_time() -> None:
    """Two that want overlapping keys: each key is worked on once; later it is worked on again."""
    work = Work()
    flights = SingleFlight[int, int]()
    tasks = [asyncio.ensure_future(flights.get(keys, work)) for keys in ([1, 2, 1], [2, 3])]
    await started(*tasks)
    work.gate.set()
    assert await asyncio.gather(*tasks) == [{1: 2, 2: 4}, {2: 4, 3: 6}]
    assert work.asked == [[1, 2], [3]]
    assert await flights.get([2], work) == {2: 4}
    assert work.asked[2:] == [[2]]


async def test_who_waits_does_it_where_the_first_gave_up() -> None:
    """A cancelled question takes nobody with it."""
    work = Work()
    flights = SingleFlight[int, int]()
    first, second = (asyncio.ensure_future(flights.get([1], work)) for _ in range(2))
    await started(first, second)
    first.cancel()
    await started(first, second)
    work.gate.set()
    assert await second == {1: 2}
    assert first.cancelled()
    assert work.asked == [[1], [1]]


def test_each_event_loop_works_for_itself() -> None:
    """Who waits in one thread cannot wait for what another thread's loop has under way."""
    work = Work()
    flights, begun = SingleFlight[int, int](), threading.Event()

    async def hold() -> None:
        """Has the work under way while another loop wants the same."""
        task = asyncio.ensure_future(flights.get([1], work))
        await started(task)
        begun.set()
        await asyncio.to_thread(other.join, 5)
        work.gate.set()
        assert await task == {1: 2}

    async def want() -> None:
        """Wants it too, and does it."""
        await asyncio.to_thread(begun.wait, 5)
        mine = Work()
        mine.gate.set()
        values.update(await flights.get([1], mine))

    values: dict[int, int] = {}
    other = threading.Thread(target=lambda: asyncio.run(want()))
    other.start()
    asyncio.run(hold())
    assert values == {1: 2}


async def test_an_error_is_everybodys_own() -> None:
    """Who waited for work that failed fails by its own work, or not at all."""
    work = Work()
    flights = SingleFlight[int, int]()
    first, second = (asyncio.ensure_future(flights.get(keys, work)) for keys in ([1, 13], [1]))
    await started(first, second)
    work.gate.set()
    with pytest.raises(ValueError, match="thirteen"):
        await first
    assert await second == {1: 2}


async def test_a_waiter_that_gives_up_stops_nobody() -> None:
    """The work goes on for whoever began it."""
    work = Work()
    flights = SingleFlight[int, int]()
    first, second = (asyncio.ensure_future(flights.get([1], work)) for _ in range(2))
    await started(first, second)
    second.cancel()
    await started(first, second)
    work.gate.set()
    assert await first == {1: 2}
    assert work.asked == [[1]]


async def test_a_failed_result_is_only_whoever_s_it_is() -> None:
    """Those that waited for a result that is no good do the work again; a good one beside it they take."""
    work = Work()
    flights = SingleFlight[int, int](failed=lambda double: double == 2 and len(work.asked) == 1)
    tasks = [asyncio.ensure_future(flights.get(keys, work)) for keys in ([1, 2], [1, 2], [1])]
    await started(*tasks)
    work.gate.set()
    assert await asyncio.gather(*tasks) == [{1: 2, 2: 4}, {1: 2, 2: 4}, {1: 2}]
    assert work.asked == [[1, 2], [1], [1]]
