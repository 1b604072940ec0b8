"""One question on its way to an answer: planned, linked, walked by a method, and put together as a document.

A spent budget ends the walk: the answer then holds what was found until then. A deadline bounds all of it.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import msgspec

from fedkg.common.normalize import content_words
from fedkg.config.settings import Settings, public
from fedkg.core import deadline
from fedkg.core.answer import Answer, AnswerValue, Status
from fedkg.core.events import Answered, Event, Linked, Planned, Warned
from fedkg.core.gaps import noted
from fedkg.core.question import JUDGED, Kind, Mention, Plan, check_options, check_question, guessed
from fedkg.core.terms import Term, own_name
from fedkg.core.usage import Gap, Usage
from fedkg.embed.base import Similarity
from fedkg.engine import linking
from fedkg.engine.assembly import Ends, Selection, compose, doubtful, ends, remembered, terms
from fedkg.engine.interpreter import UNUSABLE, Interpreter
from fedkg.engine.presentation import path_text
from fedkg.errors import BudgetError
from fedkg.graph.base import Graph
from fedkg.graph.explored import ExploredGraph
from fedkg.llm.ledger import Ledger
from fedkg.methods import registry
from fedkg.methods.base import Found, Task
from fedkg.reasoner.base import ReasoningModel

__all__ = ["QuestionRun"]

GRACE = 1.0
"""Seconds for the last labels where the question's time is over: most are there already."""

T = TypeVar("T")


@dataclass
class QuestionRun:
    """One question on its way to an answer. `cost` tells the session's usage so far; the run reports the difference.

    `ledger` is the one that the model's calls go into; the time of its account bounds that of the question.
    """

    question: str
    graph: Graph
    model: ReasoningModel
    similarity: Similarity
    settings: Settings
    cost: Callable[[], Usage]
    topics: Sequence[str] = ()
    kind: Kind | None = None
    options: Sequence[str] = ()
    ledger: Ledger = field(default_factory=Ledger)

    def __post_init__(self) -> None:
        """Sets up what the walk remembers. Raises QuestionError."""
        self.question = check_question(self.question)
        self.kind, self.options = check_options(self.kind, self.options)
        self._started, self._before = time.monotonic(), self.cost()
        own, run = self.settings.budget.seconds or math.inf, self.ledger.account.left
        self._time, self._clock = min((own, "seconds"), (run, "run seconds"))
        self._method = registry.find(self.settings.method)
        self._found, self._spent = Found(), ""
        self._happened: list[Event] = []
        self._warnings: list[str] = []
        self._missed: dict[Gap, None] = {}
        self._driver = Interpreter(
            self.question,
            ExploredGraph(self.graph),
            self.model,
            self.similarity,
            self.settings.search,
            self._tell,
            self.usage,
            Plan(content_words(self.question), kind=self.kind or guessed(self.question), options=tuple(self.options)),
        )

    @property
    def names(self) -> Mapping[Term, str]:
        """The labels that the walk has shown."""
        return self._driver.names

    async def events(self) -> AsyncIterator[Event]:
        """The walk as it happens; the last event holds the answer. Raises InputError, EndpointError and ModelError."""
        with contextlib.suppress(BudgetError):
            await self._within(self._prepare())
            if not (self._abstains or self._optionless):
                async for event in self._walk():
                    yield event
        answer = await self._answer(self._found)
        for event in self._take():
            yield event
        yield Answered(answer)

    async def _prepare(self) -> None:
        """Plan and link; topics that the caller named are looked up before the model is paid."""
        driver = self._driver
        if self._method.graph:
            driver.topics = await linking.given(self.graph, self.topics, self.question)
        else:
            self._warn("nothing was looked up: the method asks the model alone, which answers from memory")
        try:
            if self._method.plans:
                driver.plan = self._shown(await self.model.plan(self.question, self.kind, self.options))
        except UNUSABLE as error:
            self._warn(f"planned by content words: {error}")
        self._tell(Planned(driver.plan))
        if self._optionless:
            self._warn("the options of this choice are not known, so nothing was looked for; give each with --option")
        elif not driver.topics and self._method.graph and not self._abstains:
            driver.topics = await linking.from_question(
                self.graph, self.question, driver.plan, self._warn, self._tell_apart
            )
        self._tell(Linked(tuple(driver.topics)))
        driver.names |= {match.iri: match.label for match in driver.topics if match.mention}

    def _shown(self, plan: Plan) -> Plan:
        """The plan as the calls after it are shown it: without its steps where the settings say so."""
        return plan if self.settings.search.planning else msgspec.structs.replace(plan, steps=())

    async def _tell_apart(self, mentions: Sequence[Mention]) -> Mapping[str, int]:
        """Which entities the model takes the mentions for; where it fails they stay as they were chosen without it."""
        try:
            return await self.model.link(self.question, mentions)
        except UNUSABLE as error:
            names = ", ".join(repr(mention.text[:100]) for mention in mentions)
            self._warn(f"which entity is meant by {names} was chosen by names alone: {error}")
            return {}

    @property
    def _abstains(self) -> bool:
        """Whether the model answers no questions of this kind."""
        return self._driver.plan.kind in self.model.abstains

    @property
    def _optionless(self) -> bool:
        """Whether there is nothing to choose from: nobody gave the options of a choice, and the plan failed to find them."""
        plan = self._driver.plan
        return plan.kind == "choice" and not plan.options and not self._abstains

    async def _walk(self) -> AsyncIterator[Event]:
        """Serves the method until it is done; what it found is in `_found`. Raises BudgetError, unless the method made do."""
        for event in self._take():
            yield event
        driver = self._driver
        topics = tuple(match.iri for match in driver.topics)
        walk = self._method.walk(Task(topics, driver.search, driver.plan.kind in JUDGED))
        go_on = partial(next, walk)
        while True:
            try:
                need = go_on()
            except StopIteration as end:
                self._found = end.value
                if self._found.note:
                    self._warn(self._found.note)
                    for event in self._take():
                        yield event
                return
            try:
                go_on = partial(walk.send, await self._within(driver.serve(need)))
            except BudgetError as error:
                go_on = partial(walk.throw, error)
            for event in self._take():
                yield event

    async def _answer(self, found: Found) -> Answer:
        """The document: every answer stands on a path, every path on edges that an endpoint said."""
        driver = self._driver
        proven = await self._proven(list(zip(found.beams, found.tails, strict=True)))
        if self._spent and not proven.shown:
            proven = await self._proven([(beam, ()) for beam in driver.seen if beam.steps])
        names = await self._labels(terms(proven))
        answers, paths = compose(driver.plan, proven, found.conclusion, names)
        answers += remembered(driver.plan, found.recalled)
        answers = answers if found.beams or found.recalled or not self._spent else ()
        for beam in found.beams:
            if not beam.complete:
                self._warn(f"there may be more: not every edge of {path_text(beam, self.names)} was fetched")
        if self.model.left_out:
            self._warn(
                f"the model's context had no room for {self.model.left_out:,} of the offers; they were not shown"
            )
        if proven.cut:
            self._warn(f"of {proven.total:,} ends of its paths the document leaves out {proven.cut:,}")
        return Answer(
            question=self.question,
            kind=driver.plan.kind,
            status=self._status(answers, found),
            answers=answers,
            paths=paths,
            gaps=(*driver.around.gaps(self._walked(found)), *self._missed),
            usage=self.usage(),
            warnings=tuple(self._warnings),
            settings=public(self.settings),
            ledger=self.ledger.calls,
            options=driver.plan.options,
            method=self.settings.method,
            measures=found.measures,
        )

    def _walked(self, found: Found) -> set[Term]:
        """The nodes that the answer, or where there is none the last beams, went through."""
        driver = self._driver
        beams = found.beams or driver.seen
        starts = {edge.start for beam in beams for step in beam.steps for edge in step.edges}
        return starts | {tail for beam in driver.seen for tail in beam.tails} | {match.iri for match in driver.topics}

    async def _proven(self, chosen: Selection) -> Ends:
        """The answering tails, and each entity once, whatever it is called."""
        entities = doubtful(chosen)
        try:
            return ends(chosen, await self._in_grace(self.graph.links(entities)) if entities else ())
        except TimeoutError:
            self._warn("there was no time to find out whether some of the answers are one")
            return ends(chosen)

    async def _labels(self, shown: Sequence[Term]) -> Mapping[Term, str]:
        """The labels of what the document shows."""
        try:
            return await self._in_grace(self.graph.labels(shown))
        except TimeoutError:
            return {term: self.names.get(term) or own_name(term) for term in shown}

    def _status(self, answers: Sequence[AnswerValue], found: Found) -> Status:
        if answers:
            return Status.ANSWERED
        driver = self._driver
        if self._abstains:
            what = f"questions of the kind {driver.plan.kind}, which take a judgement"
            self._warn(f"the model {self.model.name} does not answer {what}; name a language model with --model")
            return Status.ABSTAINED
        # a wrong base URL answers each call, with a web page: no call that gave a reply is no search
        unheard = bool(self.ledger.calls) and all(call.error for call in self.ledger.calls)
        if not self._spent and (unheard or self._optionless):
            return Status.FAILED
        if self._missed or any(near.failed for near in driver.around.all()):
            return Status.FAILED
        # neither is a likeness that is too small a judgement that the graph says none
        judged = driver.judged and not (self.model.exhaustive and driver.considered)
        seen = found.exhausted and judged and not self.model.left_out
        return Status.NONE if seen and not self._spent else Status.NOT_FOUND

    def usage(self) -> Usage:
        """What the question has cost so far."""
        seconds = round(time.monotonic() - self._started, 3)
        return msgspec.structs.replace(self.cost().since(self._before), seconds=seconds, spent=self._spent)

    def _warn(self, message: str) -> None:
        self._tell(Warned(message))

    def _tell(self, event: Event) -> None:
        """An event for whoever watches; a warning is for the document, too."""
        self._happened.append(event)
        if isinstance(event, Warned):
            self._warnings.append(event.message)

    def _take(self) -> list[Event]:
        events, self._happened = self._happened, []
        return events

    def _left(self) -> float | None:
        """Seconds until the question's time is over; None where it has no end."""
        return None if self._time == math.inf else self._time - (time.monotonic() - self._started)

    async def _within(self, work: Awaitable[T]) -> T:
        """The work's result, if no budget is spent before it is there. Raises BudgetError, once that is said."""
        try:
            return await self._in_time(work)
        except BudgetError as error:
            self._spent = error.budget
            self._warn(f"{error}; what was found until then is returned")
            raise

    async def _in_time(self, work: Awaitable[T]) -> T:
        """The work's result, if it is there before the question's time is over. Raises BudgetError."""
        try:
            with deadline.within(self._left()), noted(self._missed):
                return await asyncio.wait_for(work, self._left())
        except TimeoutError as error:
            own, run = self.settings.budget.seconds, self.settings.total_budget.seconds
            limit, whose = (own, "question") if self._clock == "seconds" else (run, "run")
            message = f"the time for this {whose} is over: {limit:g} s"
            raise BudgetError(message, budget=self._clock, asked=self.question) from error

    async def _in_grace(self, work: Awaitable[T]) -> T:
        """What the document needs at last; where the question's time is over it is not waited for long. Raises TimeoutError."""
        left = self._left()
        seconds = None if left is None else max(GRACE, left)
        with deadline.within(seconds), noted(self._missed):
            return await asyncio.wait_for(work, seconds)
