"""How many questions a server answers at once."""

import asyncio

import pytest

from fedkg.errors import OverLimitError
from fedkg.serve.gate import Gate


async def hold(gate: Gate, go: asyncio.Event) -> None:
    """Has a turn until it may go."""
    async with gate.turn():
        await go.wait()


async def test_as_many_as_may_have_a_turn_and_the_next_ones_wait() -> None:
    """Two at once, one waits; the fourth is told when to come back."""
    gate, go = Gate(2, 1), asyncio.Event()
    holders = [asyncio.create_task(hold(gate, go)) for _ in range(3)]
    await asyncio.sleep(0)
    assert (gate.under_way, gate.waiting) == (2, 1)
    with pytest.raises(OverLimitError, match="too many questions") as caught:
        await hold(gate, go)
    assert caught.value.wait > 0
    go.set()
    await asyncio.wait(holders)
    assert (gate.under_way, gate.waiting) == (0, 0)


async def test_who_stops_waiting_is_counted_no_longer() -> None:
    """A client that goes away while it waits leaves its place to others."""
    gate, go = Gate(1, 1), asyncio.Event()
    holder, waiter = (asyncio.create_task(hold(gate, go)) for _ in range(2))
    await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.wait((waiter,))
    assert gate.waiting == 0
    go.set()
    await holder
    async with gate.turn():
        assert gate.under_way == 1


async def test_an_error_ends_the_turn() -> None:
    """A question that fails leaves its place."""
    gate = Gate(1, 0)
    with pytest.raises(ValueError, match="oops"):
        async with gate.turn():
            raise ValueError("oops")
    assert gate.under_way == 0


async def test_a_closed_gate_lets_nothing_through() -> None:
    """While the server ends, no question begins."""
    gate = Gate(1, 1)
    gate.closed = True
    with pytest.raises(OverLimitError, match="shutting down"):
        async with gate.turn():
            pytest.fail("it was let through")
