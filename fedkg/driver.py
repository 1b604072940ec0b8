"""The driver: does what a method asks for, over one graph with one model, for one question.

The method decides, the driver acts. A model that answers nonsense does not end a walk: its choice falls back to Path-RAG's
ranking, with a warning in the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from fedkg.calls.base import ReasoningModel
from fedkg.embed.base import Similarity
from fedkg.errors import (
    ModelContextError,
    ModelDeclinedError,
    ModelError,
    ModelFilteredError,
    ModelReplyError,
    TopicError,
)
from fedkg.events import Chosen, Event, Fetched, Ranked, Verified, Warned
from fedkg.graph.surroundings import Surroundings, frontier
from fedkg.methods.base import Answering, Choosing, Completing, Deducing, Expanding, Expansion, Need, Picking
from fedkg.records import JUDGED, Beam, Candidate, Conclusion, Match, Offer, Pick, Plan, Usage, Verdict
from fedkg.settings import Search
from fedkg.steps.complete import complete
from fedkg.steps.rank import DEFAULT_CANDIDATES, PathRag
from fedkg.steps.show import SHOWN_TAILS, offer_beam, offer_candidates
from fedkg.terms import Term
from fedkg.words import without

__all__ = ["UNUSABLE", "Driver"]

UNUSABLE = (ModelReplyError, ModelContextError, ModelDeclinedError, ModelFilteredError)
"""What one call can end with and the search goes on, by its own ranking: one hostile label may trip a content filter."""
EXHAUSTIVE_WIDTH = 12
"""Beam width for a model that scores all candidates at no cost: as many chains as still fit one batch per hop."""


@dataclass
class Driver:
    """Serves the needs of a method, and remembers what the answer is made of.

    `tell` takes the events of the walk, `usage` says what was spent so far. `plan` and `topics` are set before the walk. Of it
    are left: `names`, the labels that it has shown; `seen`, the beams that it came to last; `considered`, how many candidates
    were ranked; `judged`, whether the model was able to say which paths answer.
    """

    question: str
    around: Surroundings
    model: ReasoningModel
    similarity: Similarity
    search: Search
    tell: Callable[[Event], None]
    usage: Callable[[], Usage]
    plan: Plan
    topics: list[Match] = field(default_factory=list)
    names: dict[Term, str] = field(default_factory=dict)
    seen: tuple[Beam, ...] = ()
    considered: int = 0
    judged: bool = True

    def __post_init__(self) -> None:
        """Widens the search for a model to which offers cost nothing."""
        if self.model.exhaustive:
            self.search = msgspec.structs.replace(self.search, beam=EXHAUSTIVE_WIDTH)
        self._rag = PathRag(self.around, self.similarity, self._query, self.search)

    async def serve(self, need: Need) -> Any:
        """The reply to a need. Raises TopicError, BudgetError, EndpointError and ModelError."""
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
                self.seen = need.beams
                return await complete(self.around, need.beams)
            case Answering():
                return await self._conclude(need)

    async def _expand(self, need: Expanding) -> Expansion:
        self.seen = need.beams
        nodes = frontier(need.beams, self.search.frontier, self.around)
        await self.around.fetch(node for own in nodes for node in own)
        self.tell(self._fetched(need.depth))
        ranking = await self._rag.rank(need.beams, nodes, self._limit, lookahead=not need.last)
        self.names |= ranking.labels
        self.considered += len(ranking.candidates)
        if need.depth == 1:
            self._check_topics()
        self.topics = [self._named(match) for match in self.topics]
        page = ranking.candidates[: self._limit]
        offered = tuple(offer.text for offer in self._offered(need.beams, page))
        self.tell(Ranked(need.depth, len(ranking.candidates), offered))
        return Expansion(ranking.candidates, ranking.complete, self._limit or 0)

    def _check_topics(self) -> None:
        """Raises TopicError for a given IRI that no endpoint says anything of: a typing error is not the graph's "none"."""
        for match in self.topics:
            heard = [near for near in self.around.all() if near.entity == match.iri]
            known = match.mention or self.names.get(match.iri, match.iri.local_name) != match.iri.local_name
            if not known and not any(near.edges or near.failed for near in heard):
                raise TopicError(f"{self.around.graph.name} says nothing of {match.iri.value}", asked=match.iri.value)

    async def _choose(self, need: Choosing) -> tuple[Pick, ...]:
        offers = self._offered(need.beams, need.candidates)
        kept = self._walked(need.kept)
        try:
            picks = await self.model.choose(self.question, self.plan, offers, need.width, kept)
        except UNUSABLE as error:
            picks = self._best(len(offers), need.width, error)
        self._chosen(need.depth, offers, picks)
        self._verified(need.depth, offers, picks)
        return picks

    async def _pick(self, need: Picking) -> tuple[Pick, ...]:
        candidates = tuple(msgspec.structs.replace(candidate, beam=0) for candidate in need.candidates)
        offers = self._offered([need.beam], candidates)
        path = offer_beam(1, need.beam, self.names, self.topics) if need.beam.steps else None
        try:
            picks = await self.model.beam(self.question, self.plan, path, offers, need.width)
        except UNUSABLE as error:
            picks = self._best(len(offers), need.width, error)
        self._chosen(need.depth, offers, picks)
        return picks

    async def _deduce(self, need: Deducing) -> tuple[Verdict, ...]:
        new = len(need.beams)
        offers = self._walked((*need.beams, *need.kept))
        try:
            verdicts = (await self.model.deductive(self.question, self.plan, offers))[:new]
        except UNUSABLE as error:
            self._warn(f"not verified at depth {need.depth}: {error}")
            verdicts = tuple(Verdict(number, follows=True, finishes=False) for number in range(1, new + 1))
        self._verified(need.depth, offers, verdicts)
        return verdicts

    async def _conclude(self, need: Answering) -> Conclusion:
        self.seen = need.beams
        tails = [tail for beam in need.beams for tail in beam.tails[:SHOWN_TAILS]]
        self.names |= await self.around.graph.labels(tail for tail in tails if tail not in self.names)
        # where ends are picked they are listed below the path; one stands in it to tell what they are
        in_line = None if self.plan.kind in JUDGED else 1
        offers = [
            offer_beam(number, beam, self.names, self.topics, in_line=in_line)
            for number, beam in enumerate(need.beams, 1)
        ]
        try:
            conclusion = await self.model.answer(self.question, self.plan, offers)
        except UNUSABLE as error:
            self.judged = False
            conclusion = Conclusion(note=f"no answer was chosen: {error}")
        if conclusion.note:
            self._warn(conclusion.note)
        # whoever lists every tail that was shown means all, also those that completion finds
        some = {path: own for path, own in conclusion.tails.items() if len(set(own)) < len(offers[path - 1].tails)}
        return msgspec.structs.replace(conclusion, tails=some)

    def _offered(self, beams: Sequence[Beam], candidates: Sequence[Candidate]) -> list[Offer]:
        """The candidates as a model is shown them."""
        return offer_candidates(beams, candidates, self.names, self.topics, self.search.tails)

    def _walked(self, beams: Sequence[Beam]) -> list[Offer]:
        """Walked paths as a model is shown them."""
        return [offer_beam(n, beam, self.names, self.topics, self.search.tails) for n, beam in enumerate(beams, 1)]

    def _chosen(self, depth: int, offers: Sequence[Offer], picks: Sequence[Pick]) -> None:
        self.tell(Chosen(depth, tuple(offers[pick.number - 1].text for pick in picks)))

    def _verified(self, depth: int, offers: Sequence[Offer], verdicts: Sequence[Pick | Verdict]) -> None:
        kept = [verdict for verdict in verdicts if verdict.follows]
        done = [verdict for verdict in kept if verdict.finishes]
        shown = [tuple(offers[verdict.number - 1].text for verdict in part) for part in (kept, done)]
        self.tell(Verified(depth, *shown))

    def _best(self, offered: int, width: int, error: ModelError) -> tuple[Pick, ...]:
        self._warn(f"chosen by Path-RAG's ranking: {error}")
        return tuple(Pick(number) for number in range(1, min(offered, width) + 1))

    def _warn(self, message: str) -> None:
        self.tell(Warned(message))

    @property
    def _limit(self) -> int | None:
        search = self.search
        return None if self.model.exhaustive else search.candidates or DEFAULT_CANDIDATES[search.form]

    def _query(self, names: Mapping[Term, str]) -> str:
        """K: the keywords in one string, without the topics, which every candidate has in common."""
        text = " ".join(self.plan.keywords) if self.search.keywords and self.plan.keywords else self.question
        for match in self.topics:
            text = without(text, match.mention or names.get(match.iri, match.label))
        return text

    def _named(self, match: Match) -> Match:
        """A topic that was given by its IRI, with the label that came with the first hop."""
        label = self.names.get(match.iri, match.label)
        return match if match.mention else msgspec.structs.replace(match, label=label, mention=label)

    def _fetched(self, depth: int) -> Fetched:
        near = self.around.all()
        edges, incomplete = sum(len(part.edges) for part in near), sum(not part.complete for part in near)
        return Fetched(depth, len({part.entity for part in near}), edges, incomplete, self.usage())
