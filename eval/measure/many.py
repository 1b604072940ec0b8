"""Many questions at once through one session: 1, 16 and 64 at a time, cold and warm, over HTTP 100 ms away.

PathQuestion's questions of three hops with the model `local`, MiniLM and a cache on disk, over an Oxigraph server
behind a relay that holds each request back. Each width is a process of its own, so that its memory is its own, with
questions of its own, so that nothing is known before. Warm: the same questions again, of the same session. The
endpoint is asked four requests at a time, as any that is not known, and sixteen, as one's own may be; paced: with at
most twenty requests a second. Fairness: a question beside one that wants a hundred requests at once, against a question
alone.
"""

import asyncio
import contextlib
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unittest import mock

from eval.measure.session_memory import resident
from eval.support.distance import distant
from eval.support.engines import oxigraph
from eval.support.report import Report, options, require
from fedkg.bench.data import loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.common.concurrency import concurrently
from fedkg.core.answer import Answer
from fedkg.core.meter import Meter
from fedkg.core.terms import Iri
from fedkg.embed.base import Similarity
from fedkg.session import Session

QUESTIONS, GRAPH = "pathquestion-3h.jsonl", "freebase-pathquestion.nt.gz"
SECONDS = 0.1
WIDTHS, ASKED = (1, 16, 64), 64
HOPS, SHORT, HUB = 3, 10, 100
PACE = 0.05
PROFILES = {"generic": (4, 0.0), "own": (16, 0.0), "paced": (4, PACE)}
"""Requests at once, and seconds from one to the next."""
T = TypeVar("T")
FRESH = multiprocessing.get_context("spawn")


def main() -> None:
    """Measures all widths, and fairness."""
    parser = options(__doc__ or "")
    parser.add_argument("--asked", type=int, default=ASKED, help="questions of each width")
    chosen = parser.parse_args()
    require(chosen.data, QUESTIONS, GRAPH)
    report = Report("many", write=chosen.write)
    report.add("questions of each width", str(chosen.asked))
    file = chosen.data / QUESTIONS
    with oxigraph([chosen.data / GRAPH]) as url, distant(url, SECONDS) as far, profiles(far.url) as folder:
        runs = [("generic", width) for width in WIDTHS] + [("own", width) for width in WIDTHS[1:]]
        for place, (name, width) in enumerate(runs):
            figures = fresh(at_width, Place(folder, name), file, (place * chosen.asked, chosen.asked), width)
            requests = PROFILES[name][0]
            report.add(f"{width} at a time, {requests} requests at once", figures)
        paced = fresh(at_width, Place(folder, "paced"), file, (len(runs) * chosen.asked, WIDTHS[1]), WIDTHS[1])
        report.add(f"{WIDTHS[1]} at a time, {1 / PACE:g} requests a second at most", paced)
        report.add("fairness", fresh(fairness, Place(folder, "generic"), file))
    report.close()


class Place(NamedTuple):
    """An endpoint: a folder of profiles, and the name of one."""

    folder: str
    name: str

    def session(self, cache: str = "", **options: Any) -> Session:
        """A session that knows nothing, with a cache in a folder, or in memory only."""
        kept: dict[str, Any] = {"cache_dir": cache} if cache else {"cache": False}
        return Session(self.name, profiles_dir=self.folder, depth=HOPS, **kept, **options)


@contextlib.contextmanager
def profiles(url: str) -> Iterator[str]:
    """A folder with the profiles of the endpoint."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (requests, interval) in PROFILES.items():
            limits = f"[limits]\nconcurrency = {requests}\ninterval = {interval}\n"
            text = f'urls = ["{url}"]\nengine = "oxigraph"\nlike = "freebase"\n{limits}'
            (Path(folder) / f"{name}.toml").write_text(text)
        yield folder


def fresh(work: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """What the work returns in a new process."""
    with ProcessPoolExecutor(1, FRESH) as pool:
        return pool.submit(work, *arguments).result()


def at_width(place: Place, file: Path, part: tuple[int, int], width: int) -> dict[str, Any]:
    """Throughput, times and memory of so many questions from that one on, so many at a time, cold and then warm."""
    first, number = part
    return asyncio.run(_at_width(place, loaders.questions(file, first + number)[first:], width))


async def _at_width(place: Place, asked: Sequence[BenchmarkQuestion], width: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        async with place.session(folder) as session:
            await session.similarity.scores("a model that is loaded", ["is no question's work"])
            before = resident()
            cold, answers = await flow(session, asked, width)
            warm, again = await flow(session, asked, width)
    same = [_values(answer) for answer in answers] == [_values(answer) for answer in again]
    return {"cold": cold, "warm": warm, "same answers": same, "memory before, MB": before, "memory, MB": resident()}


async def flow(
    session: Session, asked: Sequence[BenchmarkQuestion], width: int
) -> tuple[dict[str, float], list[Answer]]:
    """Questions a second and how long each took, `width` at a time, and the answers."""
    left = list(enumerate(asked))[::-1]
    taken: list[float] = []
    answers: dict[int, Answer] = {}

    async def work() -> None:
        while left:
            number, question = left.pop()
            seconds, answers[number] = await _timed(_ask(session, question))
            taken.append(seconds)

    began, busy, before = time.perf_counter(), time.process_time(), session.meter.usage().requests
    async with asyncio.TaskGroup() as group:
        for _ in range(width):
            group.create_task(work())
    wall, busy = time.perf_counter() - began, time.process_time() - busy
    ordered = sorted(taken)
    return {
        "questions a second": round(len(asked) / wall, 2),
        "requests": (requests := session.meter.usage().requests - before),
        "requests a second": round(requests / wall, 1),
        "p50, s": round(statistics.median(ordered), 3),
        "p99, s": round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 3),
        "processor, s a question": round(busy / len(asked), 3),
    }, [answers[number] for number in sorted(answers)]


def fairness(place: Place, file: Path) -> dict[str, Any]:
    """How long questions take alone, and each beside another that wants a hundred requests at once.

    Those that wait have their turns by question; for comparison in the order in which they came.
    """
    return asyncio.run(_fairness(place, loaders.questions(file, HUB + 3 * SHORT)))


async def _fairness(place: Place, asked: Sequence[BenchmarkQuestion]) -> dict[str, Any]:
    crowd, parts = asked[:HUB], [asked[HUB + SHORT * part :][:SHORT] for part in range(3)]
    async with place.session() as model:
        await model.similarity.scores("a model that is loaded", ["is no question's work"])
        alone = [await _beside(place, model.similarity, question, ()) for question in parts[0]]
        beside = [await _beside(place, model.similarity, question, crowd) for question in parts[1]]
        with mock.patch("fedkg.transport.client.asker", return_value=None):  # as if all requests were one question's
            behind = [await _beside(place, model.similarity, question, crowd) for question in parts[2]]
    return {
        "alone, median s": round(statistics.median(alone), 3),
        "beside, median s": round(statistics.median(beside), 3),
        "beside, longest s": round(max(beside), 3),
        "beside, in order of arrival, median s": round(statistics.median(behind), 3),
    }


async def _beside(
    place: Place, similarity: Similarity, question: BenchmarkQuestion, crowd: Sequence[BenchmarkQuestion]
) -> float:
    """The seconds of the question, in a session that knows nothing, just after the crowd's requests have begun."""
    async with place.session(similarity=similarity) as session, asyncio.TaskGroup() as group:
        await session.graph()
        group.create_task(_many(session, crowd))
        await asyncio.sleep(0)
        return (await _timed(_ask(session, question)))[0]


async def _many(session: Session, crowd: Sequence[BenchmarkQuestion]) -> None:
    """The requests of one question, all at once."""
    graph = await session.graph()
    topics = {question.topic_entities[0].iri for question in crowd}
    with Meter().own():
        await concurrently(*(graph.neighbours([Iri(topic)], "out") for topic in topics))


async def _ask(session: Session, question: BenchmarkQuestion) -> Answer:
    return await session.ask(question.question, [topic.iri for topic in question.topic_entities])


async def _timed(work: Awaitable[T]) -> tuple[float, T]:
    """Seconds, and the result."""
    began = time.perf_counter()
    result = await work
    return time.perf_counter() - began, result


def _values(answer: Answer) -> list[str]:
    return sorted(value.iri or value.value for value in answer.answers)


if __name__ == "__main__":
    main()
