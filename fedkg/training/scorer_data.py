"""The records that a scorer is trained with: those of question sets, and of questions made of an endpoint's relations.

They stand in the folder of the scorer, one file a set, so that a run that was interrupted asks nothing again.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run.runner import with_graph
from fedkg.config.settings import Settings, masked
from fedkg.core.training_card import TrainingData
from fedkg.errors import DatasetError
from fedkg.session import Session
from fedkg.training.chain_records import ChainRecipe, ChainRecord, chain_record
from fedkg.training.record_file import RecordFile
from fedkg.training.sampled_chains import ChainSampler
from fedkg.training.scorer_pairs import drawn_out

__all__ = [
    "DataChoice",
    "Progress",
    "QuestionData",
    "collected",
    "data_about",
    "graph_name",
    "on_its_graph",
    "split",
]

MADE = "made"
MOST_HELD_OUT = 40
"""Questions of one set that figures are taken from."""
Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and how much there is."""


class DataChoice(NamedTuple):
    """Which questions: `limit` of each set, drawn by `seed`; of the entities the share `held_out` is not trained on.

    `made`: so many questions are made of the relations of the endpoints of the settings. A set that has no graph of its
    own is asked there, too. `hops` and `frontier` are how far chains are searched, where the set names none.
    """

    sets: tuple[str, ...]
    made: int
    limit: int
    seed: int
    held_out: float
    hops: int
    frontier: int
    data: Path | None = None
    skip_bad: bool = False


class QuestionData(NamedTuple):
    """The records of one set: those to train on, and those that are not; `graph` tells whose relations they have.

    `settings` are those by which the graph is asked.
    """

    graph: str
    trained: tuple[ChainRecord, ...]
    held_out: tuple[ChainRecord, ...]
    about: TrainingData
    settings: Settings = Settings()


async def collected(
    settings: Settings, choice: DataChoice, folder: Path, on_progress: Progress = lambda _what, _done, _all: None
) -> list[QuestionData]:
    """The records of all sets, with what the folder has of an earlier run.

    Raises InputError where sets, files or settings do not fit, and EndpointError.
    """
    data = [await _of_set(settings, choice, name, folder, on_progress) for name in choice.sets]
    return [*data, *([await _made(settings, choice, folder, on_progress)] if choice.made else [])]


async def _of_set(
    settings: Settings, choice: DataChoice, name: str, folder: Path, on_progress: Progress
) -> QuestionData:
    definition = definitions.find(name)
    settings = on_its_graph(settings, definition, choice.data)
    readable, _ = loaders.read(definition, choice.data, settings, skip_bad=choice.skip_bad)
    trained, held_out = split(readable, choice)
    recipe = _recipe(name, settings, min(choice.hops, definition.depth), choice)
    log = RecordFile(folder / f"{definition.name}.jsonl", ChainRecord, recipe).open()
    async with Session(settings=settings) as session:
        graph = await session.graph()
        asked = [question for question in (*trained, *held_out) if question.id not in log.done]
        for number, question in enumerate(asked):
            on_progress(definition.name, number, len(asked))
            record = await chain_record(graph, question, recipe, settings.budget.seconds)
            log.add(record)
            if not record.error:
                log.done[record.id] = record
    sides = [
        tuple(log.done[question.id] for question in side if question.id in log.done) for side in (trained, held_out)
    ]
    endpoints = tuple(map(masked, settings.endpoints))
    about = data_about(definition, endpoints, (len(sides[0]), len(sides[1])), len(trained) + len(held_out))
    return QuestionData(graph_name(settings), sides[0], sides[1], about, settings)


def on_its_graph(settings: Settings, definition: Definition, data: Path | None) -> Settings:
    """The settings with the set's own graph, or with the endpoints that are given where it has none."""
    endpoints = () if definition.graph else settings.endpoints
    return with_graph(msgspec.structs.replace(settings, endpoints=endpoints), definition, data)


async def _made(settings: Settings, choice: DataChoice, folder: Path, on_progress: Progress) -> QuestionData:
    """Questions made of the relations of the endpoints. Raises DatasetError where none is given, or it has no edges."""
    if not settings.endpoints:
        raise DatasetError("questions are made of an endpoint's relations", hint="name it with -e")
    recipe = _recipe("", settings, choice.hops, choice)
    log = RecordFile(folder / f"{MADE}.jsonl", ChainRecord, recipe).open()
    if len(log.done) < choice.made:
        async with Session(settings=settings) as session:
            sampler = ChainSampler(await session.graph(), recipe, choice.seed)
            records = sampler.records(await session.entities(choice.made), choice.made)
            await _kept(records, log, choice.made, on_progress)
    made = list(log.done.values())[: choice.made]
    if not made:
        raise DatasetError("the endpoint returned no entity with edges, of which questions could be made")
    sides = [
        tuple(r for r in made if drawn_out(r.entity, choice.held_out, choice.seed) is out) for out in (False, True)
    ]
    endpoints = tuple(map(masked, settings.endpoints))
    title = "made of the endpoint's relations by templates"
    about = TrainingData("", title, endpoints, len(sides[0]), len(sides[1]))
    return QuestionData(graph_name(settings), sides[0], sides[1][:MOST_HELD_OUT], about, settings)


async def _kept(
    records: AsyncIterator[ChainRecord], log: RecordFile[ChainRecord], number: int, on_progress: Progress
) -> None:
    async for record in records:
        on_progress(MADE, len(log.done), number)
        if record.id not in log.done:
            log.add(record)
            log.done[record.id] = record


def graph_name(settings: Settings) -> str:
    """What graph the relations are of: sets of one graph are trained on together."""
    return " ".join(map(masked, settings.endpoints))


def split(
    questions: Sequence[BenchmarkQuestion], choice: DataChoice
) -> tuple[list[BenchmarkQuestion], list[BenchmarkQuestion]]:
    """Questions to train on and others: all about one topic entity are on one side."""
    sides: tuple[list[BenchmarkQuestion], list[BenchmarkQuestion]] = ([], [])
    for question in questions:
        if question.answers and not question.unanswerable:
            topic = question.topic_entities[0].key if question.topic_entities else question.id
            sides[drawn_out(topic, choice.held_out, choice.seed)].append(question)
    return drawn(sides[0], choice.limit, choice.seed), drawn(sides[1], MOST_HELD_OUT, choice.seed)


def _recipe(name: str, settings: Settings, hops: int, choice: DataChoice) -> ChainRecipe:
    return ChainRecipe(name, tuple(map(masked, settings.endpoints)), hops, choice.frontier)


def data_about(definition: Definition, endpoints: tuple[str, ...], sides: tuple[int, int], asked: int) -> TrainingData:
    """What a card tells of the set, of which so many questions are trained on and held out."""
    trained, held_out = sides
    return TrainingData(
        definition.name,
        definition.title,
        endpoints,
        trained,
        held_out,
        asked - trained - held_out,
        definition.source.licence,
        definition.source.cite,
    )
