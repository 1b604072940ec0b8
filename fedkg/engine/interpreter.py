"""The driver: does what a method asks for, over one graph with one model, for one question.

The method decides, the driver acts. A model that answers nonsense does not end a walk: its choice falls back to Path-RAG's
ranking, with a warning in the answer.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from fedkg.common.normalize import without
from fedkg.config.settings import Form, SearchSettings
from fedkg.core.choice import Choice, Conclusion, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.events import Chosen, Event, Fetched, Judged, Proposed, Ranked, Reached, Scored, Stage, Verified, Warned
from fedkg.core.path import PartialPath, Step
from fedkg.core.question import JUDGED, Match, Plan
from fedkg.core.terms import Term
from fedkg.core.usage import Usage
from fedkg.embed.base import Similarity
from fedkg.engine.completion import complete
from fedkg.engine.presentation import (
    offer_beam,
    offer_candidates,
    offer_step,
    relation_offer,
    shown_terms,
    surrounded,
    weighted,
    with_others,
)
from fedkg.errors import (
    ModelContextError,
    ModelDeclinedError,
    ModelError,
    ModelFilteredError,
    ModelReplyError,
    TopicError,
)
from fedkg.graph.explored import ExploredGraph, frontier, spread
from fedkg.methods.base import (
    Answering,
    AskingModelOnly,
    Choosing,
    Completing,
    Decoded,
    Decoding,
    Deducing,
    Expanding,
    Expansion,
    Inducing,
    Judging,
    Need,
    Picking,
    PlannedChain,
    Planning,
    Scoring,
)
from fedkg.reasoner.base import ReasoningModel
from fedkg.retrieval import registry as retrievers
from fedkg.retrieval.base import RankingRequest, RelationScorer, RetrievalContext, Retriever
from fedkg.retrieval.candidates import DEFAULT_CANDIDATES
from fedkg.retrieval.surroundings import relations_within, surroundings

__all__ = ["UNUSABLE", "Interpreter"]

UNUSABLE = (ModelReplyError, ModelContextError, ModelDeclinedError, ModelFilteredError)
"""What one call can end with and the search goes on, by its own ranking: one hostile label may trip a content filter."""
LIKELY = 0.5
"""The probability from which on a statement counts as deduced: yes is then at least as likely as no."""
HYPOTHESES = 3
"""Ends of a path that are shown as what it led to."""
EXHAUSTIVE_WIDTH = 12
"""PartialPath width for a model that scores all candidates at no cost: as many chains as still fit one batch per hop."""


@dataclass
class Interpreter:
    """Serves the needs of a method, and remembers what the answer is made of.

    `tell` takes the events of the walk, `usage` says what was spent so far. `plan` and `topics` are set before the walk.
    `retriever` stands for the one that the settings name. Of the walk are left: `names`, the labels that it has shown; `seen`,
    the paths that it came to last; `considered`, how many candidates were ranked; `judged`, whether the model was able to say
    which paths answer.
    """

    question: str
    around: ExploredGraph
    model: ReasoningModel
    similarity: Similarity
    search: SearchSettings
    tell: Callable[[Event], None]
    usage: Callable[[], Usage]
    plan: Plan
    topics: list[Match] = field(default_factory=list)
    names: dict[Term, str] = field(default_factory=dict)
    seen: tuple[PartialPath, ...] = ()
    considered: int = 0
    judged: bool = True
    retriever: Retriever | None = None

    def __post_init__(self) -> None:
        """Widens the search for a model to which offers cost nothing."""
        if self.model.exhaustive:
            self.search = msgspec.structs.replace(self.search, beam=EXHAUSTIVE_WIDTH)
        self._serves: dict[type[Need], Callable[[Any], Awaitable[Any]]] = {
            Expanding: self._expand,
            Choosing: self._choose,
            Decoding: self._decode,
            Picking: self._pick,
            Deducing: self._deduce,
            Completing: self._complete,
            Answering: self._conclude,
            Inducing: self._conclude,
            Scoring: self._score,
            Judging: self._judge,
            Planning: self._plan,
            AskingModelOnly: self._recall,
        }

    async def serve(self, need: Need) -> Any:
        """The reply to a need. Raises TopicError, BudgetError, EndpointError and ModelError."""
        return await self._serves[type(need)](need)

    async def _expand(self, need: Expanding) -> Expansion:
        self.seen = need.beams
        if need.frontier is None:
            nodes = frontier(need.beams, self.search.frontier, self.around)
        else:
            nodes = spread(need.beams, need.frontier)
        await self.around.fetch(node for own in nodes for node in own)
        self.tell(self._fetched(need.depth))
        form = need.form or self.search.form
        limit = self._limit(form)
        expanded = tuple(map(tuple, nodes))
        # a method that names no retriever scores the steps itself: the model is not asked twice
        scorer = self._relation_scorer(need) if need.retriever else None
        request = RankingRequest(need.beams, expanded, form, limit, not need.last, scorer)
        ranking = await self._retriever(need).rank(request, self._context)
        self.names |= ranking.labels
        self.considered += len(ranking.candidates)
        if need.depth == 1:
            self._check_topics()
        page = ranking.candidates[:limit]
        offered = tuple(offer.text for offer in self._offered(need.beams, page))
        self.tell(Ranked(need.depth, len(ranking.candidates), offered))
        self._reached(need.depth, "offered", page)
        return Expansion(ranking.candidates, ranking.complete, limit or 0)

    @property
    def _context(self) -> RetrievalContext:
        """What retrievers work with; made anew each time, since what is kept here and refers to this would be a cycle."""
        return RetrievalContext(self.around, self.similarity, self._query, self.search, self.question)

    def _retriever(self, need: Expanding) -> Retriever:
        """The retriever that the method names, else that of the settings."""
        name = need.retriever or self.search.retriever
        return self.retriever if self.retriever and name == self.search.retriever else retrievers.find(name)

    def _relation_scorer(self, need: Expanding) -> RelationScorer:
        """The model's scores of steps by their relations, for retrievers that rank by them."""

        async def scores(steps: Sequence[Step], labels: Mapping[Term, str]) -> Sequence[float]:
            self.names |= labels
            return await self._score(Scoring(need.depth, "relations", need.beams, tuple(steps)))

        return scores

    def _check_topics(self) -> None:
        """Names the topics, and leaves out, with a warning, given IRIs that no endpoint says anything of.

        Raises TopicError where that is all of them: a typing error is not "none".
        """
        unheard = [match for match in self.topics if not self._heard(match)]
        said = [f"{self.around.graph.name} says nothing of {match.iri.value}" for match in unheard]
        if unheard and unheard == self.topics:
            raise TopicError(said[0], asked=unheard[0].iri.value)
        for one in said:
            self._warn(f"{one}; the walk starts without it")
        self.topics = [self._named(match) for match in self.topics if match not in unheard]

    def _heard(self, match: Match) -> bool:
        """Whether there is such an entity, as far as can be told: it was found by name, or has a label, edges or an error."""
        found = [near for near in self.around.all() if near.entity == match.iri]
        known = match.mention or self.names.get(match.iri, match.iri.local_name) != match.iri.local_name
        return bool(known) or any(near.edges or near.failed for near in found)

    async def _choose(self, need: Choosing) -> tuple[Choice, ...]:
        offers = self._offered(need.beams, need.candidates)
        kept = self._walked(need.kept)
        try:
            picks = await self.model.choose(self.question, self.plan, offers, need.width, kept)
        except UNUSABLE as error:
            picks = self._best(len(offers), need.width, error)
        self._chosen(need.depth, offers, picks, need.candidates)
        self._verified(need.depth, offers, picks, need.candidates)
        return picks

    async def _pick(self, need: Picking) -> tuple[Choice, ...]:
        candidates = tuple(msgspec.structs.replace(candidate, beam=0) for candidate in need.candidates)
        offers = self._offered([need.beam], candidates)
        path = offer_beam(1, need.beam, self.names, self.topics) if need.beam.steps else None
        try:
            picks = await self.model.beam(self.question, self.plan, path, offers, need.width)
        except UNUSABLE as error:
            picks = self._best(len(offers), need.width, error)
        self._chosen(need.depth, offers, picks, candidates)
        return picks

    async def _decode(self, need: Decoding) -> Decoded | None:
        """Through the door `token` paths of one end each are written; each stands for its whole beam, which is told once."""
        paths = [(number, path) for number, beam in enumerate(need.beams, 1) for path in self._apart(beam)]
        if len(paths) > self.model.held:
            self._hop_by_hop(len(paths))
            return None
        offers = self._walked([path for _, path in paths])
        try:
            picks = await self.model.reasoning_paths(self.question, self.plan, offers, need.width)
        except UNUSABLE as error:
            self._warn(f"the paths are picked from hop to hop: {error}")
            return None
        self._chosen(max(len(beam.steps) for beam in need.beams), offers, picks, [path for _, path in paths])
        return Decoded(self.model.door, tuple(dict.fromkeys(paths[pick.number - 1][0] for pick in picks)))

    def _apart(self, beam: PartialPath) -> Sequence[PartialPath]:
        """The beam as the model is shown it: for one that writes paths as one for each of the ends that have their labels."""
        return [beam.alone(tail) for tail in beam.tails[: self.search.tails]] if self.model.door == "token" else [beam]

    def _hop_by_hop(self, paths: int) -> None:
        """Says that the door that was wanted is too narrow for these paths."""
        if self.search.door == self.model.door and self.model.held:
            most = f"more than the {self.model.held:,} that the door {self.model.door} takes"
            self._warn(f"the paths are picked from hop to hop: {paths:,} are {most}")

    async def _deduce(self, need: Deducing) -> tuple[Verdict, ...]:
        new = len(need.beams)
        offers = self._walked((*need.beams, *need.kept))
        try:
            verdicts = await (self._likely(offers, new) if need.weighed else self._deduced(offers, new))
        except UNUSABLE as error:
            self._warn(f"not verified at depth {need.depth}: {error}")
            verdicts = tuple(Verdict(number, follows=True, finishes=False) for number in range(1, new + 1))
        self._verified(need.depth, offers, verdicts, need.beams)
        return verdicts

    async def _deduced(self, offers: Sequence[PromptCandidate], new: int) -> tuple[Verdict, ...]:
        """The verdicts on the first of the offered paths, in one call."""
        return (await self.model.deductive(self.question, self.plan, offers))[:new]

    async def _likely(self, offers: Sequence[PromptCandidate], new: int) -> tuple[Verdict, ...]:
        """The verdicts on the first of the offered paths by the model's own probabilities, in a call for each."""
        likely = [
            await self.model.deducible(self.question, self.plan, path, [other for other in offers if other is not path])
            for path in offers[:new]
        ]
        return tuple(Verdict(number, True, share >= LIKELY) for number, share in enumerate(likely, 1))

    async def _score(self, need: Scoring) -> tuple[float, ...]:
        """The model's scores or, where it fails, those of the retriever, the best one as 1."""
        offers = self._steps(need) if need.what == "relations" else await self._ends(need)
        try:
            scores = await self._weigh(need, offers)
        except UNUSABLE as error:
            self._warn(f"scored by the retriever at depth {need.depth}: {error}")
            best = max((candidate.score for candidate in need.candidates), default=0.0)
            scores = tuple(max(0.0, candidate.score / best) if best > 0 else 0.5 for candidate in need.candidates)
        self._scored(need, offers, scores)
        return scores

    def _steps(self, need: Scoring) -> list[PromptCandidate]:
        """The next steps of one path, shown apart from it, or of several, each with its own."""
        alone = len(need.beams) == 1
        beams = [need.beams[0 if alone else step.beam] for step in need.candidates]
        return [
            offer_step(number, beam, step.relation, self.names, self.topics, alone=alone)
            for number, (beam, step) in enumerate(zip(beams, need.candidates, strict=True), 1)
        ]

    async def _weigh(self, need: Scoring, offers: Sequence[PromptCandidate]) -> tuple[float, ...]:
        """The scores, in one call; the path that all of the relations go on from is shown once."""
        if need.what == "entities":
            return await self.model.score_entities(self.question, self.plan, offers)
        path = offer_beam(1, need.beams[0], self.names, self.topics) if len(need.beams) == 1 else None
        return await self.model.score_relations(self.question, self.plan, path, offers)

    async def _ends(self, need: Scoring) -> list[PromptCandidate]:
        """Where the steps lead to, each with its path and, if that is wanted, with what the graph says around it."""
        self.seen = need.beams
        ends = [need.beams[step.beam].extend(step) for step in need.candidates]
        await self._label(ends)
        offers = self._walked(ends)
        if not need.surroundings:
            return offers
        near, names = await surroundings(ends, self._context)
        self.names |= names
        return [surrounded(offer, near.get(number, ()), self.names) for number, offer in enumerate(offers)]

    async def _judge(self, need: Judging) -> bool:
        self.seen = need.beams
        offers = self._walked(need.beams)
        try:
            adequate = await self.model.adequacy(self.question, self.plan, offers)
        except UNUSABLE as error:
            self._warn(f"whether the paths are enough was not judged: {error}")
            return False
        self.tell(Judged(tuple(offer.text for offer in offers), adequate))
        return adequate

    async def _plan(self, need: Planning) -> tuple[PlannedChain, ...]:
        """Chains of the offered relations from each topic; where the model fails, each of the best relations alone."""
        relations = need.relations or await relations_within(need.topics, need.depth, self._context)
        terms = [term for one in relations for term in (one.relation, one.via) if term]
        self.names |= await self.around.graph.labels([*need.topics, *terms])
        if not need.relations:
            self._check_topics()
        offers = self._relations([Step(0, relation, ()) for relation in relations])
        try:
            planned = await self.model.relation_paths(self.question, self.plan, offers, need.depth, need.most)
        except UNUSABLE as error:
            self._warn(f"planned by the retriever's ranking: {error}")
            planned = tuple(RelationPath((number,)) for number in range(1, min(len(relations), need.most) + 1))
        self.tell(Proposed(tuple(_chained(offers, one) for one in planned)))
        chains = [(tuple(relations[number - 1] for number in one.relations), one.weight) for one in planned]
        return tuple(PlannedChain(topic, chain, weight) for chain, weight in chains for topic in need.topics)

    async def _recall(self, need: AskingModelOnly) -> ModelOnlyAnswer | None:
        kind, options = self.plan.kind, self.plan.options
        try:
            return await self.model.model_only(self.question, kind, options, need.style, need.sample)
        except UNUSABLE as error:
            self._warn(f"the model gave no answer: {error}")
            return None

    async def _complete(self, need: Completing) -> tuple[PartialPath, ...]:
        self.seen = need.beams
        return await complete(self.around, need.beams)

    async def _conclude(self, need: Answering | Inducing) -> Conclusion:
        self.seen = beams = need.beams
        self._reached(max((len(beam.steps) for beam in beams), default=0), "shown", beams)
        also = need.also if isinstance(need, Answering) else ()
        await self._label([*beams, *(beam for others in also for beam in others)])
        # where ends are picked they are listed below the path; one stands in it to tell what they are
        in_line = None if self.plan.kind in JUDGED else 1
        offers = [
            offer_beam(number, beam, self.names, self.topics, in_line=in_line) for number, beam in enumerate(beams, 1)
        ]
        for number, others in enumerate(also):
            shown = [offer_beam(1, beam, self.names, self.topics, in_line=in_line) for beam in others]
            offers[number] = with_others(offers[number], shown)
        if isinstance(need, Answering) and need.weighted:
            offers = list(map(weighted, offers))
        try:
            conclusion = await self._answered(need, offers)
        except UNUSABLE as error:
            self.judged = False
            conclusion = Conclusion(note=f"no answer was chosen: {error}")
        if conclusion.note:
            self._warn(conclusion.note)
        # whoever lists every tail that was shown means all, also those that completion finds
        some = {path: own for path, own in conclusion.tails.items() if len(set(own)) < len(offers[path - 1].tails)}
        return msgspec.structs.replace(conclusion, tails=some)

    async def _answered(self, need: Answering | Inducing, offers: Sequence[PromptCandidate]) -> Conclusion:
        if isinstance(need, Answering):
            return await self.model.answer(self.question, self.plan, offers)
        hypotheses = [", ".join(offer.tails[:HYPOTHESES]) for offer in offers]
        return await self.model.inductive(self.question, self.plan, offers, hypotheses)

    async def _label(self, beams: Sequence[PartialPath]) -> None:
        """Gets the labels that the offers of these beams show, as far as they are not there."""
        shown = [term for beam in beams for term in shown_terms(beam)]
        self.names |= await self.around.graph.labels(term for term in shown if term not in self.names)

    def _relations(self, candidates: Sequence[Step]) -> list[PromptCandidate]:
        """Steps as a model is shown them without what they lead to: `→ author →`."""
        topic = next((match.mention or match.label for match in self.topics), "") if len(self.topics) == 1 else ""
        offers = [relation_offer(number, step.relation, self.names) for number, step in enumerate(candidates, 1)]
        return [msgspec.structs.replace(offer, topic=topic) for offer in offers]

    def _offered(self, beams: Sequence[PartialPath], candidates: Sequence[Step]) -> list[PromptCandidate]:
        """The candidates as a model is shown them."""
        return offer_candidates(beams, candidates, self.names, self.topics, self.search.tails)

    def _walked(self, beams: Sequence[PartialPath]) -> list[PromptCandidate]:
        """Walked paths as a model is shown them."""
        return [offer_beam(n, beam, self.names, self.topics, self.search.tails) for n, beam in enumerate(beams, 1)]

    def _chosen(
        self,
        depth: int,
        offers: Sequence[PromptCandidate],
        picks: Sequence[Choice],
        steps: Sequence[Step | PartialPath],
    ) -> None:
        self.tell(Chosen(depth, tuple(offers[pick.number - 1].text for pick in picks)))
        self._reached(depth, "chosen", [steps[pick.number - 1] for pick in picks])

    def _verified(
        self,
        depth: int,
        offers: Sequence[PromptCandidate],
        verdicts: Sequence[Choice | Verdict],
        steps: Sequence[Step | PartialPath],
    ) -> None:
        kept = [verdict.number - 1 for verdict in verdicts if verdict.follows]
        done = [verdict.number - 1 for verdict in verdicts if verdict.follows and verdict.finishes]
        self.tell(Verified(depth, *(tuple(offers[index].text for index in part) for part in (kept, done))))
        self._reached(depth, "kept", [steps[index] for index in kept])
        self._reached(depth, "finished", [steps[index] for index in done])

    def _reached(self, depth: int, stage: Stage, steps: Sequence[Step | PartialPath]) -> None:
        self.tell(Reached(depth, stage, tuple(step.tails for step in steps), self.names))

    def _scored(self, need: Scoring, offers: Sequence[PromptCandidate], scores: Sequence[float]) -> None:
        ranked = sorted(zip(offers, scores, strict=True), key=lambda one: -one[1])
        if ranked:
            lines, worth = tuple(offer.text for offer, _ in ranked), tuple(score for _, score in ranked)
            self.tell(Scored(need.depth, need.what, lines, worth))

    def _best(self, offered: int, width: int, error: ModelError) -> tuple[Choice, ...]:
        self._warn(f"chosen by Path-RAG's ranking: {error}")
        return tuple(Choice(number) for number in range(1, min(offered, width) + 1))

    def _warn(self, message: str) -> None:
        self.tell(Warned(message))

    def _limit(self, form: Form) -> int | None:
        return None if self.model.exhaustive else self.search.candidates or DEFAULT_CANDIDATES[form]

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


def _chained(offers: Sequence[PromptCandidate], path: RelationPath) -> str:
    """A chain of offered relations as one line: `→ director → → spouse →`."""
    return " ".join(offers[number - 1].text for number in path.relations)
