import logging
from collections.abc import Callable, Iterator

import pytest
import stamina

from fedkg.common.retry import retrying
from fedkg.errors import UnreachableError


@pytest.fixture(autouse=True)
def _no_waits() -> Iterator[None]:
    with stamina.set_testing(True, attempts=9, cap=True):
        yield


async def tried(error: Exception, attempts: int, on: Callable[[Exception], bool] = lambda _: True) -> int:
    """How often it was tried until the error was raised."""
    times = 0

    async def work() -> None:
        nonlocal times
        async for attempt in retrying(on, attempts):
            with attempt:
                times += 1
                raise error

    with pytest.raises(type(error)):
        await work()
    return times


async def test_it_is_tried_as_often_as_that() -> None:
    """The last attempt's exception is raised; what is not worth it is raised at once."""
    assert await tried(UnreachableError("down"), 3) == 3
    assert await tried(UnreachableError("down"), 3, lambda _: False) == 1


async def test_an_attempt_that_succeeds_is_the_last() -> None:
    """Nothing is tried again after that."""
    seen = []
    async for attempt in retrying(lambda _: True, 5):
        with attempt:
            seen.append(attempt.num)
            if attempt.num < 2:
                raise UnreachableError("down")
    assert seen == [1, 2]


async def test_our_retries_are_no_warning_and_others_are(caplog: pytest.LogCaptureFixture) -> None:
    """Daily business is not news; what the rest of the program tries again is its own affair."""
    caplog.set_level(logging.DEBUG, logger="stamina")
    await tried(UnreachableError("down"), 2)
    assert not caplog.records
    await tried(OSError("disk"), 2)
    assert {record.name for record in caplog.records} == {"stamina"}
