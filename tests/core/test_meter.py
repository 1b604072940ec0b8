import asyncio

from hypothesis import given
from hypothesis import strategies as st

from fedkg.core.meter import Meter, count
from fedkg.core.usage import Usage


@given(st.lists(st.sampled_from(["edges", "labels", "search"])), st.integers(0, 5))
def test_what_is_new_and_what_was_before_make_the_whole(kinds: list[str], before: int) -> None:
    """`since` is the difference of two readings, kind by kind."""
    meter = Meter()
    readings = [meter.usage()]
    for kind in kinds:
        with meter.request(kind):
            meter.received(2)
        readings.append(meter.usage())
    early = readings[min(before, len(kinds))]
    new = meter.since(early)
    assert new.requests + early.requests == len(kinds) == sum(new.by_kind.values()) + sum(early.by_kind.values())
    assert new.bytes + early.bytes == 2 * len(kinds)
    assert 0 not in new.by_kind.values()


async def test_a_question_has_counts_of_its_own() -> None:
    """Of two questions at once each sees its own requests, hits and waves; the session sees all requests."""
    session = Meter()
    first, second = Meter(), Meter()
    both = asyncio.Barrier(2)

    async def fetch(kind: str) -> None:
        with session.request(kind):
            await both.wait()
            session.received(10)

    async def question(meter: Meter, kind: str, hits: int) -> None:
        with meter.own():
            count("cache_hits", hits)
            await asyncio.create_task(fetch(kind))

    await asyncio.gather(question(first, "edges", 3), question(second, "labels", 4))
    assert first.usage() == Usage(requests=1, round_trips=1, bytes=10, cache_hits=3, by_kind={"edges": 1})
    assert second.usage() == Usage(requests=1, round_trips=1, bytes=10, cache_hits=4, by_kind={"labels": 1})
    assert session.usage() == Usage(requests=2, round_trips=1, bytes=20, by_kind={"edges": 1, "labels": 1})


def test_a_question_of_the_sessions_own_meter_counts_once() -> None:
    """Where both meters are the same one, nothing is counted twice."""
    meter = Meter()
    with meter.own(), meter.request("edges"):
        meter.received(1)
    assert meter.usage() == Usage(requests=1, round_trips=1, bytes=1, by_kind={"edges": 1})


def test_without_a_question_nothing_is_counted_aside() -> None:
    """Hits outside a question belong to nobody, and end with the question."""
    meter = Meter()
    with meter.own():
        count("labels_embedded", 2)
    count("labels_embedded", 5)
    assert meter.usage().labels_embedded == 2
