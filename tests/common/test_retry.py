import asyncio
import logging
from collections.abc import Callable, Iterator

import pytest
import stamina

from fedkg.common.retry import LONGEST, RetryAttempt, retrying
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
    for attempt in stamina.retry_context(on=OSError, attempts=2):
        with attempt:
            if attempt.num == 1:
                raise OSError("disk")
    assert {record.name for record in caplog.records} == {"stamina"}


@pytest.mark.parametrize(("worth", "shortest", "longest"), [(True, 0.1, 1.1), (0.25, 0.25, 0.25), (0.0, 0.0, 0.0)])
def test_how_long_is_waited(worth: bool | float, shortest: float, longest: float) -> None:
    """As the exception asks for, or a little at first."""
    attempt = RetryAttempt(1, lambda _: worth, last=False)
    with attempt:
        raise UnreachableError("down")
    assert attempt.wait is not None
    assert shortest <= attempt.wait <= longest


@pytest.mark.parametrize("number", [1, 2, 3, 4, 7, 2_000])
def test_waits_grow_to_a_bound(number: int) -> None:
    """However often it was tried."""
    attempt = RetryAttempt(number, lambda _: True, last=False)
    with attempt:
        raise UnreachableError("down")
    assert attempt.wait is not None
    assert min(LONGEST, 0.1 * 2.0 ** (min(number, 9) - 1)) <= attempt.wait <= LONGEST


async def test_what_ends_the_program_is_not_tried_again() -> None:
    """A cancelled attempt is the last, whatever is worth it."""
    attempt = RetryAttempt(1, lambda _: True, last=False)
    with pytest.raises(asyncio.CancelledError), attempt:
        raise asyncio.CancelledError
    assert attempt.wait is None
