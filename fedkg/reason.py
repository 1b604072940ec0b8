"""Drives a method over a graph: does what the method asks for, yields events, keeps to budget and deadline.

The method decides, the driver acts. A model that answers nonsense does not end a walk: its choice falls back to Path-RAG's
ranking, with a warning in the answer. A spent budget does: the answer then holds what was found until then.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

import msgspec

from fedkg import deadline
from fedkg.calls.base import ReasoningModel
from fedkg.embed.base import Similarity
from fedkg.errors import BudgetError, ModelContextError, ModelError, ModelReplyError, QuestionError, TopicError
from fedkg.events import Answered, Chosen, Event, Fetched, Linked, Planned, Ranked, Verified, Warned
from fedkg.graph.base import Graph
from fedkg.graph.surroundings import Surroundings, frontier
from fedkg.llm.ledger import Ledger
from fedkg.methods import fidelis
from fedkg.methods.base import Answering, Choosing, Completing, Deducing, Expanding, Expansion, Found, Need, Picking
from fedkg.missing import noted
from fedkg.records import (
    FEWEST_OPTIONS,
    JUDGED,
    MOST_OPTIONS,
    Answer,
    AnswerValue,
    Beam,
    Conclusion,
    Gap,
    Kind,
    Match,
    Mention,
    Offer,
    Pick,
    Plan,
    Status,
    Usage,
    Verdict,
)
from fedkg.settings import Settings, public
from fedkg.steps import link
from fedkg.steps.answer import Ends, Selection, compose, doubtful, ends, terms
from fedkg.steps.complete import complete
from fedkg.steps.rank import DEFAULT_CANDIDATES, PathRag
from fedkg.steps.show import SHOWN_TAILS, offer_beam, offer_candidates, path_text
from fedkg.terms import Term, own_name
from fedkg.words import content_words, without

__all__ = ["LONGEST_OPTION", "LONGEST_QUESTION", "Run", "check_options", "check_question"]

LONGEST_QUESTION = 4_000
"""Characters; cases that end in a question, as in medical examinations, have up to 2,700."""
LONGEST_OPTION = 500
UNUSABLE = (ModelReplyError, ModelContextError)
"""What one call can end with and the search goes on, by its own ranking."""
GRACE = 1.0
"""Seconds for the last labels where the question's time is over: most are there already."""
EXHAUSTIVE_WIDTH = 12
"""Beam width for a model that scores all candidates at no cost: as many chains as still fit one batch per hop."""

T = TypeVar("T")


def check_question(question: str) -> str:
    """The question in one line. Raises QuestionError where it is empty or no question of this length is one."""
    text = " ".join(question.split())
    if not text:
        raise QuestionError("the question is empty")
    if text != text.encode("utf-8", "replace").decode("utf-8"):
        raise QuestionError("the question holds bytes that are no UTF-8 text")
    if len(text) > LONGEST_QUESTION:
        raise QuestionError(f"the question has {len(text):,} characters; at most {LONGEST_QUESTION:,} are taken")
    return text


def check_options(kind: Kind | None, options: Sequence[str]) -> tuple[Kind | None, tuple[str, ...]]:
    """The kind and the options, each in one line; options make a choice. Raises QuestionError where they do not fit."""
    if kind is not None and kind not in get_args(Kind):
        raise QuestionError(f"no kind of question is called {kind!r}", hint=f"kinds: {', '.join(get_args(Kind))}")
    if not options:
        return kind, ()
    if kind not in (None, "choice"):
        raise QuestionError(f"a question of the kind {kind} has no options", hint="options are those of a choice")
    lines = tuple(" ".join(option.split()) for option in options)
    if fault := _fault(lines):
        raise QuestionError(fault, hint=f"give {FEWEST_OPTIONS} to {MOST_OPTIONS} different options")
    return "choice", lines


def _fault(options: Sequence[str]) -> str:
    """What is wrong with the options; empty where nothing is."""
    if not FEWEST_OPTIONS <= len(options) <= MOST_OPTIONS:
        return f"{len(options)} {'option is' if len(options) == 1 else 'options are'} no choice"
    if not all(options):
        return "an option is empty"
    if len({option.casefold() for option in options}) < len(options):
        return "an option is given twice"
    longest = max(map(len, options))
    if longest > LONGEST_OPTION:
        return f"an option has {longest:,} characters; at most {LONGEST_OPTION:,} are taken"
    return ""


@dataclass
class Run:
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
        """Sets up what the walk remembers; `names` are the labels that it has shown. Raises QuestionError."""
        self.question = check_question(self.question)
        self.kind, self.options = check_options(self.kind, self.options)
        self._around = Surroundings(self.graph)
        self._started, self._before = time.monotonic(), self.cost()
        own, run = self.settings.budget.seconds or math.inf, self.ledger.account.left
        self._time, self._clock = min((own, "seconds"), (run, "run seconds"))
        self._plan = Plan(())
        self._linked: list[Match] = []
        self.names: dict[Term, str] = {}
        self._seen: tuple[Beam, ...] = ()
        self._considered = 0
        self._happened: list[Event] = []
        self._warnings: list[str] = []
        self._missed: dict[Gap, None] = {}

    async def events(self) -> AsyncIterator[Event]:
        """The walk as it happens; the last event holds the answer. Raises InputError, EndpointError and ModelError."""
        found, spent = Found(), ""
        try:
            await self._within(self._prepare())
            if self._plan.kind not in self.model.abstains:
                async for event in self._walk():
                    yield event
                found = self._found
        except BudgetError as error:
            spent = error.budget
            self._warn(f"{error}; what was found until then is returned")
        answer = await self._answer(found, spent)
        for event in self._take():
            yield event
        yield Answered(answer)

    async def _prepare(self) -> None:
        """Plan and link; topics that the caller named are looked up before the model is paid."""
        self._linked = await link.given(self.graph, self.topics, self.question)
        try:
            self._plan = await self.model.plan(self.question, self.kind, self.options)
        except UNUSABLE as error:
            self._plan = Plan(content_words(self.question), kind=self.kind or "entities", options=tuple(self.options))
            self._warn(f"planned by content words: {error}")
        self._happened.append(Planned(self._plan))
        if not self._linked and self._plan.kind not in self.model.abstains:
            self._linked = await link.from_question(self.graph, self.question, self._plan, self._warn, self._tell_apart)
        self._happened.append(Linked(tuple(self._linked)))
        self.names |= {match.iri: match.label for match in self._linked if match.mention}

    async def _tell_apart(self, mentions: Sequence[Mention]) -> Mapping[str, int]:
        """Which entities the model takes the mentions for; where it fails they stay as they were chosen without it."""
        try:
            return await self.model.link(self.question, mentions)
        except UNUSABLE as error:
            names = ", ".join(repr(mention.text[:100]) for mention in mentions)
            self._warn(f"which entity is meant by {names} was chosen by names alone: {error}")
            return {}

    async def _walk(self) -> AsyncIterator[Event]:
        """Serves the method until it is done; what it found is in `_found`."""
        for event in self._take():
            yield event
        search = self.settings.search
        if self.model.exhaustive:
            search = msgspec.structs.replace(search, beam=EXHAUSTIVE_WIDTH)
        self._rag = PathRag(self._around, self.similarity, self._query, search)
        walk = fidelis.search([match.iri for match in self._linked], search, together=self._plan.kind in JUDGED)
        reply: Any = None
        while True:
            try:
                need = walk.send(reply)
            except StopIteration as end:
                self._found: Found = end.value
                return
            reply = await self._within(self._serve(need))
            for event in self._take():
                yield event

    async def _serve(self, need: Need) -> Any:
        match need:
            case Expanding():
                return await self._expand(need)
            case Choosing():
                return await self._choose(need)
            case Picking():
                return await self._pick(need)
            case Deducing():
                return await self._deduce(need)
            case Completing():
                return await complete(self._around, need.beams)
            case Answering():
                return await self._conclude(need)

    async def _expand(self, need: Expanding) -> Expansion:
        self._seen = need.beams
        nodes = frontier(need.beams, self.settings.search.frontier, self._around)
        await self._around.fetch(node for own in nodes for node in own)
        self._happened.append(self._fetched(need.depth))
        ranking = await self._rag.rank(need.beams, nodes, self._limit, lookahead=not need.last)
        self.names |= ranking.labels
        self._considered += len(ranking.candidates)
        if need.depth == 1:
            self._check_topics()
        self._linked = [self._named(match) for match in self._linked]
        page = ranking.candidates[: self._limit]
        offers = offer_candidates(need.beams, page, self.names, self._linked, self.settings.search.tails)
        offered = tuple(offer.text for offer in offers)
        self._happened.append(Ranked(need.depth, len(ranking.candidates), offered))
        return Expansion(ranking.candidates, ranking.complete, self._limit or 0)

    def _check_topics(self) -> None:
        """Raises TopicError for a given IRI that no endpoint says anything of: a typing error is not the graph's "none"."""
        for match in self._linked:
            heard = [near for near in self._around.all() if near.entity == match.iri]
            known = match.mention or self.names.get(match.iri, match.iri.local_name) != match.iri.local_name
            if not known and not any(near.edges or near.failed for near in heard):
                raise TopicError(f"{self.graph.name} says nothing of {match.iri.value}", asked=match.iri.value)

    async def _choose(self, need: Choosing) -> tuple[Pick, ...]:
        tails = self.settings.search.tails
        offers = offer_candidates(need.beams, need.candidates, self.names, self._linked, tails)
        kept = [offer_beam(number, beam, self.names, self._linked, tails) for number, beam in enumerate(need.kept, 1)]
        try:
            picks = await self.model.choose(self.question, self._plan, offers, need.width, kept)
        except UNUSABLE as error:
            picks = self._best(len(offers), need.width, error)
        self._happened.append(Chosen(need.depth, tuple(offers[pick.number - 1].text for pick in picks)))
        self._verified(need.depth, offers, picks)
        return picks

    async def _pick(self, need: Picking) -> tuple[Pick, ...]:
        candidates = tuple(msgspec.structs.replace(candidate, beam=0) for candidate in need.candidates)
        offers = offer_candidates([need.beam], candidates, self.names, self._linked, self.settings.search.tails)
        path = offer_beam(1, need.beam, self.names, self._linked) if need.beam.steps else None
        try:
            picks = await self.model.beam(self.question, self._plan, path, offers, need.width)
        except UNUSABLE as error:
            picks = self._best(len(offers), need.width, error)
        self._happened.append(Chosen(need.depth, tuple(offers[pick.number - 1].text for pick in picks)))
        return picks

    async def _deduce(self, need: Deducing) -> tuple[Verdict, ...]:
        tails = self.settings.search.tails
        offers = [offer_beam(n, beam, self.names, self._linked, tails) for n, beam in enumerate(need.beams, 1)]
        try:
            verdicts = await self.model.deductive(self.question, self._plan, offers)
        except UNUSABLE as error:
            self._warn(f"not verified at depth {need.depth}: {error}")
            verdicts = tuple(Verdict(offer.number, follows=True, finishes=False) for offer in offers)
        self._verified(need.depth, offers, verdicts)
        return verdicts

    def _verified(self, depth: int, offers: Sequence[Offer], verdicts: Sequence[Pick | Verdict]) -> None:
        kept = [verdict for verdict in verdicts if verdict.follows]
        done = [verdict for verdict in kept if verdict.finishes]
        shown = [tuple(offers[verdict.number - 1].text for verdict in part) for part in (kept, done)]
        self._happened.append(Verified(depth, *shown))

    async def _conclude(self, need: Answering) -> Conclusion:
        self._seen = need.beams
        tails = [tail for beam in need.beams for tail in beam.tails[:SHOWN_TAILS]]
        self.names |= await self.graph.labels(tail for tail in tails if tail not in self.names)
        # where ends are picked they are listed below the path; one stands in it to tell what they are
        in_line = None if self._plan.kind in JUDGED else 1
        offers = [
            offer_beam(number, beam, self.names, self._linked, in_line=in_line)
            for number, beam in enumerate(need.beams, 1)
        ]
        try:
            conclusion = await self.model.answer(self.question, self._plan, offers)
        except UNUSABLE as error:
            conclusion = Conclusion(note=f"no answer was chosen: {error}")
        if conclusion.note:
            self._warn(conclusion.note)
        # whoever lists every tail that was shown means all, also those that completion finds
        some = {path: own for path, own in conclusion.tails.items() if len(set(own)) < len(offers[path - 1].tails)}
        return msgspec.structs.replace(conclusion, tails=some)

    async def _answer(self, found: Found, spent: str) -> Answer:
        """The document: every answer stands on a path, every path on edges that an endpoint said."""
        proven = await self._proven(list(zip(found.beams, found.tails, strict=True)))
        if spent and not proven.shown:
            proven = await self._proven([(beam, ()) for beam in self._seen if beam.steps])
        names = await self._labels(terms(proven))
        answers, paths = compose(self._plan, proven, found.conclusion, names)
        answers = answers if found.beams or not spent else ()
        for beam in found.beams:
            if not beam.complete:
                self._warn(f"there may be more: not every edge of {path_text(beam, self.names)} was fetched")
        if self.model.left_out:
            self._warn(
                f"the model's context had no room for {self.model.left_out:,} of the offers; they were not shown"
            )
        if proven.cut:
            self._warn(f"the document shows {len(proven.shown):,} answers and leaves out {proven.cut:,}")
        return Answer(
            question=self.question,
            kind=self._plan.kind,
            status=self._status(answers, found, spent),
            answers=answers,
            paths=paths,
            gaps=(*self._around.gaps(self._walked(found)), *self._missed),
            usage=self._usage(spent),
            warnings=tuple(self._warnings),
            settings=public(self.settings),
            ledger=self.ledger.calls,
        )

    def _walked(self, found: Found) -> set[Term]:
        """The nodes that the answer, or where there is none the last beams, went through."""
        beams = found.beams or self._seen
        starts = {edge.start for beam in beams for step in beam.steps for edge in step.edges}
        return starts | {tail for beam in self._seen for tail in beam.tails} | {match.iri for match in self._linked}

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

    async def _in_grace(self, work: Awaitable[T]) -> T:
        """What the document needs at last; where the question's time is over it is not waited for long. Raises TimeoutError."""
        left = self._left()
        seconds = None if left is None else max(GRACE, left)
        with deadline.within(seconds), noted(self._missed):
            return await asyncio.wait_for(work, seconds)

    def _status(self, answers: Sequence[AnswerValue], found: Found, spent: str) -> Status:
        if answers:
            return Status.ANSWERED
        if self._plan.kind in self.model.abstains:
            what = f"questions of the kind {self._plan.kind}, which take a judgement"
            self._warn(f"the model {self.model.name} does not answer {what}; name a language model with --model")
            return Status.ABSTAINED
        if self._missed or any(near.failed for near in self._around.all()):
            return Status.FAILED
        # a likeness that is too small is no judgement that the graph says none
        judged = not (self.model.exhaustive and self._considered)
        seen = found.exhausted and judged and not self.model.left_out
        return Status.NONE if seen and not spent else Status.NOT_FOUND

    @property
    def _limit(self) -> int | None:
        search = self.settings.search
        return None if self.model.exhaustive else search.candidates or DEFAULT_CANDIDATES[search.form]

    def _query(self, names: Mapping[Term, str]) -> str:
        """K: the keywords in one string, without the topics, which every candidate has in common."""
        text = " ".join(self._plan.keywords) if self.settings.search.keywords and self._plan.keywords else self.question
        for match in self._linked:
            text = without(text, match.mention or names.get(match.iri, match.label))
        return text

    def _named(self, match: Match) -> Match:
        """A topic that was given by its IRI, with the label that came with the first hop."""
        label = self.names.get(match.iri, match.label)
        return match if match.mention else msgspec.structs.replace(match, label=label, mention=label)

    def _best(self, offered: int, width: int, error: ModelError) -> tuple[Pick, ...]:
        self._warn(f"chosen by Path-RAG's ranking: {error}")
        return tuple(Pick(number) for number in range(1, min(offered, width) + 1))

    def _fetched(self, depth: int) -> Fetched:
        near = self._around.all()
        edges, incomplete = sum(len(part.edges) for part in near), sum(not part.complete for part in near)
        return Fetched(depth, len({part.entity for part in near}), edges, incomplete, self._usage(""))

    def _usage(self, spent: str) -> Usage:
        seconds = round(time.monotonic() - self._started, 3)
        return msgspec.structs.replace(self.cost().since(self._before), seconds=seconds, spent=spent)

    def _warn(self, message: str) -> None:
        self._warnings.append(message)
        self._happened.append(Warned(message))

    def _take(self) -> list[Event]:
        events, self._happened = self._happened, []
        return events

    def _left(self) -> float | None:
        """Seconds until the question's time is over; None where it has no end."""
        return None if self._time == math.inf else self._time - (time.monotonic() - self._started)

    async def _within(self, work: Awaitable[T]) -> T:
        """The work's result, if it is there before the question's time is over. Raises BudgetError."""
        try:
            with deadline.within(self._left()), noted(self._missed):
                return await asyncio.wait_for(work, self._left())
        except TimeoutError as error:
            limits = {"seconds": self.settings.budget.seconds, "run seconds": self.settings.run.seconds}
            whose = "question" if self._clock == "seconds" else "run"
            message = f"the {limits[self._clock]:g} seconds for this {whose} are over"
            raise BudgetError(message, budget=self._clock, asked=self.question) from error
