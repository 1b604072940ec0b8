"""One question as a record: what it ended with, where the way to the answer went, what it cost."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fedkg.bench.data.questions import BenchmarkQuestion, Gold
from fedkg.bench.run.asking import AskingTask, GoldTrace, asked, topics
from fedkg.bench.run.gold_table import GoldTable
from fedkg.bench.run.record import QuestionRecord, StageCount
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import score
from fedkg.core.events import Reached
from fedkg.core.terms import Iri, Term
from fedkg.core.usage import Usage
from fedkg.errors import UnreachableError
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.session import Session
from fedkg.testing import ScriptedModel

MakeJob = Callable[..., Job]


async def record_of(job: Job, **changes: Any) -> QuestionRecord:
    """The record of the first question, changed so."""
    async with Session(settings=job.work.settings) as session:
        return await asked(session, job.work, msgspec.structs.replace(job.questions[0], **changes))


async def test_a_record_holds_the_way_to_the_answer(kingdom: MakeJob) -> None:
    """Topics, answers, edges that the endpoint confirms, and the stages that the gold answer came through."""
    record = await record_of(kingdom())
    assert (record.status, [answer.key for answer in record.answers]) == ("answered", ["http://ex.org/strelsau"])
    assert (record.edges, record.valid, record.answers[0].confirmed) == (1, 1, True)
    assert record.topics == record.gold_topics == ("http://ex.org/ruritania",)
    assert {(passed.depth, passed.stage) for passed in record.passed if passed.gold} >= {(1, "offered"), (1, "kept")}
    assert record.usage.requests > 0


async def test_nothing_is_confirmed_where_that_is_not_wanted(kingdom: MakeJob) -> None:
    """The endpoint is asked for nothing but the walk."""
    job = kingdom()
    quick = msgspec.structs.replace(job, work=msgspec.structs.replace(job.work, verify=False))
    record = await record_of(quick)
    assert (record.edges, record.valid, record.answers[0].confirmed) == (1, None, None)


async def test_a_topic_that_the_graph_does_not_know_is_left_out(kingdom: MakeJob) -> None:
    """Benchmarks name some; the walk starts from the others and the record says so. None known is an error."""
    known, nobody = Gold(iri="http://ex.org/ruritania"), Gold(iri="http://ex.org/nobody")
    record = await record_of(kingdom(), topic_entities=(nobody, known))
    assert (record.status, len(record.answers)) == ("answered", 1)
    assert any("http://ex.org/nobody; the walk starts without it" in warning for warning in record.warnings)
    record = await record_of(kingdom(), topic_entities=(nobody,))
    assert record.error.startswith("TopicError: ")


async def test_a_record_says_whether_the_graph_has_all_conditions(kingdom: MakeJob) -> None:
    """As its question does, also where it ends in an error."""
    assert (await record_of(kingdom())).supported is None
    assert (await record_of(kingdom(), supported=True)).supported is True
    nobody = Gold(iri="http://ex.org/nobody")
    assert (await record_of(kingdom(), supported=False, topic_entities=(nobody,))).supported is False


async def test_a_fault_of_ours_is_a_record_too(kingdom: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as wrong, with the gold answers that were not found; of a file only the reason is told."""

    async def broken(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "/home/me/secret")

    monkeypatch.setattr(Session, "ask", broken)
    record = await record_of(kingdom())
    assert (record.status, record.error) == ("error", "FileNotFoundError: No such file or directory")
    assert (record.gold, record.answers) == ((Gold(iri="http://ex.org/strelsau"),), ())


async def test_an_endpoint_that_fails_after_the_answer_makes_it_wrong(
    kingdom: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be confirmed is an error, which still says what the question has cost."""

    async def broken(*_: object) -> None:
        raise UnreachableError("gone", endpoint="e")

    monkeypatch.setattr(Session, "verify", broken)
    record = await record_of(kingdom())
    assert (record.status, record.error, record.answers) == ("error", "UnreachableError: gone", ())
    assert record.usage.requests > 0
    assert record.topics == ("http://ex.org/ruritania",)
    assert any(passed.gold for passed in record.passed), "the way until then is known"


@pytest.mark.parametrize(
    ("kind", "question", "broken", "expected"),
    [("claim", "what capital?", "ask", "claim"), (None, "how many kings?", "verify", "count")],
)
async def test_a_failed_question_keeps_its_kind(
    *, kingdom: MakeJob, kind: Any, question: str, broken: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the definition or, where that leaves it open, what the method took it for."""

    async def gone(*_: object, **__: object) -> None:
        raise UnreachableError("gone", endpoint="e")

    monkeypatch.setattr(Session, broken, gone)
    job = kingdom()
    definition = msgspec.structs.replace(job.work.definition, kind=kind)
    job = msgspec.structs.replace(job, work=AskingTask(job.work.settings, definition))
    record = await record_of(job, question=question, kind=None)
    assert (record.status, record.kind) == ("error", expected)


async def test_what_a_failed_question_had_cost_is_on_record(kingdom: MakeJob) -> None:
    """The requests until its topic turned out to be none."""
    record = await record_of(kingdom(), topic_entities=(Gold(iri="http://ex.org/nobody"),))
    assert record.usage != Usage()
    assert record.usage.requests > 0


async def test_a_record_says_with_which_words_the_model_was_asked(
    kingdom: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version and digest of each call's wording, and what was said of replies that could not be used."""
    monkeypatch.setattr("fedkg.wiring.services.chat_model", lambda *_: ScriptedModel(["?"] * 40))
    record = await record_of(kingdom(model="openai:m"))
    assert record.templates["choose"] == PromptLibrary().get("choose", "entities").version
    assert "two unusable replies to `choose`" in record.warnings[0]


@pytest.mark.parametrize(("kept", "expected"), [("gold", ["http://x/a", "b"]), ("own", [])])
def test_the_method_is_told_the_gold_topics_or_none(kingdom: MakeJob, kept: Any, expected: list[str]) -> None:
    """As the benchmark's definition says; one without an IRI by its label."""
    work = kingdom().work
    work = AskingTask(work.settings, msgspec.structs.replace(work.definition, topics=kept))
    assert topics(work, BenchmarkQuestion("1", "?", (Gold("a", "http://x/a"), Gold("b")))) == expected


def test_a_step_along_the_gold_path_counts_at_its_depth() -> None:
    """The path is walked from the topic, against an edge's direction where it has to be.

    Answers count at every depth.
    """
    path = (("http://x/m", "r", "http://x/t"), ("http://x/m", "s", "http://x/end"))
    way = GoldTrace(
        BenchmarkQuestion("1", "?", (Gold(iri="http://x/t"),), (Gold("End", "http://x/end"),), gold_path=path)
    )
    names: dict[Term, str] = {Iri("http://x/named"): "End"}
    for depth, end in ((1, "http://x/m"), (2, "http://x/m"), (1, "http://x/named"), (1, "http://x/else")):
        way.follow(Reached(depth, "kept", ((Iri(end),), ()), names))
    assert way.passed(GoldTable((Gold("End", "http://x/end"), Gold("End")))) == (
        StageCount(1, "kept", 2, gold=True),
        StageCount(2, "kept", 2),
        StageCount(1, "kept", 2, gold=True),
        StageCount(1, "kept", 2),
    )


async def test_gold_facts_are_followed_through_the_stages(kingdom: MakeJob) -> None:
    """Evidence in words is looked up in the graph, and counted where it was offered and shown."""
    facts = (("Ruritania", "capital", "Strelsau"), ("Ruritania", "currency", "crown"))
    record = await record_of(kingdom(), gold_facts=facts)
    assert record.gold_facts == 1
    assert record.passed_facts["offered"] == record.passed_facts["shown"] == 1


async def test_gold_by_name_is_looked_up_in_the_graph(kingdom: MakeJob) -> None:
    """The record has the entities that the graph calls so; what it calls otherwise is right by none of its names."""
    record = await record_of(kingdom(), answers=(Gold("strelsau"), Gold("Nowhere")))
    assert [gold.entities for gold in record.gold] == [("http://ex.org/strelsau",), ()]
    assert score(record).recall == 0.5
