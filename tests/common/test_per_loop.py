"""What belongs to an event loop."""

import asyncio

from fedkg.common.per_loop import PerLoop


def test_a_loop_has_a_value_of_its_own() -> None:
    """Within one loop it is always the same, in another one another; a closed loop's is dropped."""
    locks = PerLoop(asyncio.Lock)

    async def twice() -> tuple[asyncio.Lock, asyncio.Lock]:
        return locks.here(), locks.here()

    first, again = asyncio.run(twice())
    other, _ = asyncio.run(twice())
    assert first is again
    assert first is not other
    assert len(locks) == 1


def test_a_value_can_be_taken_out_to_be_closed() -> None:
    """Once; the next use makes a new one."""
    locks = PerLoop(asyncio.Lock)

    async def taken() -> tuple[asyncio.Lock | None, asyncio.Lock | None, asyncio.Lock]:
        lock = locks.here()
        assert locks.pop() is lock
        return lock, locks.pop(), locks.here()

    lock, again, later = asyncio.run(taken())
    assert again is None
    assert later is not lock
