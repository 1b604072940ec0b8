"""One question on its way to an answer: planned, linked, walked by a method, and put together as a document.

A spent budget ends the walk: the answer then holds what was found until then. A deadline bounds all of it.
"""

import asyncio
import contextlib
import itertools
import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import msgspec

from fedkg.common.normalize import content_words
from fedkg.common.one_line import line
from fedkg.config.settings import Settings, public
from fedkg.core import deadline
from fedkg.core.answer import Answer, AnswerValue, Status
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.events import Answered, Event
from fedkg.core.gaps import noted
from fedkg.core.operation import Computation
from fedkg.core.path import PartialPath
from fedkg.core.question import JUDGED, Kind, Plan, check_options, check_question, guessed
from fedkg.core.terms import Term, own_name
from fedkg.core.usage import Gap, Usage
from fedkg.embed.base import Similarity
from fedkg.engine.answer_query import QueryFacts, endpoint_urls, proving_query
from fedkg.engine.assembly import (
    Ends,
    Selection,
    compose,
    doubtful,
    ends,
    is_number,
    remembered,
    terms,
    without_nameless,
)
from fedkg.engine.computing import computed, computed_event, computed_plan, computes
from fedkg.engine.interpreter import Interpreter
from fedkg.engine.preparation import Preparation
from fedkg.engine.presentation import path_text
from fedkg.engine.recall import OPEN, recalled
from fedkg.engine.run_notes import RunNotes
from fedkg.engine.similar_names import Similar
from fedkg.engine.standing import missing, resting, standing
from fedkg.engine.walk import WalkContext, WalkRecord, widened
from fedkg.errors import BudgetError
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.llm.ledger import Ledger
from fedkg.methods import registry
from fedkg.methods.base import Method, SearchResult, Task
from fedkg.methods.operating import operated
from fedkg.reasoner.base import ReasoningModel
from fedkg.retrieval.base import GlobalSearch, Retriever

__all__ = ["QuestionRun"]

GRACE = 1.0
"""Seconds for the last labels where the question's time is over: most are there already."""

UNLINKED = (CaveatKind.DROPPED_TOPIC, CaveatKind.LOOSELY_LINKED)
"""Caveats with which it is not the graph that has no answer: the search did not start from what was asked about."""

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass
class QuestionRun:
    """One question on its way to an answer. `cost` returns the session's usage so far; the run reports the difference.

    `ledger` is the one that the model's calls go into; the time of its account bounds that of the question. `method`
    and `retriever` stand for those that the settings name. `similar` returns the labels near to names in meaning, `top`
    those of the whole graph that are nearest to a text.
    """

    question: str
    graph: Graph
    reasoner: ReasoningModel
    similarity: Similarity
    settings: Settings
    cost: Callable[[], Usage]
    topics: Sequence[str] = ()
    kind: Kind | None = None
    options: Sequence[str] = ()
    ledger: Ledger = field(default_factory=Ledger)
    method: Method | None = field(default=None, kw_only=True)
    retriever: Retriever | None = field(default=None, kw_only=True)
    similar: Similar | None = field(default=None, kw_only=True)
    top: GlobalSearch | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Sets up what the walk remembers. Raises QuestionError."""
        self.question = check_question(self.question)
        self.kind, self.options = check_options(self.kind, self.options)
        self._started, self._before = time.monotonic(), self.cost()
        question_seconds, total = self.settings.budget.seconds or math.inf, self.ledger.account.left
        self._time, self._clock = min((question_seconds, "seconds"), (total, "run seconds"))
        self._method = self.method or registry.find(self.settings.method)
        plan = Plan(content_words(self.question), kind=self.kind or guessed(self.question), options=tuple(self.options))
        self._explored, self._notes = ExploredGraph(self.graph), RunNotes()
        self._prepared = Preparation(
            self.question,
            self.graph,
            self._explored,
            self.reasoner,
            self.settings,
            self._method,
            self.topics,
            self.kind,
            self.options,
            plan,
            self._notes,
            similar=self.similar,
        )
        self._record = WalkRecord()
        self._result, self._spent = SearchResult(), ""
        self._missed: dict[Gap, None] = {}
        self._unnamed: dict[Gap, None] = {}
        self._labelled, self._nameless = True, 0

    @property
    def names(self) -> Mapping[Term, str]:
        """The labels that the walk has shown."""
        return self._record.labels

    async def events(self) -> AsyncGenerator[Event, None]:
        """The walk as it happens; the last event holds the answer. Raises InputError, EndpointError and ModelError."""
        log.info("question %r: method %s, model %s", line(self.question), self.settings.method, self.reasoner.name)
        with contextlib.suppress(BudgetError):
            await self._within(self._prepared.run())
            interpreter = Interpreter(self._context())
            self._record = interpreter.record
            if not (self._prepared.abstains or self._prepared.optionless):
                async with contextlib.aclosing(self._walk(interpreter)) as walk:
                    async for event in walk:
                        yield event
        answer = await self._answer(self._result)
        for event in self._notes.take():
            yield event
        _log(answer)
        if answer.operation:
            yield computed_event(answer, answer.operation)
        yield Answered(answer)

    def _context(self) -> WalkContext:
        """What the walk works on, now that the question is planned and linked."""
        return WalkContext(
            self.question,
            self._prepared.plan,
            self._prepared.linked,
            widened(self.settings.search, self.reasoner),
            self._explored,
            self.reasoner,
            self.similarity,
            self._notes.tell,
            self.usage,
            self.retriever,
            self._prepared.named,
            tuple(dict.fromkeys(self._prepared.absent)),
            self.top,
        )

    async def _walk(self, interpreter: Interpreter) -> AsyncGenerator[Event, None]:
        """Serves the method until it is done, with its result in `_result`. Raises BudgetError, if the method does."""
        for event in self._notes.take():
            yield event
        search = interpreter.context.search
        topics = tuple(match.iri for match in self._prepared.linked)
        kind = self._prepared.plan.kind
        cued = computes(self.question, kind)
        walk = self._method.walk(Task(topics, search, kind in JUDGED, self._prepared.planned, cued))
        if self._method.graph:
            walk = operated(walk, kind, cued=cued)
        go_on = partial(next, walk)
        while True:
            try:
                need = go_on()
            except StopIteration as end:
                self._result = end.value
                if self._result.note:
                    self._notes.warn(self._result.note)
                    for event in self._notes.take():
                        yield event
                return
            try:
                go_on = partial(walk.send, await self._within(interpreter.serve(need)))
            except BudgetError as error:
                go_on = partial(walk.throw, error)
            for event in self._notes.take():
                yield event

    async def _answer(self, result: SearchResult) -> Answer:
        """The document: every answer stands on a path, every path on edges that an endpoint returned."""
        proven = await self._proven(list(zip(result.paths, result.tails, strict=True)), result.checks)
        if self._spent and not proven.shown:
            proven = await self._proven([(path, ()) for path in self._record.last_paths if path.steps])
        beside = (edge.terms for path in result.beside for edge in path.edges)
        names = await self._labels(list(dict.fromkeys((*terms(proven), *itertools.chain.from_iterable(beside)))))
        plan = computed_plan(self._prepared.plan, result.computation)
        proven = self._answering(proven, names, plan.kind)
        answers, paths = compose(plan, proven, result.conclusion, names)
        answers, paths, operation = computed(result, answers, paths, names)
        answers += remembered(self._prepared.plan, result.from_memory)
        self._warn_of_cuts(result, proven)
        conclusion = result.conclusion
        kept = answers if result.paths or result.from_memory or not self._spent else ()
        answers, stands = standing(kept, conclusion.confidence, self.settings, conclusion.unread)
        status = self._status(answers, result, refused=bool(stands.closest))
        if from_memory := await self._recalled(status):
            answers, status, operation = from_memory, Status.ANSWERED, None
        return Answer(
            question=self.question,
            kind=plan.kind,
            status=status,
            answers=answers,
            paths=paths,
            gaps=(*self._explored.gaps(self._walked(result)), *dict.fromkeys((*self._missed, *self._unnamed))),
            usage=self.usage(),
            warnings=tuple(self._notes.warnings),
            settings=public(self.settings),
            ledger=self.ledger.calls,
            options=self._prepared.plan.options,
            method=self.settings.method if self.method is None else registry.name_of(self.method),
            measures=result.measures,
            caveats=(*self._admitted(result, answers), *stands.caveats),
            confidence=stands.confidence,
            closest=stands.closest,
            operation=operation,
            query=self._query(result, proven, names, operation) if answers and status is Status.ANSWERED else "",
        )

    def _query(
        self, result: SearchResult, proven: Ends, names: Mapping[Term, str], operation: Computation | None
    ) -> str:
        """The query that gives the answers; "" where none does, as for a judgement."""
        kind = self._prepared.plan.kind
        if (kind in JUDGED and operation is None) or not result.paths:
            return ""
        chosen = list(zip(result.paths, result.tails, strict=True))
        terms = {end.tail for end in proven.shown}
        if proven.cut:
            terms = {tail for path, _ in chosen for tail in path.tails}
        count = kind == "count" and not all(map(is_number, terms))
        facts = QueryFacts(self.question, terms, names, endpoint_urls(self.graph), count, operation)
        return proving_query(chosen, result.checks, facts)

    async def _recalled(self, status: Status) -> tuple[AnswerValue, ...]:
        """What the model remembers of a question that the graph leaves open, where that is wanted and can be paid."""
        wanted = self.settings.fallback == "model" and self._method.graph and not self._spent
        if not wanted or status not in OPEN:
            return ()
        with contextlib.suppress(BudgetError):
            answers = await self._within(recalled(self.reasoner, self.question, self._prepared.plan, self._notes.warn))
            if answers:
                self._notes.admit(CaveatKind.RECALLED, OPEN[status])
            return answers
        return ()

    def _admitted(self, result: SearchResult, answers: Sequence[AnswerValue]) -> tuple[Caveat, ...]:
        """The caveats, each once: what was noted on the way, what is missing on it, and what a judgement rests on.

        Not what is missing elsewhere, nor the labels of what the document shows: without these it is the same answer.
        """
        gaps = (*self._explored.missing(), *self._missed)
        before = (*self._notes.caveats, *self._record.caveats, *result.caveats)
        rests = resting(result.conclusion, self._prepared.plan.kind) if answers else ()
        return tuple(dict.fromkeys((*before, *rests, *missing(gaps))))

    def _warn_of_cuts(self, result: SearchResult, proven: Ends) -> None:
        """Warns of what was not fetched, not shown to the model, or has no room in the document."""
        for path in result.paths:
            if not path.complete:
                self._notes.warn(f"there may be more: not every edge of {path_text(path, self.names)} was fetched")
                self._notes.admit(CaveatKind.CUT, f"not every edge of {path_text(path, self.names)} was fetched")
        if self.reasoner.left_out:
            self._notes.warn(
                f"the model's context had no room for {self.reasoner.left_out:,} of the offers; they were not shown"
            )
            self._notes.admit(CaveatKind.CUT, f"{self.reasoner.left_out:,} offers were not shown to the model")
        if proven.cut:
            self._notes.warn(f"of {proven.total:,} ends of its paths the document leaves out {proven.cut:,}")
            self._notes.admit(CaveatKind.CUT, f"{proven.cut:,} of {proven.total:,} ends are left out of the document")

    def _walked(self, result: SearchResult) -> set[Term]:
        """The nodes that the answer, or where there is none the last paths, went through."""
        last = self._record.last_paths
        walked = (*result.paths, *result.checks) or last
        starts = {edge.start for path in walked for step in path.steps for edge in step.edges}
        topics = self._record.topics or self._prepared.linked
        return starts | {tail for path in last for tail in path.tails} | {match.iri for match in topics}

    async def _proven(self, chosen: Selection, checks: Sequence[PartialPath] = ()) -> Ends:
        """The answering tails with what proves their conditions, and each entity once, whatever it is called."""
        entities = doubtful(chosen)
        try:
            links = await self._in_grace(self.graph.links(entities), self._missed) if entities else ()
            return ends(chosen, links, checks)
        except TimeoutError:
            self._notes.warn("there was no time to find out whether some of the answers are one")
            return ends(chosen, checks=checks)

    async def _labels(self, shown: Sequence[Term]) -> Mapping[Term, str]:
        """The labels of what the document shows."""
        try:
            return await self._in_grace(self.graph.labels(shown), self._unnamed)
        except TimeoutError:
            self._labelled = False
            return {term: self.names.get(term) or own_name(term) for term in shown}

    def _answering(self, proven: Ends, names: Mapping[Term, str], kind: Kind) -> Ends:
        """The answering tails that have a name; all of them where labels are missing, and for a verdict or a count."""
        if self._unnamed or not self._labelled or kind in (*JUDGED, "count"):
            return proven
        named = without_nameless(proven, names)
        if number := proven.total - named.total:
            self._nameless = number
            self._notes.warn(f"{number:,} of the ends of its paths have no name in this graph and are no answers")
        return named

    def _status(self, answers: Sequence[AnswerValue], result: SearchResult, *, refused: bool = False) -> Status:
        if answers:
            return Status.ANSWERED
        if self._prepared.abstains:
            questions = f"questions of the kind {self._prepared.plan.kind}, which take a judgement"
            self._notes.warn(
                f"the model {self.reasoner.name} does not answer {questions}; name a language model with --model"
            )
            return Status.ABSTAINED
        # a wrong base URL answers each call, with a web page: no call that gave a reply is no search
        unheard = bool(self.ledger.calls) and all(call.error for call in self.ledger.calls)
        if not self._spent and (unheard or self._prepared.optionless):
            return Status.FAILED
        if self._missed or self._unnamed or any(near.failed for near in self._explored.all()):
            return Status.FAILED
        # neither is a likeness that is too small a judgement that the graph has none
        judged = self._record.judged and not (self.reasoner.exhaustive and self._record.considered)
        linked = not any(caveat.kind in UNLINKED for caveat in (*self._notes.caveats, *self._record.caveats))
        seen = result.exhausted and not (self._nameless or refused) and judged and linked and not self.reasoner.left_out
        return Status.NONE if seen and not self._spent else Status.NOT_FOUND

    def usage(self) -> Usage:
        """What the question has cost so far."""
        seconds = round(time.monotonic() - self._started, 3)
        return msgspec.structs.replace(self.cost().since(self._before), seconds=seconds, spent=self._spent)

    def _left(self) -> float | None:
        """Seconds until the question's time is over; None where it has no end."""
        return None if self._time == math.inf else self._time - (time.monotonic() - self._started)

    async def _within(self, work: Awaitable[T]) -> T:
        """The work's result, if no budget is spent before it is there. Raises BudgetError, once that is said."""
        try:
            return await self._in_time(work)
        except BudgetError as error:
            self._spent = error.budget
            self._notes.warn(f"{error}; what was found until then is returned")
            raise

    async def _in_time(self, work: Awaitable[T]) -> T:
        """The work's result, if it is there before the question's time is over. Raises BudgetError."""
        try:
            with deadline.within(self._left()), noted(self._missed):
                return await _bounded(work, self._left())
        except TimeoutError as error:
            question_limit, total = self.settings.budget.seconds, self.settings.total_budget.seconds
            limit, whose = (question_limit, "question") if self._clock == "seconds" else (total, "run")
            message = f"the time for this {whose} is over: {limit:g} s"
            raise BudgetError(message, budget=self._clock, asked=self.question) from error

    async def _in_grace(self, work: Awaitable[T], missed: dict[Gap, None]) -> T:
        """What the document needs at last, not waited for long after the question's time. Raises TimeoutError.

        Gaps go into `missed`.
        """
        left = self._left()
        seconds = None if left is None else max(GRACE, left)
        with deadline.within(seconds), noted(missed):
            return await _bounded(work, seconds)


async def _bounded(work: Awaitable[T], seconds: float | None) -> T:
    """The work's result, if it is there in so many seconds (None: whenever it is). Raises TimeoutError.

    What has time is done by the running task itself: one more for each step of a walk costs more than many a step.
    """
    if seconds is None or seconds <= 0:
        return await asyncio.wait_for(work, seconds)
    async with asyncio.timeout(seconds):
        return await work


def _log(answer: Answer) -> None:
    """What the question came to, and what it cost."""
    usage = answer.usage
    spent = f", the budget of {usage.spent} is spent" if usage.spent else ""
    log.info(
        "question %r: %s, %d answers, %d model calls, %d requests, %.1f s%s",
        line(answer.question),
        answer.status,
        len(answer.answers),
        usage.model_calls,
        usage.requests,
        usage.seconds,
        spent,
    )
