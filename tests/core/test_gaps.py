"""What endpoints keep back is noted for the question that is being answered."""

import asyncio

from fedkg.core.gaps import miss, noted
from fedkg.core.usage import Gap

FIRST, SECOND = Gap("a", "2 labels", "down"), Gap("b", "1 label", "slow")


async def test_each_question_has_notes_of_its_own() -> None:
    """Two at once: what is missed in a task that one of them has started is noted for that one, each gap once."""
    both = asyncio.Barrier(2)

    async def fetch(gap: Gap) -> None:
        await both.wait()
        miss(gap)
        miss(gap)

    async def question(gap: Gap) -> list[Gap]:
        notes: dict[Gap, None] = {}
        with noted(notes):
            await asyncio.create_task(fetch(gap))
        return list(notes)

    assert list(await asyncio.gather(question(FIRST), question(SECOND))) == [[FIRST], [SECOND]]


def test_without_a_question_nothing_is_noted() -> None:
    """Whoever only looks things up gets no notes, and the last question's are closed."""
    notes: dict[Gap, None] = {}
    with noted(notes):
        miss(FIRST)
    miss(SECOND)
    assert list(notes) == [FIRST]
