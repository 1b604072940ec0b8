"""Runs a benchmark: every question through a session, scored, with what it cost."""

import importlib.metadata
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from fedkg.bench import datasets
from fedkg.bench.datasets import Definition, Question
from fedkg.bench.scores import Score, mean, score
from fedkg.errors import DatasetError, FedkgError, OfflineError
from fedkg.methods import registry
from fedkg.records import Answer, Usage, to_builtins
from fedkg.session import Session
from fedkg.settings import Settings, public

__all__ = ["Record", "Result", "Summary", "as_json", "run", "with_graph"]

VERSION = 1


class Record(msgspec.Struct, frozen=True):
    """One finished question: its answers, scores, cost, and how many of its shown edges the endpoint confirms.

    `templates` are version and digest of the wording of each call that was made, so that runs with different prompts can be
    told apart.
    """

    id: str
    question: str
    status: str
    answers: tuple[str, ...]
    gold: tuple[str, ...]
    score: Score
    edges: int
    valid_edges: int
    usage: Usage
    error: str = ""
    warnings: tuple[str, ...] = ()
    templates: dict[str, str] = {}


class Summary(msgspec.Struct, frozen=True):
    """Means over all questions that were asked, errors counted as wrong.

    `path_validity` is the share of shown edges that hold; None where no edge was shown. `tokens` in and out together and
    `price` in US dollars of one question, kept replies at what they cost at first; None where no price is known. `unasked`
    are the questions that the run's budget left no room for.
    """

    benchmark: str
    questions: int
    errors: int
    hits_at_1: float
    hit: float
    f1: float
    path_validity: float | None
    requests: float
    model_calls: float
    tokens: float
    price: float | None
    labels_embedded: float
    seconds: float
    unasked: int


class Result(msgspec.Struct, frozen=True):
    """What a run leaves: enough to compute every number of the summary again."""

    summary: Summary
    records: tuple[Record, ...]
    settings: dict[str, object]
    seed: int
    limit: int | None
    fedkg: str
    version: int = VERSION


async def run(
    settings: Settings,
    name: str,
    data: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    on_progress: Callable[[Sequence[Record], int], None] = lambda _records, _total: None,
) -> Result:
    """The result of one benchmark with these settings; the graph is the benchmark's own where one is asked, and none is given.

    Topic entities are the gold ones. `on_progress` is called with the finished records and their final number. Where the
    budget of the run is spent, no further question is asked. Raises InputError where benchmark, data or settings do not
    fit; a question that fails otherwise is a record with an error.
    """
    definition = datasets.find(name)
    asked = datasets.questions(data / definition.questions, limit, seed)
    settings = _settings(settings, definition, data)
    records: list[Record] = []
    async with Session(settings=settings) as session:
        if session.method.graph:
            await session.graph()
        for question in asked:
            if session.spent:
                break
            records.append(await _record(session, question))
            on_progress(records, len(asked))
    version = importlib.metadata.version("fedkg")
    return Result(_summary(name, records, len(asked)), tuple(records), public(settings), seed, limit, version)


def with_graph(settings: Settings, definition: Definition, data: Path) -> Settings:
    """The settings with the benchmark's own graph where no endpoint is given. Raises DatasetError where it is not there."""
    graph = data / definition.graph
    if not settings.endpoints and not graph.is_file():
        raise DatasetError(
            f"{graph}: there is no such file", hint="--data names the folder of question sets and graphs"
        )
    endpoints = settings.endpoints or (f"{definition.profile}@{graph}",)
    return msgspec.structs.replace(settings, endpoints=endpoints)


def _settings(settings: Settings, definition: Definition, data: Path) -> Settings:
    """The settings with the benchmark's depth, and with model replies kept unless told not to be.

    Where no endpoint is given and the method asks one, it is the benchmark's graph.
    """
    search = msgspec.structs.replace(settings.search, depth=definition.depth)
    settings = msgspec.structs.replace(settings, search=search, replies=settings.replies is not False)
    return with_graph(settings, definition, data) if registry.find(settings.method).graph else settings


async def _record(session: Session, question: Question) -> Record:
    answer: Answer | None = None
    error, confirmed, before = "", [], session.usage()
    try:
        answer = await session.ask(question.question, [topic.iri for topic in question.topic_entities])
        confirmed = await _confirmed(session, answer)
    except FedkgError as failure:
        error = f"{type(failure).__name__}: {failure}"
    return Record(
        id=question.id,
        question=question.question,
        status=answer.status if answer else "error",
        answers=tuple(value.iri or value.value for value in answer.answers) if answer else (),
        gold=tuple(item.key for item in question.answers),
        score=score(None if error else answer, question.answers),
        edges=len(confirmed),
        valid_edges=confirmed.count(True),
        usage=answer.usage if answer else session.usage().since(before),
        error=error,
        warnings=answer.warnings if answer else (),
        templates={call.call: call.template for call in answer.ledger} if answer else {},
    )


async def _confirmed(session: Session, answer: Answer) -> list[bool | None]:
    """Of each edge whether the endpoint confirms it; nothing where there is none, or no endpoint may be asked."""
    if not answer.paths:
        return []
    try:
        return [checked.holds for checked in await session.verify(answer)]
    except OfflineError:
        return []


def _summary(name: str, records: Sequence[Record], wanted: int) -> Summary:
    edges = sum(record.edges for record in records)
    return Summary(
        benchmark=name,
        questions=len(records),
        errors=sum(bool(record.error) for record in records),
        hits_at_1=mean(record.score.hits_at_1 for record in records),
        hit=mean(record.score.hit for record in records),
        f1=mean(record.score.f1 for record in records),
        path_validity=round(sum(record.valid_edges for record in records) / edges, 4) if edges else None,
        requests=mean(record.usage.requests for record in records),
        model_calls=mean(record.usage.model_calls for record in records),
        tokens=mean(record.usage.tokens_in + record.usage.tokens_out for record in records),
        price=_price([record.usage.price for record in records]),
        labels_embedded=mean(record.usage.labels_embedded for record in records),
        seconds=mean(record.usage.seconds for record in records),
        unasked=wanted - len(records),
    )


def _price(prices: Sequence[float | None]) -> float | None:
    known = [price for price in prices if price is not None]
    return round(sum(known) / len(known), 6) if known and len(known) == len(prices) else None


def as_json(result: Result) -> bytes:
    """The result as one JSON object, readable by people."""
    return msgspec.json.format(msgspec.json.encode(to_builtins(result)), indent=1)
