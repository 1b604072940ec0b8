"""What the gold of a question is in the graph that is asked: entities by labels and aliases, facts by their words.

It is looked up once for each question, and is what scores, coverage and error classes all go by.
"""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from fedkg.bench.data.gold_facts import readings
from fedkg.bench.data.questions import BenchmarkQuestion, Gold, WordedFact, written
from fedkg.common.normalize import normalized_answer
from fedkg.core.question import JUDGED
from fedkg.core.terms import Edge, Iri, Literal, Term
from fedkg.errors import EndpointError, OfflineError
from fedkg.graph.base import Graph

__all__ = ["Fact", "GoldTable", "fact_of", "gold_table", "means"]

Fact = tuple[Term, Iri, Term]
"""Subject, relation and object as they stand in the graph."""

NAMESAKES = 100
"""Most entities that one name may mean."""
DATE = re.compile(r"(-?\d{1,4})-(\d\d)-(\d\d)(?:T.*)?")
NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+")
WORDED_DATES = ("%d %B %Y", "%B %d, %Y", "%B %Y", "%d %b %Y")


class GoldTable(NamedTuple):
    """The gold answers with their `entities`, and of each gold fact that the graph has the facts that may be meant."""

    answers: tuple[Gold, ...]
    facts: tuple[frozenset[Fact], ...] = ()

    @property
    def names(self) -> set[str]:
        """The IRIs of the answers, or what the graph has no entity for: their texts."""
        return {name for answer in self.answers for name in (answer.entities or (answer.iri or answer.label,)) if name}


async def gold_table(question: BenchmarkQuestion, graph: Graph) -> GoldTable:
    """The table of one question; what the endpoint does not tell stays as the set has it: names, and no facts."""
    try:
        return GoldTable(await _answers(question, graph), await _facts(question, graph))
    except (EndpointError, OfflineError):
        return GoldTable(question.answers)


def fact_of(edge: Edge) -> Fact:
    """The fact that an edge is, whichever way it was walked."""
    return edge.subject, edge.relation, edge.object


def means(worded: str, term: Term, label: str) -> bool:
    """Whether the words mean that term: its label however it is written, its date, or its number with any unit."""
    if normalized_answer(worded) == normalized_answer(label):
        return True
    if not isinstance(term, Literal):
        return False
    match = DATE.fullmatch(term.value)
    return _same_date(worded, match) if match else _number(worded) is not None and _number(worded) == _number(label)


async def _answers(question: BenchmarkQuestion, graph: Graph) -> tuple[Gold, ...]:
    """The answers, those without an IRI with the entities of that name; a judgement has none."""
    if question.kind in JUDGED:
        return question.answers
    forms = {answer.label: written(answer.label) for answer in question.answers if answer.label and not answer.iri}
    texts = list(dict.fromkeys(text for texts in forms.values() for text in texts))
    matches = await graph.search(texts, NAMESAKES) if texts else {}

    def entities(answer: Gold) -> tuple[str, ...]:
        called = (match.iri.value for text in forms.get(answer.label, ()) for match in matches.get(text, ()))
        return () if answer.iri else tuple(dict.fromkeys(called))

    return tuple(msgspec.structs.replace(answer, entities=entities(answer)) for answer in question.answers)


async def _facts(question: BenchmarkQuestion, graph: Graph) -> tuple[frozenset[Fact], ...]:
    """The facts of the graph that each gold fact may mean, of those that it has; one wave for all subjects."""
    read = [list(readings(fact)) for fact in question.gold_facts]
    if not read:
        return ()
    named = await _named(question, [subject for some in read for subject, _, _ in some], graph)
    near = await graph.neighbours(list(dict.fromkeys(node for some in named.values() for node in some)), "out")
    edges = [edge for part in near for edge in part.edges]
    labels = await graph.labels(term for edge in edges for term in (edge.relation, edge.object))
    meant = (_meant(some, named, edges, labels) for some in read)
    return tuple(dict.fromkeys(facts for facts in meant if facts))


async def _named(question: BenchmarkQuestion, names: Iterable[str], graph: Graph) -> dict[str, set[Iri]]:
    """The entities of each name: the question's topics first, which sets write in other ways than graphs do."""
    names = list(dict.fromkeys(names))
    matches = await graph.search(names, NAMESAKES)
    topics = {normalized_answer(topic.label): Iri(topic.iri) for topic in question.topic_entities if topic.iri}
    folded = {name: topics.get(normalized_answer(name)) for name in names}
    return {
        name: {*(match.iri for match in matches.get(name, ())), *([topic] if (topic := folded[name]) else [])}
        for name in names
    }


def _meant(
    read: Sequence[WordedFact], named: dict[str, set[Iri]], edges: Sequence[Edge], labels: dict[Term, str]
) -> frozenset[Fact]:
    """The facts that one of the readings means, the most exact way of reading first.

    Relation and object are as worded; the relation is, whatever the object; the object is, whatever the relation.
    """

    def about(subject: str) -> list[Edge]:
        return [edge for edge in edges if edge.subject in named[subject]]

    def related(edge: Edge, relation: str) -> bool:
        return means(relation, edge.relation, labels[edge.relation])

    def valued(edge: Edge, value: str) -> bool:
        return means(value, edge.object, labels[edge.object])

    ways = (
        [edge for s, p, o in read for edge in about(s) if related(edge, p) and valued(edge, o)],
        [edge for s, p, _ in read for edge in about(s) if related(edge, p)],
        [edge for s, _, o in read for edge in about(s) if valued(edge, o)],
    )
    return frozenset(map(fact_of, next(filter(None, ways), [])))


def _same_date(worded: str, written: re.Match[str]) -> bool:
    """Whether a date in words is the one written; one that names a year alone is any day of it."""
    year, month, day = (int(part) for part in written.groups())
    if worded.strip().isdecimal():
        return int(worded) == year
    read = filter(None, (_read(worded, form) for form in WORDED_DATES))
    return any((date.year, date.month) == (year, month) and date.day in (day, 1) for date in read)


def _read(worded: str, form: str) -> dt.datetime | None:
    try:
        return dt.datetime.strptime(worded.strip(), form)  # noqa: DTZ007  # a day of the calendar, not a moment
    except ValueError:
        return None


def _number(text: str) -> float | None:
    """The number that a text begins with: "13,012 hectare"."""
    match = NUMBER.match(text.strip())
    return float(match.group().replace(",", "")) if match else None
