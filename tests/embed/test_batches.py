"""Tests of batches that concurrent callers share."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.core.meter import Meter
from fedkg.embed import batches
from fedkg.embed.base import Matrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.errors import ModelReplyError
from fedkg.testing import HashingEmbedder


@pytest.fixture
def lazy(counting: Any) -> Iterator[LazySimilarity]:
    """A similarity over `counting`, which holds its first batch back."""
    counting.hold.clear()
    made = LazySimilarity(counting, MemoryStore())
    yield made
    counting.hold.set()
    made.close()


async def begun(lazy: LazySimilarity, counting: Any) -> "asyncio.Task[Matrix]":
    """A call whose batch the model is reading."""
    first = asyncio.create_task(lazy.vectors(["first"]))
    assert await asyncio.to_thread(counting.begun.wait, 10)
    return first


async def test_what_comes_meanwhile_is_one_batch(lazy: LazySimilarity, counting: Any) -> None:
    """While the model reads, the texts of eight callers gather, and each has its own rows, counted for its question."""
    first = await begun(lazy, counting)
    meters = [Meter() for _ in range(8)]

    async def ask(number: int) -> Matrix:
        with meters[number].own():
            return await lazy.vectors([f"text {number}", "shared"])

    calls = [asyncio.create_task(ask(number)) for number in range(8)]
    await asyncio.sleep(0)
    counting.hold.set()
    results = await asyncio.gather(first, *calls)
    assert counting.asked == [["first"], ["text 0", "shared", *(f"text {number}" for number in range(1, 8))]]
    for number, rows in enumerate(results[1:]):
        assert abs(rows - HashingEmbedder(64).embed([f"text {number}", "shared"])).max() < 1e-3
    assert [meter.usage().labels_embedded for meter in meters] == [2, *[1] * 7]


async def test_much_keeps_little_waiting_for_one_batch(
    lazy: LazySimilarity, counting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a caller with forty texts and one with two each has its share of the next batch."""
    monkeypatch.setattr(batches, "BATCH", 8)
    first = await begun(lazy, counting)
    ended: list[str] = []

    async def ask(name: str, texts: Sequence[str]) -> None:
        await lazy.vectors(texts)
        ended.append(name)

    hub = asyncio.create_task(ask("hub", [f"tail {number}" for number in range(40)]))
    await asyncio.sleep(0)
    short = asyncio.create_task(ask("short", ["born", "in"]))
    await asyncio.sleep(0)
    counting.hold.set()
    await asyncio.gather(first, hub, short)
    assert ended == ["short", "hub"]
    assert counting.asked[1] == ["tail 0", "tail 1", "tail 2", "tail 3", "born", "in"]
    assert max(map(len, counting.asked)) <= 8


async def test_an_error_is_that_of_its_own_texts(make_counting: Any) -> None:
    """A text that the model refuses fails the question that has it, and none that shared its batch."""

    class Refusing(make_counting):  # type: ignore[misc]  # a class from a fixture
        def embed(self, texts: Sequence[str]) -> Matrix:
            rows: Matrix = super().embed(texts)
            if "bad" in texts:
                raise ModelReplyError("refused")
            return rows

    embedder = Refusing()
    embedder.hold.clear()
    lazy = LazySimilarity(embedder, MemoryStore())
    first = await begun(lazy, embedder)
    calls = [asyncio.create_task(lazy.vectors([text])) for text in ("good", "bad", "fine")]
    await asyncio.sleep(0)
    embedder.hold.set()
    await first
    good, bad, fine = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(bad, ModelReplyError)
    assert isinstance(good, type(fine))
    assert not isinstance(good, BaseException)
    lazy.close()


async def test_who_gives_up_is_not_worked_for(lazy: LazySimilarity, counting: Any) -> None:
    """Texts of a question that was cancelled are not embedded."""
    first = await begun(lazy, counting)
    gone, kept = (asyncio.create_task(lazy.vectors([text])) for text in ("gone", "kept"))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    counting.hold.set()
    await asyncio.gather(first, kept)
    assert counting.asked == [["first"], ["kept"]]


async def test_closing_ends_who_waits(lazy: LazySimilarity, counting: Any) -> None:
    """Callers whose batch never begins are cancelled when the similarity is closed."""
    first = await begun(lazy, counting)
    waiting = asyncio.create_task(lazy.vectors(["later"]))
    await asyncio.sleep(0)
    lazy.close()
    counting.hold.set()
    results = await asyncio.gather(first, waiting, return_exceptions=True)
    assert isinstance(results[1], asyncio.CancelledError)
    assert counting.asked == [["first"]]
