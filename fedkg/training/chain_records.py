"""What a scorer is trained with: of each question the chain of relations that leads to its answers, and others there.

The chain is the one that the question set names, or else of the shortest between a topic and an answer the one whose
ends are most like the answers; of several that are nearly as good, the one whose names have most of the question's
words. The others are what a walk is offered on its way: the relations at each of its steps.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import msgspec

from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.gold_table import gold_table
from fedkg.core import deadline
from fedkg.core.path import PartialPath
from fedkg.core.terms import DirectedRelation, Iri, Term, relation_name, typed_name
from fedkg.engine.completion import complete
from fedkg.engine.presentation import safe
from fedkg.errors import FedkgError, InputError
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.graph.shortest_paths import Bounds, key, shortest
from fedkg.reasoner.local.chain_texts import NamedStep, full_name, label_of
from fedkg.reasoner.local.chains import outwards
from fedkg.reasoner.local.likeness import covered
from fedkg.reasoner.local.typed_names import beside
from fedkg.training.examples import answer_term, topic_iris

__all__ = [
    "ChainRecipe",
    "ChainRecord",
    "GoldWalk",
    "best_walk",
    "chain_record",
    "f1",
    "gold_walk",
    "named",
    "relations_around",
    "walked",
]

LEAST_F1 = 0.5
"""A chain whose ends are less like the answers is not what the question asks for."""
NEARLY, PARTLY = 0.8, 0.5
"""What share of the best F1 a chain has that may be meant as well, and one that is no wrong one to be shown."""
LOOKED_AT = 5
"""Nodes of one step whose relations are noted."""


class ChainRecipe(msgspec.Struct, frozen=True):
    """What a file of records is made of: the question set, the endpoints, and how far is searched."""

    questions: str
    endpoints: tuple[str, ...]
    hops: int
    frontier: int


class ChainRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question: how it names its `topic`, the gold `chain`, and the relations at each of its steps.

    `offers` has one entry more than the chain: what its ends lead on to. `also` are chains that lead to many of
    the same answers. `topic_answers`: its topic is one of its answers. A question with an `error` has no chain.
    """

    id: str
    question: str
    recipe: ChainRecipe
    topic: str = ""
    entity: str = ""
    chain: tuple[NamedStep, ...] = ()
    offers: tuple[tuple[NamedStep, ...], ...] = ()
    also: tuple[tuple[NamedStep, ...], ...] = ()
    topic_answers: bool = False
    error: str = ""


class GoldWalk(NamedTuple):
    """Where the gold chain starts, its relations, those that lead to the same, and the nodes on its way if known."""

    topic: Iri
    chain: tuple[DirectedRelation, ...]
    also: tuple[tuple[DirectedRelation, ...], ...] = ()
    nodes: tuple[Term, ...] = ()


async def chain_record(
    graph: Graph, question: BenchmarkQuestion, recipe: ChainRecipe, seconds: float | None
) -> ChainRecord:
    """The record of one question, after at most so many seconds; whatever fails is its error."""
    record = ChainRecord(question.id, question.question, recipe)
    try:
        with deadline.within(seconds):
            return await _filled(record, ExploredGraph(graph), question)
    except FedkgError as error:
        return msgspec.structs.replace(record, error=f"{type(error).__name__}: {error}")


async def _filled(record: ChainRecord, explored: ExploredGraph, question: BenchmarkQuestion) -> ChainRecord:
    """The record with chain and offers. Raises InputError where no chain leads to the answers, and EndpointError."""
    walk = await gold_walk(explored, question, Bounds(record.recipe.hops, record.recipe.frontier))
    offers = await relations_around(explored, walk.topic, walk.chain, walk.nodes)
    if any(relation not in offered for relation, offered in zip(walk.chain, offers, strict=False)):
        raise InputError("the graph lacks the chain that the question set names")
    names = await explored.graph.labels({part for relation in _all(walk, offers) for part in _parts(relation)})
    topic = next((topic.label for topic in question.topic_entities if topic.iri == walk.topic.value), "")
    return msgspec.structs.replace(
        record,
        topic=topic,
        entity=walk.topic.value,
        chain=named(walk.chain, names),
        offers=tuple(tuple(dict.fromkeys(named(offered, names))) for offered in offers),
        also=tuple(dict.fromkeys(named(chain, names) for chain in walk.also)),
        topic_answers=any(gold.key in {walk.topic.value, topic} for gold in question.answers),
    )


async def gold_walk(explored: ExploredGraph, question: BenchmarkQuestion, bounds: Bounds) -> GoldWalk:
    """The walk that the question set names, or else the best that is found. Raises InputError, EndpointError."""
    return walked(question) or await _searched(explored, question, bounds)


def walked(question: BenchmarkQuestion) -> GoldWalk | None:
    """The walk that the question set names; None where it names none."""
    if not question.gold_path or not question.topic_entities or not question.topic_entities[0].iri:
        return None
    start = question.topic_entities[0].iri
    nodes, chain = [start], []
    for subject, relation, target in question.gold_path:
        forwards = subject == nodes[-1]
        chain.append(DirectedRelation(Iri(relation), "out" if forwards else "in"))
        nodes.append(target if forwards else subject)
    return GoldWalk(Iri(start), tuple(chain), nodes=tuple(map(Iri, nodes)))


async def _searched(explored: ExploredGraph, question: BenchmarkQuestion, bounds: Bounds) -> GoldWalk:
    """The walk whose ends are most like the answers, of the shortest. Raises InputError where there is none.

    Answers that no walk leads to count against none: a graph that lacks most of an actor's films has the others.
    """
    table = await gold_table(question, explored.graph)
    golds = [list[Term](map(Iri, gold.entities)) or [answer_term(gold)] for gold in table.answers]
    answers: list[Term] = list(itertools.chain.from_iterable(golds))
    if not answers:
        raise InputError("the question has no answers")
    paths = (await shortest(explored, topic_iris(question), answers, bounds)).paths
    distinct = {(path.topic, path.chain): path for path in paths}
    wholes = await complete(explored, list(distinct.values()))
    right = explored.alike(answers)
    names = await explored.graph.labels({part for path in wholes for step in path.chain for part in _parts(step)})
    said = {path.chain: _said(question.question, named(path.chain, names)) for path in wholes}
    number = min(len(golds), len(_keys(right) & _keys(tail for whole in wholes for tail in whole.tails)))
    return best_walk([(f1(whole.tails, right, number), whole) for whole in wholes], said)


def best_walk(
    scored: Sequence[tuple[float, PartialPath]], said: Mapping[tuple[DirectedRelation, ...], float]
) -> GoldWalk:
    """Of the paths whose F1 is nearly the best the one that is `said` best, then the one with the best F1, the shorter.

    `also` are those whose F1 is at least half as good. Raises InputError where none is good enough.
    """
    best = max((score for score, _ in scored), default=0.0)
    if best < LEAST_F1:
        raise InputError("no chain of relations leads to the answers, and to little else")
    ordered = sorted(scored, key=lambda entry: (-said.get(entry[1].chain, 0.0), -entry[0], len(entry[1].steps)))
    path = next(path for score, path in ordered if score >= max(LEAST_F1, NEARLY * best))
    also = (other.chain for score, other in ordered if other is not path and score >= PARTLY * best)
    return GoldWalk(path.topic, path.chain, tuple(also))


def _said(question: str, chain: Sequence[NamedStep]) -> float:
    """How many words of its relations the question has, or wordings of them, in 0..1."""
    return fmean(covered(question, label_of(name))[1] for name, _ in chain) if chain else 0.0


def f1(ends: Iterable[Term], answers: Iterable[Term], number: int) -> float:
    """How like the ends of a chain are to the answers; `number` of them, each of which may go by several terms."""
    led_to, right = _keys(ends), _keys(answers)
    hits = len(led_to & right)
    return 2 * hits / (len(led_to) + max(number, hits)) if led_to else 0.0


def _keys(terms: Iterable[Term]) -> set[object]:
    """The terms as they are compared."""
    return {key(term) for term in terms}


async def relations_around(
    explored: ExploredGraph, topic: Iri, chain: Sequence[DirectedRelation], known: Sequence[Term] = ()
) -> list[list[DirectedRelation]]:
    """The relations that a walk along the chain is offered at each step, and at its end; `known` are nodes on it."""
    nodes: list[Term] = [topic]
    offers = []
    for place, relation in enumerate((*chain, None)):
        await explored.fetch(nodes)
        offers.append(list(dict.fromkeys(edge.walked for node in nodes for edge in explored.edges(node))))
        if relation:
            ends = (edge.end for node in nodes for edge in explored.along(node, relation))
            nodes = list(dict.fromkeys((*known[place + 1 : place + 2], *ends)))[:LOOKED_AT]
    return offers


def named(relations: Iterable[DirectedRelation], names: Mapping[Term, str]) -> tuple[NamedStep, ...]:
    """The relations by the names that a reasoning model is shown, as a scorer reads them."""
    return tuple(_named(relation, names) for relation in relations)


def _named(relation: DirectedRelation, names: Mapping[Term, str]) -> NamedStep:
    label, direction = outwards(str(safe(relation_name(relation, names))), relation.direction)
    return full_name((label, beside(label, typed_name(relation)))), direction


def _all(walk: GoldWalk, offers: Iterable[Iterable[DirectedRelation]]) -> Iterable[DirectedRelation]:
    return itertools.chain(walk.chain, *walk.also, *offers)


def _parts(relation: DirectedRelation) -> tuple[Iri, ...]:
    return (relation.relation, relation.via) if relation.via else (relation.relation,)
