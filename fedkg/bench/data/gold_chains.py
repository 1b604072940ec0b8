"""The gold chains of a benchmark's questions: those that its set names, or the shortest that lead to the answers.

Where a set publishes queries, what these demand of the answers tells them from the other ends of a chain, as far as the
answers have it in the graph.
"""

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple

from fedkg.bench.data import files
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.facts import Facts, Walked
from fedkg.bench.data.gold_conditions import GoldCondition, gold_conditions
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.data.stated_chains import stated
from fedkg.core.terms import DirectedRelation, Direction, Iri, Term, typed_name
from fedkg.testing import GoldChain, GoldCheck

__all__ = ["SETS", "GoldChains", "GoldWay", "QuestionSet", "listed", "shortest", "ways_to"]


class QuestionSet(NamedTuple):
    """The questions of a file on one graph, which has this `profile`; a fact's relation begins with `relations`."""

    questions: str
    graph: str
    relations: str
    profile: str


FREEBASE = ("freebase-fb15k237.nt.gz", "<http://rdf.freebase.com/ns/", "freebase")
CODEX = ("wikidata-codex-m.nt.gz", "<http://www.wikidata.org/prop/direct/", "wikidata")
SETS = {
    "WebQSP": QuestionSet("webqsp-test", *FREEBASE),
    "CWQ": QuestionSet("cwq-test", *FREEBASE),
    "MetaQA, 3 hops": QuestionSet("metaqa-3hop-test", "metaqa.nt.gz", "<http://metaqa.invalid/relation/", "generic"),
    "WebQSP on CoDEx-M": QuestionSet("webqsp-test", *CODEX),
}
"""The sets whose facts are known to lead to the answers."""


MOST_WAYS = 4
"""Ways to the same answers that are known of one question."""


class GoldWay(NamedTuple):
    """The relations that lead from a topic to the answers, and what tells these from other ends."""

    chain: Walked = ()
    conditions: tuple[GoldCondition, ...] = ()
    topic: Iri | None = None


class GoldChains:
    """The chains of the benchmarks in a folder of data; its files are read at their first use, once."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._listed: dict[str, Mapping[str, GoldChain]] = {}
        self._queries: dict[str, Mapping[str, str]] = {}
        self._facts: dict[QuestionSet, Facts] = {}

    def known(self, definition: Definition) -> bool:
        """Whether there are chains of questions of this benchmark."""
        return bool(self._of_set(definition)) or _question_set(definition) is not None

    def of(self, definition: Definition, question: BenchmarkQuestion) -> GoldChain:
        """The chain of one question; one without steps where nothing is known to lead to its answers."""
        if chain := self._of_set(definition).get(question.id):
            return chain
        if not (questions := _question_set(definition)):
            return self._stated(definition, question)
        facts = self._graph(questions)
        conditions = gold_conditions(self._query(definition, question))
        ways = ways_to(question, facts, conditions, definition.depth)
        first, *instead = [_of_way(way, facts, question) for way in ways] or [_unproven(question)]
        return first._replace(instead=tuple(instead))

    def _stated(self, definition: Definition, question: BenchmarkQuestion) -> GoldChain:
        """The chain that an operation, or over Wikidata a query of a single fact, states."""
        if not question.operation and definition.profile != "wikidata":
            return _unproven(question)
        facts = self._graph(QuestionSet(definition.name, definition.graph, *CODEX[1:]))
        return stated(question, self._query(definition, question), facts)

    def _query(self, definition: Definition, question: BenchmarkQuestion) -> str:
        """The query that the set publishes for the question, "" for none."""
        if definition.name not in self._queries:
            rows = _rows(files.find(definition, definition.questions, self._data))
            self._queries[definition.name] = {row["id"]: row.get("sparql") or "" for row in rows}
        return self._queries[definition.name].get(question.id, "")

    def _of_set(self, definition: Definition) -> Mapping[str, GoldChain]:
        """The chains that the question set names, by ids."""
        if definition.name not in self._listed:
            file = files.find(definition, definition.questions, self._data)
            self._listed[definition.name] = listed(file) if definition.loader == "jsonl" else {}
        return self._listed[definition.name]

    def _graph(self, questions: QuestionSet) -> Facts:
        if questions not in self._facts:
            self._facts[questions] = Facts.read(self._data / questions.graph, questions.relations)
        return self._facts[questions]


def listed(file: Path) -> dict[str, GoldChain]:
    """The chain of each question of a JSON Lines file, by its id; none where its rows show no way.

    A row may name the relations (`gold_relations`, `^` before one that is walked backwards) or a path that consists of
    them.
    """
    rows = _rows(file)
    return {row["id"]: _chain(row) for row in rows} if all("gold_path" in row for row in rows) else {}


def shortest(
    question: BenchmarkQuestion, facts: Facts, conditions: Sequence[GoldCondition] = (), depth: int = 2
) -> GoldWay:
    """The first of `ways_to`; no relations where there is none."""
    return next(iter(ways_to(question, facts, conditions, depth)), GoldWay())


def ways_to(
    question: BenchmarkQuestion, facts: Facts, conditions: Sequence[GoldCondition] = (), depth: int = 2
) -> list[GoldWay]:
    """Of the shortest relations, one or two, from a topic to an answer those whose ends are most like the answers.

    The ends are those that meet the conditions which an answer meets; these are looked at one step beyond, if that is
    within the `depth`. Of several that are as like the answers the one with the fewest ends to be narrowed comes first,
    and `MOST_WAYS` are kept. None where none lead there.
    """
    topics = [iri for topic in question.topic_entities for iri in facts.topic(topic.iri)]
    named = (facts.answers(answer.iri, answer.label) for answer in question.answers)
    answers = frozenset[Term](end for ends in named for end in ends) - set(topics)
    for lead in (facts.single_steps, facts.double_steps):
        if chains := [(topic, chain) for topic in topics for chain in lead(topic, answers)]:
            beyond = [conditions if len(chain) < depth else () for _, chain in chains]
            fits = sorted(starmap(partial(_fit, facts, answers), zip(chains, beyond, strict=True)), reverse=True)
            return [way for likeness, _, way in fits if likeness == fits[0][0]][:MOST_WAYS]
    return []


def _fit(
    facts: Facts, answers: frozenset[Term], led: tuple[Iri, Walked], conditions: Sequence[GoldCondition]
) -> tuple[float, int, GoldWay]:
    """How well the ends of a chain from a topic fit the answers, narrowed by those of the conditions that do so.

    Of chains that fit alike the one with fewer ends to be narrowed is the more natural one.
    """
    topic, chain = led
    ends = facts.walk([topic], chain)
    before, checks = len(ends), []
    for condition in conditions:
        meeting = {end for end in ends if condition.value in facts.walk([end], [condition.step])}
        if condition.value != topic and meeting & answers and meeting < ends:
            ends = meeting
            checks.append(condition)
    return _f1(ends, answers), -before if checks else 0, GoldWay(chain, tuple(checks), topic)


def _f1(ends: set[Term], answers: frozenset[Term]) -> float:
    return 2 * len(ends & answers) / (len(ends) + len(answers))


def _question_set(definition: Definition) -> QuestionSet | None:
    """The set of these questions on this graph, if it is a known one."""
    wanted = (definition.questions, definition.graph)
    return next((known for known in SETS.values() if (f"{known.questions}.jsonl.gz", known.graph) == wanted), None)


def _of_way(way: GoldWay, facts: Facts, question: BenchmarkQuestion) -> GoldChain:
    """The way by names, as a model is shown it."""
    checks = tuple(
        GoldCheck(_step(check.step), facts.names(check.value), typed_name(check.step)) for check in way.conditions
    )
    starts = facts.names(way.topic) if way.topic else ()
    typed = tuple(map(typed_name, way.chain))
    steps = tuple(map(_step, way.chain))
    return GoldChain(steps, _labels(question), True, question.id, checks, starts, typed=typed if any(typed) else ())


def _unproven(question: BenchmarkQuestion) -> GoldChain:
    """That of a question of which nothing is known to lead to its answers."""
    return GoldChain((), _labels(question), proven=False, id=question.id)


def _labels(question: BenchmarkQuestion) -> tuple[str, ...]:
    return tuple(answer.label for answer in question.answers)


def _chain(row: Mapping[str, Any]) -> GoldChain:
    answers = tuple(answer["label"] for answer in row["answers"])
    return GoldChain(tuple(_steps(row)), answers, bool(row["gold_path"]), row["id"])


def _rows(file: Path) -> list[Mapping[str, Any]]:
    """The rows of a file of questions."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def _step(relation: DirectedRelation) -> tuple[str, Direction]:
    return _name(relation.relation.value), relation.direction


def _steps(row: Mapping[str, Any]) -> Iterable[tuple[str, Direction]]:
    if relations := row.get("gold_relations"):
        return ((_name(relation), "in" if relation[0] == "^" else "out") for relation in relations)
    return _walked(row["topic_entities"][0]["iri"], row["gold_path"])


def _walked(start: str, path: Iterable[Sequence[str]]) -> Iterable[tuple[str, Direction]]:
    for subject, relation, target in path:
        forwards = subject == start
        start = target if forwards else subject
        yield _name(relation), "out" if forwards else "in"


def _name(relation: str) -> str:
    """A relation by its name in a graph of these: `…/ns/people.person.place_of_birth` is "place of birth"."""
    return re.split(r"[./]", relation)[-1].replace("_", " ")
