"""One question of a benchmark through a session: asked, its edges confirmed, the way followed, and all of it on record.

A question that crashes, in whatever way, is a record that counts as wrong, and never the end of a run.
"""

import msgspec

from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.gold_table import Fact, GoldTable, fact_of, gold_table
from fedkg.bench.run.record import QuestionRecord, StageCount, failed, given, shown
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer
from fedkg.core.events import Event, Linked, Planned, Reached, Stage
from fedkg.core.question import Kind
from fedkg.errors import OfflineError
from fedkg.session import Session

__all__ = ["AskingTask", "asked", "topics"]


class AskingTask(msgspec.Struct, frozen=True):
    """What is needed to ask; `verify`: the endpoint is asked again for each edge of an answer."""

    settings: Settings
    definition: Definition
    verify: bool = True


async def asked(session: Session, work: AskingTask, question: BenchmarkQuestion) -> QuestionRecord:
    """The record of one question; what it ended with is in it."""
    kind = (question.kind or work.definition.kind) if work.definition.kinds == "gold" else None
    trace = GoldTrace(question, kind)
    try:
        answer = await session.ask(
            question.question, topics(work, question), trace.follow, kind=kind, options=question.options
        )
    except Exception as error:  # noqa: BLE001  # a fault of ours is a wrong answer too: the others go on
        return _failed(question, error, trace, await _table(session, question))
    table = await _table(session, question)
    try:
        confirmed = await _confirmed(session, answer) if work.verify else None
    except Exception as error:  # noqa: BLE001  # the same
        return msgspec.structs.replace(_failed(question, error, trace, table), usage=answer.usage)
    return _record(question, answer, trace, table, confirmed)


def topics(work: AskingTask, question: BenchmarkQuestion) -> list[str]:
    """The topic entities that the method is told: the gold ones, or none where it links itself."""
    gold = work.definition.topics == "gold"
    return [topic.iri or topic.label for topic in question.topic_entities] if gold else []


class GoldTrace:
    """What a walk came through, as far as it leads to a gold answer, along the gold path, or over a gold fact.

    What of it is gold is looked up after the walk, so that the walk's own cost is what is on record. `kind` is what
    its plan says.
    """

    def __init__(self, question: BenchmarkQuestion, kind: Kind | None = None) -> None:
        self.kind = kind
        self._path = _nodes(question)
        self.topics: tuple[str, ...] = ()
        self._reached: list[Reached] = []

    def follow(self, event: Event) -> None:
        """Takes one event of the walk."""
        if isinstance(event, Planned):
            self.kind = event.plan.kind
        elif isinstance(event, Linked):
            self.topics = tuple(match.iri.value for match in event.topics)
        elif isinstance(event, Reached):
            self._reached.append(event)

    def passed(self, table: GoldTable) -> tuple[StageCount, ...]:
        """What came through each stage, in the order of the walk."""
        return tuple(self._count(event, table) for event in self._reached)

    def facts(self, table: GoldTable) -> dict[Stage, int]:
        """How many of the gold facts came through each stage, at whatever depth."""
        walked: dict[Stage, set[Fact]] = {}
        for event in self._reached if table.facts else ():
            walked.setdefault(event.stage, set()).update(fact_of(edge) for edges in event.edges for edge in edges)
        return {stage: sum(not facts.isdisjoint(there) for facts in table.facts) for stage, there in walked.items()}

    def _count(self, event: Reached, table: GoldTable) -> StageCount:
        if table.facts:
            wanted = frozenset().union(*table.facts)
            gold = any(fact_of(edge) in wanted for edges in event.edges for edge in edges)
        else:
            names = table.names | self._path.get(event.depth, set())
            gold = any(names & ends for ends in event.ends)
        return StageCount(event.depth, event.stage, len(event.tails), gold)


async def _table(session: Session, question: BenchmarkQuestion) -> GoldTable:
    """What the gold is in the graph; as the set has it where no graph is asked."""
    if not session.method.graph:
        return GoldTable(question.answers)
    return await gold_table(question, await session.graph())


def _nodes(question: BenchmarkQuestion) -> dict[int, set[str]]:
    """By depth the node of the gold path that is reached there."""
    here = question.topic_entities[0].iri if question.topic_entities else ""
    nodes = {}
    for depth, (subject, _, target) in enumerate(question.gold_path, 1):
        here = target if subject == here else subject
        nodes[depth] = {here}
    return nodes


def _failed(question: BenchmarkQuestion, error: Exception, trace: GoldTrace, table: GoldTable) -> QuestionRecord:
    """A record of the error, and of the way until then."""
    return msgspec.structs.replace(
        failed(question, error, trace.kind),
        gold=table.answers,
        gold_facts=len(table.facts),
        topics=trace.topics,
        passed=trace.passed(table),
        passed_facts=trace.facts(table),
    )


def _record(
    question: BenchmarkQuestion,
    answer: Answer,
    trace: GoldTrace,
    table: GoldTable,
    confirmed: list[bool | None] | None,
) -> QuestionRecord:
    return QuestionRecord(
        id=question.id,
        question=question.question,
        kind=answer.kind,
        status=answer.status,
        gold=table.answers,
        answers=given(answer, confirmed),
        topics=trace.topics,
        gold_topics=tuple(topic.iri for topic in question.topic_entities),
        hops=question.hops or len(question.gold_path),
        gold_steps=len(question.gold_path),
        passed=trace.passed(table),
        gold_facts=len(table.facts),
        passed_facts=trace.facts(table),
        supported=question.supported,
        unanswerable=question.unanswerable,
        edges=sum(len(path.edges) for path in answer.paths) if confirmed is None else len(confirmed),
        valid=None if confirmed is None else confirmed.count(True),
        gaps=len(answer.gaps),
        paths=shown(answer, confirmed),
        usage=answer.usage,
        measures=answer.measures,
        templates={call.call: call.template for call in answer.ledger},
        warnings=answer.warnings,
        caveats=tuple(dict.fromkeys(caveat.kind for caveat in answer.caveats)),
        confidence=answer.confidence,
    )


async def _confirmed(session: Session, answer: Answer) -> list[bool | None] | None:
    """Of each edge whether the endpoint confirms it; None where there is none to ask, or no endpoint may be asked."""
    if not answer.paths:
        return None
    try:
        return [checked.holds for checked in await session.verify(answer)]
    except OfflineError:
        return None
