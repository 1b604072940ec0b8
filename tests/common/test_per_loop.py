"""What belongs to an event loop."""

import asyncio

from fedkg.common.per_loop import PerLoop


def test_a_loop_has_a_value_of_its_own() -> None:
    """Within one loop it is always the same, in another one another; a closed loop's is dropped."""
    locks = PerLoop(asyncio.Lock)

    async def twice() -> tuple[asyncio.Lock, asyncio.Lock]:
        return locks.here(), locks.here()

    one, again = asyncio.run(twice())
    other, _ = asyncio.run(twice())
    assert one is again
    assert one is not other
    assert len(locks) == 1
