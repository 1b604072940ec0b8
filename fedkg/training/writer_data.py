"""What a writer of paths or plans is trained with: of each question one path, or plan, that leads to its answers.

The chain of relations is the one that the question set names, or else that of the shortest paths whose ends are most
like the answers (`chain_records`). A path of `gcr` is one walk along it to an answer. The words are those that a model
decodes with. All questions about one topic are on one side: trained on, or not.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.config.settings import Settings, masked
from fedkg.core import deadline
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import Term
from fedkg.core.training_card import TrainingData
from fedkg.engine.presentation import path_text, relation_candidate, safe, shown_terms
from fedkg.errors import FedkgError, InputError
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.shortest_paths import Bounds
from fedkg.reasoner import path_format
from fedkg.reasoner.path_format import Format
from fedkg.session import Session
from fedkg.training.chain_records import GoldWalk, gold_walk
from fedkg.training.examples import ExamplesRecord, Recipe, TrainingExample, answer_term, topic_iris
from fedkg.training.record_file import RecordFile
from fedkg.training.scorer_data import DataChoice, Progress, data_about, on_its_graph, split

__all__ = ["WriterData", "gold_example", "writer_data"]

WALKED_THROUGH = 200
"""Nodes of one step from which an example's path may go on."""


class WriterData(NamedTuple):
    """The examples of one set: those to train on, and those that are not."""

    trained: tuple[TrainingExample, ...]
    held_out: tuple[TrainingExample, ...]
    about: TrainingData


async def writer_data(
    settings: Settings,
    choice: DataChoice,
    form: Format,
    folder: Path,
    on_progress: Progress = lambda _what, _done, _all: None,
) -> list[WriterData]:
    """The examples of all sets, with what the folder has of an earlier run.

    Raises InputError where sets, files or settings do not fit, and EndpointError.
    """
    return [await _of_set(settings, choice, form, name, folder, on_progress) for name in choice.sets]


async def _of_set(  # noqa: PLR0917
    settings: Settings, choice: DataChoice, form: Format, name: str, folder: Path, on_progress: Progress
) -> WriterData:
    definition = definitions.find(name)
    settings = on_its_graph(settings, definition, choice.data)
    readable, _ = loaders.read(definition, choice.data, settings, skip_bad=choice.skip_bad)
    sides = split(readable, choice)
    recipe = Recipe(definition.name, form, min(choice.hops, definition.depth), choice.frontier, 0.0)
    log = RecordFile(folder / f"{definition.name}.jsonl", ExamplesRecord, recipe).open()
    async with Session(settings=settings) as session:
        graph = await session.graph()
        asked = [question for side in sides for question in side if question.id not in log.done]
        for number, question in enumerate(asked):
            on_progress(definition.name, number, len(asked))
            record = await gold_example(graph, question, recipe, settings.budget.seconds)
            log.add(record)
            if not record.error:
                log.done[record.id] = record
    examples = [
        tuple(example for question in side if question.id in log.done for example in log.done[question.id].examples)
        for side in sides
    ]
    endpoints = tuple(map(masked, settings.endpoints))
    about = data_about(definition, endpoints, (len(examples[0]), len(examples[1])), sum(map(len, sides)))
    return WriterData(examples[0], examples[1], about)


async def gold_example(
    graph: Graph, question: BenchmarkQuestion, recipe: Recipe, seconds: float | None
) -> ExamplesRecord:
    """The question's record with one example, after at most so many seconds; whatever fails is its error."""
    record = ExamplesRecord(question.id, question.question, recipe)
    try:
        with deadline.within(seconds):
            example = await _example(ExploredGraph(graph), question, recipe)
            return msgspec.structs.replace(record, examples=(example,))
    except FedkgError as error:
        return msgspec.structs.replace(record, error=f"{type(error).__name__}: {error}")


async def _example(explored: ExploredGraph, question: BenchmarkQuestion, recipe: Recipe) -> TrainingExample:
    walk = await gold_walk(explored, question, Bounds(recipe.hops, recipe.frontier))
    path = await _walk_to_an_answer(explored, walk, [answer_term(gold) for gold in question.answers])
    topics = topic_iris(question)
    names = await explored.graph.labels({*topics, *shown_terms(path)})
    form: Format = "eperm" if recipe.format == "eperm" else "gcr"
    asked = path_format.prompt(form, question.question, [str(safe(names[topic])) for topic in topics])
    if form == "eperm":
        plan = " ".join(relation_candidate(0, relation, names).text for relation in path.chain)
        return TrainingExample(asked, path_format.plan(plan))
    return TrainingExample(asked, path_format.path(path_text(path, names), str(safe(names[path.tails[0]]))))


async def _walk_to_an_answer(explored: ExploredGraph, walk: GoldWalk, answers: Sequence[Term]) -> PartialPath:
    """One walk along the chain, over the known nodes. Raises InputError where none leads to an answer."""
    path = PartialPath(walk.topic)
    for place, relation in enumerate(walk.chain, 1):
        nodes = path.tails[:WALKED_THROUGH]
        await explored.fetch(nodes)
        known = set(walk.nodes[place : place + 1])
        edges = [edge for node in nodes for edge in explored.along(node, relation) if not known or edge.end in known]
        if not edges:
            raise InputError("the graph lacks the chain that leads to the answers")
        path = path.extend(Step(0, relation, tuple(edges)))
    right = explored.alike(answers)
    end = next((tail for tail in path.tails if tail in right), None)
    if end is None:
        raise InputError("the chain leads to no answer")
    return path.alone(end)
