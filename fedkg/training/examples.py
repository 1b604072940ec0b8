"""Files to fine-tune models with: what connects the topics and answers of a question set, over any endpoint.

Nothing is trained. `gcr`: one example for each shortest path between a topic and an answer (Luo et al. 2024, section 7
and Figures 7 and 8).
`eperm`: one for each plan, the relations of such a path, that leads to answers often enough (Long et al. 2025, Eq. 5
and 6). Their words are those that a model decodes with (`fedkg.reasoner.path_format`). `eperm-answer`: one for each
question, all plans with their weights and the reply to the call `weighted-answer` over them (Eq. 7).

A file has one record a line and one line a question. It is only ever added to, so that a run can be ended and gone on
with.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import Bad, BenchmarkQuestion, Gold, drawn
from fedkg.bench.run.runner import with_graph
from fedkg.config.settings import Settings
from fedkg.core import deadline
from fedkg.core.choice import PromptCandidate
from fedkg.core.path import PartialPath
from fedkg.core.question import Plan
from fedkg.core.terms import Iri, Literal, Term
from fedkg.core.usage import Usage
from fedkg.engine.completion import complete
from fedkg.engine.presentation import path_candidate, path_text, relation_candidate, safe, shown_terms, weighted
from fedkg.errors import FedkgError, InputError
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.shortest_paths import Bounds, key, shortest
from fedkg.llm import hf
from fedkg.reasoner import path_format
from fedkg.reasoner.path_format import ExampleFormat, Format
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.session import Session
from fedkg.sparql.property_path import property_path
from fedkg.training.record_file import RecordFile

__all__ = [
    "Built",
    "ExamplesRecord",
    "Recipe",
    "Route",
    "TrainingExample",
    "answer_term",
    "build",
    "precision",
    "topic_iris",
]

Written = Callable[[PromptCandidate], str]
"""How a model of some form writes a path, or a relation."""


class Recipe(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a file is made of: the question set, how far is searched, and which plans are kept (Eq. 5 of EPERM, t).

    `prompts` is the folder whose files replace the bundled words ("" for none).
    """

    benchmark: str
    format: ExampleFormat
    hops: int
    frontier: int
    threshold: float
    prompts: str = ""


class Route(msgspec.Struct, frozen=True, omit_defaults=True):
    """A path to an `answer`, or a plan, from a topic on.

    `relations` are a SPARQL property path. Of a plan only: `precision` is the share of answers among all that it leads
    to (EPERM, Eq. 5), and `complete` whether that is known of all.
    """

    topic: str
    relations: str
    text: str
    answer: str = ""
    precision: float | None = None
    complete: bool | None = None


class TrainingExample(msgspec.Struct, frozen=True):
    """One example to train on."""

    prompt: str
    completion: str


class ExamplesRecord(msgspec.Struct, frozen=True):
    """One question: its examples, and all routes that were found, the plans that were not kept among them.

    `cut` says what was left out, so that there may be other routes. A question with an `error` has no examples, and is
    asked again when the file is gone on with: the last line of a question counts.
    """

    id: str
    question: str
    recipe: Recipe
    examples: tuple[TrainingExample, ...] = ()
    routes: tuple[Route, ...] = ()
    cut: tuple[str, ...] = ()
    error: str = ""


class Built(msgspec.Struct, frozen=True):
    """What a run has added to a file, and how many questions were in it already; `usage` is the cost of all of it.

    `left_out` are the questions of the set that could not be read.
    """

    records: tuple[ExamplesRecord, ...]
    kept: int
    usage: Usage
    seconds: float
    left_out: tuple[Bad, ...] = ()


async def build(
    settings: Settings,
    recipe: Recipe,
    data: Path | None,
    out: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    skip_bad: bool = False,
    on_progress: Callable[[Sequence[ExamplesRecord], int], None] = lambda _records, _total: None,
) -> Built:
    """Adds the records of those questions that are not in the file yet, each as soon as it is done.

    `on_progress` is called with the records of this run and their final number. A question that fails is a record with
    an error. Raises InputError where benchmark, data, file, prompts or settings do not fit.
    """
    definition = definitions.find(recipe.benchmark)
    PromptLibrary(recipe.prompts)  # a file of the user's own that cannot be used is told before anything is asked
    readable, left_out = loaders.read(definition, data, settings, skip_bad=skip_bad)
    questions = drawn(readable, limit, seed)
    settings = with_graph(settings, definition, data)
    log = RecordFile(out, ExamplesRecord, recipe).open()
    asked = [question for question in questions if question.id not in log.done]
    records: list[ExamplesRecord] = []
    started = time.monotonic()
    async with Session(settings=settings) as session:
        graph = await session.graph()
        for question in asked:
            records.append(await _record(graph, question, recipe, settings.budget.seconds))
            log.add(records[-1])
            on_progress(records, len(asked))
        usage = session.usage()
    return Built(tuple(records), len(questions) - len(asked), usage, time.monotonic() - started, tuple(left_out))


async def _record(graph: Graph, question: BenchmarkQuestion, recipe: Recipe, seconds: float | None) -> ExamplesRecord:
    record = ExamplesRecord(question.id, question.question, recipe)
    try:
        with deadline.within(seconds):
            return await _filled(record, ExploredGraph(graph), question)
    except FedkgError as error:
        return msgspec.structs.replace(record, error=f"{type(error).__name__}: {error}")


async def _filled(record: ExamplesRecord, explored: ExploredGraph, question: BenchmarkQuestion) -> ExamplesRecord:
    """The record with what was found. Raises InputError and EndpointError."""
    topics, answers = topic_iris(question), [answer_term(gold) for gold in question.answers]
    recipe = record.recipe
    connections = await shortest(explored, topics, answers, Bounds(recipe.hops, recipe.frontier))
    plans = () if recipe.format == "gcr" else await _plans(explored, connections.paths)
    failed = connections.failed if all(plan.complete for plan in plans) else explored.failures()
    if failed:
        return msgspec.structs.replace(record, cut=connections.cut, error=failed[0])
    shown = (term for path in (*connections.paths, *plans) for term in shown_terms(path))
    names = await explored.graph.labels({*topics, *shown})
    right = explored.alike(answers)
    written = partial(_written, recipe)
    every = [_plan(plan, names, right, written) for plan in plans]
    every = every or [_path(path, names, written) for path in connections.paths]
    routes = tuple(dict.fromkeys(every))
    if recipe.format == "eperm-answer":
        examples = _answer_example(record, plans, names, right)
    else:
        examples = _examples(record, recipe.format, [names[topic] for topic in topics], routes)
    return msgspec.structs.replace(record, examples=examples, routes=routes, cut=connections.cut)


def topic_iris(question: BenchmarkQuestion) -> list[Iri]:
    """The topic entities of the question. Raises InputError where none is known by its IRI."""
    topics = [Iri.parse(topic.iri) for topic in question.topic_entities if topic.iri]
    if not topics:
        raise InputError("no topic entity of the question has an IRI")
    return list(dict.fromkeys(topics))


def answer_term(gold: Gold) -> Term:
    """The gold answer as it stands in the graph: an entity, or a literal of any datatype."""
    return Iri.parse(gold.iri) if gold.iri else Literal(gold.label)


async def _plans(explored: ExploredGraph, paths: Iterable[PartialPath]) -> Sequence[PartialPath]:
    """The chains of relations of the paths, each with all that it leads to."""
    distinct = {(path.topic, path.chain): path for path in paths}
    return await complete(explored, list(distinct.values()))


def _written(recipe: Recipe, candidate: PromptCandidate) -> str:
    """A path, or a relation of a plan, as a model of that form writes it."""
    return path_format.form_of(_form(recipe), recipe.prompts).written(candidate)


def _form(recipe: Recipe) -> Format:
    return "gcr" if recipe.format == "gcr" else "eperm"


def _path(path: PartialPath, names: Mapping[Term, str], written: Written) -> Route:
    candidate = msgspec.structs.replace(path_candidate(0, path, names, ()), text=path_text(path, names))
    return Route(
        path.topic.value, property_path(path.chain), written(candidate), answer=str(safe(names[path.tails[0]]))
    )


def _plan(plan: PartialPath, names: Mapping[Term, str], right: Iterable[Term], written: Written) -> Route:
    text = " ".join(written(relation_candidate(0, relation, names)) for relation in plan.chain)
    share = precision(plan.tails, right)
    return Route(plan.topic.value, property_path(plan.chain), text, precision=share, complete=plan.complete)


def _answer_example(
    record: ExamplesRecord, plans: Sequence[PartialPath], names: Mapping[Term, str], right: Iterable[Term]
) -> tuple[TrainingExample, ...]:
    """The answer predictor's call over all plans with what they lead to, and its reply: the plans that lead best.

    A plan weighs as much as its share of answers (Eq. 5), which is what a path finder is to learn; the heaviest comes
    first, and those that are as heavy answer with those of their ends that do.
    """
    answers = {key(term) for term in right}
    weighed = sorted(((precision(plan.tails, right), plan) for plan in plans), key=lambda pair: -pair[0])
    if not weighed or not weighed[0][0]:
        return ()
    candidates = [
        weighted(path_candidate(number, plan, names, (), in_line=1), [weight] * len(plan.tails))
        for number, (weight, plan) in enumerate(weighed, 1)
    ]
    best = [(number, plan) for number, (weight, plan) in enumerate(weighed, 1) if weight == weighed[0][0]]
    reply = {"paths": [_cited(number, plan, answers) for number, plan in best], "unproven": ""}
    template = PromptLibrary(record.recipe.prompts, hf.VENDOR).get("weighted-answer", "entities")
    asked = template.render(question=record.question, plan=Plan(()), paths=candidates, topics=(), absent=())
    return (TrainingExample("\n\n".join(asked), json.dumps(reply)),)


def _cited(number: int, plan: PartialPath, answers: Collection[object]) -> dict[str, object]:
    """A plan as the reply names it: with the ends that answer, none where all of them do."""
    ends = [place for place, end in enumerate(plan.tails, 1) if key(end) in answers]
    return {"path": number, "ends": [] if len(ends) == len(plan.tails) else ends, "check": False}


def _examples(
    record: ExamplesRecord, form: Format, topics: Iterable[str], routes: Iterable[Route]
) -> tuple[TrainingExample, ...]:
    """One for each route, of plans for those that Eq. 5 of EPERM keeps: each of them counts the same in its Eq. 6."""
    prompts = record.recipe.prompts
    asked = path_format.prompt(form, record.question, map(safe, topics), prompts)
    kept = [route for route in routes if route.precision is None or route.precision >= record.recipe.threshold]
    return tuple(dict.fromkeys(TrainingExample(asked, _completion(route, prompts)) for route in kept))


def _completion(route: Route, prompts: str) -> str:
    if route.answer:
        return path_format.path(route.text, route.answer, prompts)
    return path_format.plan(route.text, prompts)


def precision(candidates: Iterable[Term], answers: Iterable[Term]) -> float:
    """The share of answers among all entities that a plan leads to; 0 where it leads nowhere (EPERM, Eq. 5)."""
    led_to, right = {key(term) for term in candidates}, {key(term) for term in answers}
    return len(led_to & right) / len(led_to) if led_to else 0.0
