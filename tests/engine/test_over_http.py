"""The same questions over HTTP and in process: the same answers, few requests cold, none warm."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from fedkg.bench.data import loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.core.answer import Answer
from fedkg.session import Session

HOPS = 3


@pytest.fixture
def server(data: Path, oxigraph: Callable[..., AbstractContextManager[str]]) -> Iterator[str]:
    """A real Oxigraph server on loopback, read-only, with PathQuestion's graph; its URL."""
    with oxigraph([data / "freebase-pathquestion.nt.gz"]) as url:
        yield url


async def asked(endpoint: str, cache: Path, questions: list[BenchmarkQuestion]) -> list[Answer]:
    """The answers, with gold topic entities and three hops."""
    options: dict[str, Any] = {"embedder": "bm25", "cache_dir": str(cache), "search.depth": HOPS}
    async with Session(endpoint, **options) as session:
        return [await session.ask(q.question, [topic.iri for topic in q.topic_entities]) for q in questions]


def said(answers: list[Answer]) -> list[tuple[str, list[str]]]:
    """What counts of answers: status and values."""
    return [(answer.status, sorted(value.iri or value.value for value in answer.answers)) for answer in answers]


async def test_questions_get_the_same_answers_over_http_and_in_process(
    server: str, data: Path, tmp_path: Path, *, every_case: bool
) -> None:
    """How a graph is reached makes no difference: fifty questions with `--all`, else the first ten.

    Each hop costs two neighbour batches and a label batch, then nothing.
    """
    questions = [
        question
        for name in ("pathquestion-2h", "pathquestion-3h")
        for question in loaders.questions(data / f"{name}.jsonl", 25 if every_case else 5)
    ]
    over_http = await asked(f"freebase@{server}", tmp_path / "http", questions)
    in_process = await asked(f"freebase@{data / 'freebase-pathquestion.nt.gz'}", tmp_path / "file", questions)
    warm = await asked(f"freebase@{server}", tmp_path / "http", questions)
    assert said(over_http) == said(in_process) == said(warm)
    for answer in over_http:
        assert answer.usage.by_kind.get("neighbours", 0) <= 2 * HOPS
        assert answer.usage.by_kind.get("labels", 0) <= HOPS
    assert sum(answer.usage.requests for answer in over_http) > 0
    assert sum(answer.usage.requests for answer in warm) == 0
