"""Tests of slots that are given in turns."""

import asyncio

import pytest

from fedkg.common.fair_slots import FairSlots


async def used(slots: FairSlots, owner: str, order: list[str]) -> None:
    """Has a slot for one turn of the loop, and notes whose it was."""
    async with slots.taken(owner):
        order.append(owner)
        await asyncio.sleep(0)


async def test_owners_have_their_turns() -> None:
    """Who asks for one slot behind another's ten has it second, whoever came first; one's own turns are in order."""
    slots, order = FairSlots(1), list[str]()
    many = [used(slots, "hub", order) for _ in range(10)]
    await asyncio.gather(*many, used(slots, "short", order), used(slots, "late", order))
    assert order == ["hub", "hub", "short", "late", *["hub"] * 8]


async def test_no_more_than_there_are() -> None:
    """Of three slots no more are taken at once, and all are free again in the end."""
    slots, most = FairSlots(3), 0
    taken = 0

    async def use(owner: int) -> None:
        nonlocal taken, most
        async with slots.taken(owner):
            taken += 1
            most = max(most, taken)
            await asyncio.sleep(0)
            taken -= 1

    await asyncio.gather(*(use(number % 4) for number in range(20)))
    assert most == 3
    async with asyncio.timeout(1), slots.taken("a"), slots.taken("b"), slots.taken("c"):
        pass


@pytest.mark.parametrize("granted", [False, True])
async def test_who_gives_up_leaves_the_slot(*, granted: bool) -> None:
    """A waiting owner that is cancelled, also in the moment of its turn, leaves the slot to the next one."""
    slots, order = FairSlots(1), list[str]()
    async with slots.taken("first"):
        waiting = asyncio.create_task(used(slots, "gone", order))
        after = asyncio.create_task(used(slots, "after", order))
        await asyncio.sleep(0)
        if not granted:
            waiting.cancel()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(1):
        await after
    assert order == ["after"]
