"""The table of handlers, and what all of them work with.

A handler is a coroutine that does what one kind of need asks for. `handles` registers it beside the need; mypy refuses
one whose reply is not the reply that the need declares.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar, cast

import msgspec

from fedkg.common.normalize import quoted, without
from fedkg.common.one_line import line
from fedkg.config.settings import Form
from fedkg.core.caveat import Caveat, CaveatKind
from fedkg.core.choice import PromptCandidate, PromptTopics
from fedkg.core.descriptions import brief
from fedkg.core.events import Event, Reached, Stage, Warned
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import JUDGED, Match
from fedkg.core.terms import Term
from fedkg.engine.mentions import spoken
from fedkg.engine.presentation import SHOWN_TAILS, path_candidate, shown_terms, step_candidates, topic_line
from fedkg.engine.walk import WalkContext, WalkRecord
from fedkg.errors import (
    MethodError,
    ModelContextError,
    ModelDeclinedError,
    ModelFilteredError,
    ModelReplyError,
    TopicError,
)
from fedkg.methods.base import Need
from fedkg.retrieval.base import RetrievalContext
from fedkg.retrieval.candidates import DEFAULT_CANDIDATES

__all__ = ["HANDLERS", "UNUSABLE", "Handler", "RunningWalk", "handles"]

UNUSABLE = (ModelReplyError, ModelContextError, ModelDeclinedError, ModelFilteredError)
"""What a call can end with and the search goes on, by its own ranking: a hostile label may trip a content filter."""

QUOTED = 200
"""Characters beyond which nothing is quoted."""

Reply = TypeVar("Reply")
Kind_co = TypeVar("Kind_co", bound=Need[object], covariant=True)


class RunningWalk:
    """A walk on its way: its context, its record, and what more than one handler does with them."""

    def __init__(self, context: WalkContext) -> None:
        self.context = context
        labels: dict[Term, str] = {match.iri: match.label for match in context.topics if match.mention}
        self.record = WalkRecord(labels, context.topics)

    @property
    def retrieval(self) -> RetrievalContext:
        """What retrievers work with; made anew each time, since one that is kept here would be in a cycle."""
        context = self.context
        # a plan without steps is no model's: its keywords are the question's words, which say nothing one by one
        plan = context.plan.keywords if context.plan.steps and context.search.keywords else ()
        topics = {(match.mention or match.label).casefold() for match in self.record.topics}
        keywords = tuple(keyword for keyword in plan if keyword.casefold() not in topics)
        return RetrievalContext(
            context.explored, context.similarity, self._query, context.search, context.question, keywords, context.top
        )

    @property
    def known(self) -> PromptTopics:
        """What the model is told of the topics."""
        context, record = self.context, self.record
        linked = (topic_line(match, record.labels, given=match.iri in context.given) for match in record.topics)
        dropped = (caveat.about for caveat in record.caveats if caveat.kind is CaveatKind.DROPPED_TOPIC)
        labels = [match.mention or match.label for match in record.topics]
        absent = (spoken(name, context.question, labels) for name in (*context.absent, *dropped))
        return PromptTopics(tuple(linked), tuple(dict.fromkeys(filter(None, absent))))

    def emit(self, event: Event) -> None:
        """Passes on an event of the walk."""
        self.context.emit(event)

    def warn(self, message: str) -> None:
        """Passes on a warning, which the document has too."""
        self.emit(Warned(message))

    def unjudged(self, message: str) -> None:
        """Passes on a warning that the model has not judged what it was shown: "none" is then not said."""
        self.record.judged = False
        self.warn(message)

    def admit(self, kind: CaveatKind, about: str) -> None:
        """Notes a caveat of the answer."""
        self.record.caveats.append(Caveat(kind, about))

    def quoted(self, words: str) -> str:
        """The question's own words that a model names; nothing, with a warning, where it has not these words."""
        quote = str(line(quoted(words, self.context.question))) if len(words) <= QUOTED else ""
        if words and not quote:
            self.warn("the model names an open condition in words that the question does not have: they are not taken")
        return quote

    def reached(self, depth: int, stage: Stage, steps: Sequence[Step | PartialPath]) -> None:
        """Passes on where the steps of that stage lead to."""
        edges = tuple(step.edges for step in steps)
        self.emit(Reached(depth, stage, tuple(step.tails for step in steps), self.record.labels, edges))

    def limit(self, form: Form, page: int | None = None) -> int | None:
        """How many candidates of that form are offered at once, `page` where that is given.

        None for a model to which they cost nothing.
        """
        context = self.context
        return None if context.reasoner.exhaustive else page or context.search.candidates or DEFAULT_CANDIDATES[form]

    def candidates(self, paths: Sequence[PartialPath], steps: Sequence[Step]) -> list[PromptCandidate]:
        """The next steps as a model is shown them, each with the path that it extends."""
        return step_candidates(paths, steps, self.record.labels, self.record.topics, self.context.search.tails)

    def walked(self, paths: Sequence[PartialPath]) -> list[PromptCandidate]:
        """Walked paths as a model is shown them."""
        labels, topics, tails = self.record.labels, self.record.topics, self.context.search.tails
        show = partial(path_candidate, shown_steps={})
        return [show(number, path, labels, topics, tails) for number, path in enumerate(paths, 1)]

    def offers(self, numbered: Mapping[int, PartialPath]) -> list[PromptCandidate]:
        """Paths as they are offered, by their numbers; each mediator is described once, where it comes first.

        Their ends are numbered where some of them may be picked.
        """
        record, tails, countable = self.record, self.context.search.tails, self.context.plan.kind not in JUDGED
        show = partial(path_candidate, numbered=countable, whole=record.whole, described=set(), shown_steps={})
        return [show(number, path, record.labels, record.topics, tails) for number, path in numbered.items()]

    def shown(self, path: PartialPath, number: int = 1, tails: int = SHOWN_TAILS) -> PromptCandidate:
        """One walked path as a model is shown it, with at most so many of its ends."""
        return path_candidate(number, path, self.record.labels, self.record.topics, tails)

    async def label(self, paths: Sequence[PartialPath]) -> None:
        """Fetches the labels that these paths show, as far as they are not there."""
        labels = self.record.labels
        terms = [term for path in paths for term in shown_terms(path)]
        labels |= await self.context.explored.graph.labels(term for term in terms if term not in labels)

    def check_topics(self) -> None:
        """Names the topics, and leaves out, with a warning, given IRIs of which no endpoint has anything.

        Raises TopicError where that is all of them: a typing error is not "none".
        """
        topics = self.record.topics
        unknown = [match for match in topics if not self._known(match)]
        messages = [f"{self.context.explored.graph.name} says nothing of {match.iri.value}" for match in unknown]
        if unknown and len(unknown) == len(topics):
            raise TopicError(messages[0], asked=unknown[0].iri.value)
        for match, message in zip(unknown, messages, strict=True):
            self.warn(f"{message}; the walk starts without it")
            self.admit(CaveatKind.DROPPED_TOPIC, match.iri.value)
        self.record.topics = tuple(self._named(match) for match in topics if match not in unknown)

    def describe_topics(self, page: Sequence[Step]) -> None:
        """Has the topics' short descriptions shown with them that came with the first hop, and are not on its page."""
        offered = {edge for step in page for edge in step.edges}

        def described(match: Match) -> Match:
            edges = (edge for edge in self.context.explored.edges(match.iri) if edge not in offered)
            return msgspec.structs.replace(match, description=match.description or brief(edges))

        self.record.topics = tuple(map(described, self.record.topics))

    def _known(self, match: Match) -> bool:
        """Whether there is such an entity, as far as is known: it was linked, or has a label, edges or an error."""
        neighbourhoods = [near for near in self.context.explored.all() if near.entity == match.iri]
        label = self.record.labels.get(match.iri, match.iri.local_name)
        named = match.mention or label != match.iri.local_name
        return bool(named) or any(near.edges or near.failed for near in neighbourhoods)

    def _named(self, match: Match) -> Match:
        """A topic that was given by its IRI, with the label that came with the first hop."""
        label = self.record.labels.get(match.iri, match.label)
        return match if match.mention else msgspec.structs.replace(match, label=label, mention=label)

    def _query(self, labels: Mapping[Term, str]) -> str:
        """K: the keywords in one string, without the topics, which every candidate has in common."""
        context = self.context
        keywords = context.plan.keywords if context.search.keywords else ()
        text = " ".join(keywords) if keywords else context.question
        for match in self.record.topics:
            text = without(text, match.mention or labels.get(match.iri, match.label))
        return text


Handler = Callable[[RunningWalk, Kind_co], Awaitable[Reply]]
HANDLERS: dict[type[Need[object]], Handler[Need[object], object]] = {}
"""Who does what a need asks for, by the kind of the need."""


class handles(Generic[Kind_co]):  # noqa: N801  # it is used as a decorator: @handles(Judging)
    """Registers a coroutine as the handler of one kind of need."""

    def __init__(self, kind: type[Kind_co]) -> None:
        self._kind = kind

    def __call__(
        self: "handles[Need[Reply]]", handler: Callable[[RunningWalk, Kind_co], Awaitable[Reply]]
    ) -> Callable[[RunningWalk, Kind_co], Awaitable[Reply]]:
        """The handler itself. Raises MethodError where the need has a handler already."""
        if other := HANDLERS.get(self._kind):
            raise MethodError(
                f"{self._kind.__name__} has a handler already: {other.__module__}.{other.__qualname__}",
                hint="declare a need of your own, or call that handler from yours",
            )
        HANDLERS[self._kind] = cast("Handler[Need[object], object]", handler)
        return handler
