"""A reasoning model without any language model: for use without a key, for tests, and as a baseline.

It plans by content words, looks for the chain of relations that the question's words say best (`reading`), stops
when no longer chain is said better, and answers with the tails of the best chain. What it cannot do, it abstains from.
"""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

import msgspec
import numpy as np

from fedkg.common.bounded import BoundedDict
from fedkg.common.normalize import content_words
from fedkg.config.settings import ConstraintLevel
from fedkg.core.choice import (
    ChainEvidence,
    Choice,
    Conclusion,
    Decision,
    ModelOnlyAnswer,
    PromptCandidate,
    RelationPath,
    Verdict,
)
from fedkg.core.conversation import Reference
from fedkg.core.nameless import NO_NAME
from fedkg.core.operation import Operation
from fedkg.core.question import Kind, Plan
from fedkg.embed.base import Matrix, Similarity
from fedkg.reasoner.base import Call, CallTable
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.follow_up import FollowUpCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.operate import OperateCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.local.asked_paths import AskedPaths, asked_paths, kind_asked
from fedkg.reasoner.local.chains import RelationChain, RelationName, chain_of, mirrored
from fedkg.reasoner.local.confidence import Calibration, of_embedder
from fedkg.reasoner.local.evidence import evidence, question_words, shared
from fedkg.reasoner.local.follow_up import referred
from fedkg.reasoner.local.kinds import asked, of_kind
from fedkg.reasoner.local.likeness import likeness
from fedkg.reasoner.local.operations import operation
from fedkg.reasoner.local.parting import partings
from fedkg.reasoner.local.reading import ChainJudgement, Reading, together
from fedkg.reasoner.local.unread import unread
from fedkg.reasoner.local.value_relations import holding
from fedkg.reasoner.local.verdict import verdict

__all__ = ["LocalModel"]

READINGS = 64
"""Readings that are kept: those of the questions under way, with what their spans are like."""
PLANNED = 12
"""Plans that are made longer, of each length: all chains of three of thirty relations would be 27,000."""
HOPELESS = 0.35
"""How much worse than the best a chain may be to be walked on: fewer chains are looked at more closely (tuned)."""
NAMELESS = 0.15
"""Taken off where no end has a name: one as good with names is meant."""
WHOLE = 0.4
"""What the likeness to a relation's whole name counts beside that to its label (tuned)."""
LEFT = 0.05
"""A chain that fits so much better without some of the words does not say all of the question."""
DOUBTED = 0.5
"""The most confidence in an answer to a question of which something was not read."""
NAMED = 0.95
"""How likely a relation that is called as what is compared holds it (all of the tuning half's)."""
LEAST = 0.01
"""The score of what has something in common with the question, whatever speaks against it: 0 is dropped."""

RANKED = re.compile(r"'(?:most|least|fewest|than|best|worst|\w+est)'")
"""Words of which one that is not read refuses an answer with several ends: all weights are no heaviest animal."""
JOINED = re.compile(r"\b(?:both|and|as well as|share|together|common)\b", re.IGNORECASE)
"""Words by which what is asked for has to do with all topics that are named."""

Reply = TypeVar("Reply")
REPLIES: CallTable["LocalModel"] = CallTable()


class LocalModel:
    """Chooses by how well the question without its topic says the relations of a chain.

    `calibration` tells how likely that is right; without one it is the bundled one for that similarity.
    """

    name = "local"
    exhaustive = True
    left_out = 0
    constraint_level: ConstraintLevel = "index"
    constraint_limit = 0
    abstains: frozenset[Kind] = frozenset({"claim", "choice"})

    def __init__(self, similarity: Similarity, calibration: Calibration | None = None) -> None:
        self._similarity = similarity
        self._readings: BoundedDict[tuple[str, str, tuple[str, ...]], Reading] = BoundedDict(READINGS)
        self._calibration = calibration or of_embedder(similarity.name)

    async def ask(self, call: Call[Reply]) -> Reply:
        """The reply to the call. Raises ModelDeclinedError for a kind of call that it has no reply to."""
        return await REPLIES.ask(self, call)

    async def close(self) -> None:
        """Nothing to free."""

    @REPLIES.replies_to(PlanCall)
    async def _plan(self, call: PlanCall) -> Plan:
        """Content words as keywords; the kind by the question's first words; mentions are left to the linking step."""
        keywords = content_words(call.question) or (call.question,)
        return Plan(keywords, kind=call.kind or kind_asked(call.question), options=tuple(call.options))

    @REPLIES.replies_to(LinkCall)
    async def _link(self, call: LinkCall) -> dict[str, int]:
        """Nothing: what descriptions and question have in common has been looked at before."""
        return {}

    @REPLIES.replies_to(FollowUpCall)
    async def _follow_up(self, call: FollowUpCall) -> Reference:
        """What the message's pronouns mean, or the topic of the question before it."""
        return referred(call)

    @REPLIES.replies_to(BeamCall)
    async def _extend(self, call: BeamCall) -> tuple[Choice, ...]:
        """The best chains."""
        return await self._best_steps(call.question, call.candidates, call.width)

    @REPLIES.replies_to(DeductiveCall)
    async def _verify(self, call: DeductiveCall) -> tuple[Verdict, ...]:
        """Everything follows and nothing finishes: the answer call compares the chains of all depths."""
        return tuple(Verdict(path.number, follows=True, finishes=False) for path in call.paths)

    @REPLIES.replies_to(DeducibleCall)
    async def _probability(self, call: DeducibleCall) -> float:
        """Nothing: it has no probabilities of its own."""
        return 0.0

    @REPLIES.replies_to(ChooseCall)
    async def _choose(self, call: ChooseCall) -> Decision:
        """The best chains; whether they decide is left to the answer call, which compares the chains of all depths."""
        best = await self._best_steps(call.question, call.candidates, call.width)
        return Decision(tuple(choice.number for choice in best))

    @REPLIES.replies_to(AdequacyCall)
    async def _enough(self, call: AdequacyCall) -> bool:
        """Whether the best chain covers all of the question: without some of the words it would fit no better."""
        conclusion = await self._best_path(call.question, call.paths)
        known = conclusion.evidence
        if not conclusion.confidence or known is None or known.score < self._similarity.weak:
            return False
        return known.left <= LEFT

    @REPLIES.replies_to(ScoreRelationsCall)
    async def _score_relations(self, call: ScoreRelationsCall) -> tuple[float, ...]:
        """How well part of the question says the chains that the relations end."""
        meant = asked_paths(call.question, call.candidates)
        return tuple(await self._shares(meant.text, _chains(meant), partly=True))

    @REPLIES.replies_to(ScoreEntitiesCall)
    async def _score_entities(self, call: ScoreEntitiesCall) -> tuple[float, ...]:
        """The mean of how well part of the question expresses the chain and how much the entity resembles it."""
        meant = asked_paths(call.question, call.candidates)
        fits = await self._shares(meant.text, _chains(meant), partly=True)
        likenesses = await self._similarity.scores(meant.text, [candidate.text for candidate in call.candidates])
        return tuple((fit + _share(likeness)) / 2 for fit, likeness in zip(fits, likenesses, strict=True))

    @REPLIES.replies_to(RelationPathsCall)
    async def _plan_chains(self, call: RelationPathsCall) -> tuple[RelationPath, ...]:
        """The chains that the question says best; of each length the best are made longer."""
        single = [((relation.number,), chain_of(relation)) for relation in call.relations]
        longest: list[tuple[tuple[int, ...], RelationChain]] = [*single]
        plans = await self._weighted(call.question, longest)
        for _ in range(1, call.depth):
            partly = await self._weighted(call.question, longest, partly=True)
            stems = [stem for _, stem in partly[:PLANNED]]
            longest = [(numbers + more, chain.then(step)) for numbers, chain in stems for more, step in single]
            plans += await self._weighted(call.question, longest)
        best = sorted(plans, key=lambda plan: -plan[0])[: call.most]
        return tuple(RelationPath(numbers, weight) for weight, (numbers, _) in best)

    @REPLIES.replies_to(ReasoningPathsCall)
    async def _pick_paths(self, call: ReasoningPathsCall) -> tuple[Choice, ...]:
        """The paths with the best chains."""
        meant = asked_paths(call.question, call.paths)
        judged = await self._judged(meant.text, _chains(meant), parts=meant.parts)
        best = sorted(range(len(call.paths)), key=lambda index: -judged[index].score)[: call.width]
        return tuple(Choice(call.paths[index].number) for index in best)

    @REPLIES.replies_to(AnswerCall)
    async def _answer(self, call: AnswerCall) -> Conclusion:
        """All tails of the best chain, or the verdict of those that are as good; the sets of an operation."""
        conclusion = await self._best_path(call.question, call.paths, call.plan.kind)
        reading = asked_paths(call.question, call.paths).operation
        return msgspec.structs.replace(conclusion, computes=True) if reading else conclusion

    @REPLIES.replies_to(WeightedAnswerCall)
    async def _answer_weighted(self, call: WeightedAnswerCall) -> Conclusion:
        """As the answer: the weights are of its own making."""
        return await self._best_path(call.question, call.paths, call.plan.kind)

    @REPLIES.replies_to(OperateCall)
    async def _operate(self, call: OperateCall) -> Operation:
        """The operation that is read out of the question, with the relations that hold what it goes by."""
        meant = asked_paths(call.question, call.paths)
        names = [relation.relations[-1] for relation in call.relations]
        offered = list(zip(call.walked, names, strict=True))
        grouped = await self._grouping(meant, call.relations)
        by = None if grouped is None else call.walked[grouped]
        computed = operation(meant, offered, by) or Operation()
        listed = computed.result == "count" and call.plan.kind != "count"  # the caller asks for the ends themselves
        return msgspec.structs.replace(computed, result="ends") if listed else computed

    async def _grouping(self, meant: AskedPaths, relations: Sequence[PromptCandidate]) -> int | None:
        """The place of the relation that the words for a group say best; None where they say none."""
        words = meant.operation.group if meant.operation else ""
        if not words or not relations:
            return None
        chains = [chain_of(relation) for relation in relations]
        judged = await self._judged(words, chains)
        best = max(range(len(chains)), key=lambda index: judged[index].score)
        return best if judged[best].fit > self._similarity.unrelated else None

    @REPLIES.replies_to(InductiveCall)
    async def _induce(self, call: InductiveCall) -> Conclusion:
        """As the answer: a hypothesis says nothing that the path's relations do not."""
        return await self._best_path(call.question, call.paths, call.plan.kind)

    @REPLIES.replies_to(ModelOnlyCall)
    async def _remember(self, call: ModelOnlyCall) -> ModelOnlyAnswer:
        """Nothing: it remembers nothing of the world."""
        return ModelOnlyAnswer()

    async def _best_steps(self, question: str, candidates: Sequence[PromptCandidate], width: int) -> tuple[Choice, ...]:
        """The `width` chains that are said best, as they are or as beginnings of longer ones.

        None where none is better than the best chain that it extends, nor may become so.
        """
        meant = asked_paths(question, candidates)
        if compared := _values(meant):
            return compared[:width]
        chains = _chains(meant)
        walked = list(dict.fromkeys(chain.before() for chain in chains if len(chain.relations) > 1))
        judged = await self._judged(meant.text, chains + walked, parts=meant.parts)
        new, old = judged[: len(chains)], judged[len(chains) :]
        hopes = [max(one.score, one.promise) for one in new]
        if not new or (old and max(hopes) <= max(one.score for one in old)):
            return ()
        most = {chain.topic: -math.inf for chain in chains}
        for chain, hope in zip(chains, hopes, strict=True):
            most[chain.topic] = max(most[chain.topic], hope)
        likely = [index for index, hope in enumerate(hopes) if hope > most[chains[index].topic] - HOPELESS]
        best = sorted(likely, key=lambda index: -hopes[index])
        return tuple(Choice(candidates[index].number) for index in _shared(best, chains, width))

    async def _best_path(self, question: str, paths: Sequence[PromptCandidate], kind: Kind = "entities") -> Conclusion:
        """All tails of the best chain; nothing where even that does not resemble the question.

        Where several topics are named it is one at which chains from all of them meet. Of yes or no a verdict.
        """
        meant = asked_paths(question, paths)
        if meant.operation and meant.operation.sides(meant.topics):
            return await self._best_sides(meant)
        decide, text, offered = kind == "yesno", meant.text, list(meant.candidates)
        if not decide and len({path.topic for path in offered}) > 1:
            met = [path for path in offered if path.also]
            offered = met or ([] if JOINED.search(text) else offered)
        judged = await self._met(text, offered)
        best = max(range(len(offered)), key=lambda index: judged[index].score, default=None)
        if best is None:
            return Conclusion()
        features, fit = await self._evident(text, offered, judged, best)
        if decide:
            return self._sure(verdict(text, offered, judged, features), text, offered, kind)
        if fit <= self._similarity.unrelated:
            return Conclusion(evidence=features)
        if features.against and features.hops == 1:  # "Who did Pulp Fiction direct?": the other way round it is stated
            return Conclusion((offered[best].number,), evidence=features, confidence=0.0)
        taken = [offered[place] for place in (best, *mirrored(list(map(chain_of, offered)), best))]
        numbers, (tails, untyped) = tuple(path.number for path in taken), _of_kind(text, taken)
        conclusion = Conclusion(numbers, tails=tails, untyped=untyped, evidence=features)
        return self._sure(conclusion, text, offered, kind)

    async def _evident(
        self, text: str, offered: Sequence[PromptCandidate], judged: Sequence[ChainJudgement], best: int
    ) -> tuple[ChainEvidence, float]:
        """What speaks for the path at the place `best`, and how well part of the question says its chain."""
        chains = list(map(chain_of, offered))
        features = evidence(text, offered, chains, judged, best)
        [fit] = await self._fits(text, [chains[best]], partly=True)
        return await self._weighed(text, offered, best, features, fit - judged[best].fit), fit

    async def _best_sides(self, meant: AskedPaths) -> Conclusion:
        """The best paths of each side of a comparison, or of a set and what is taken away; none where a side has none.

        Those are taken together that lead over the same relations from entities of one name.
        """
        assert meant.operation is not None
        sides = [await self._best_side(meant, side) for side in meant.operation.sides(meant.topics)]
        if not all(side.paths for side in sides):
            return Conclusion(evidence=next((side.evidence for side in sides if not side.paths), None))
        surest = min(sides, key=lambda side: side.confidence or 0.0)
        return msgspec.structs.replace(surest, paths=tuple(number for side in sides for number in side.paths))

    async def _best_side(self, meant: AskedPaths, side: Sequence[str]) -> Conclusion:
        """The best paths from these topics, by what is asked of them."""
        offered = [path for path in meant.candidates if path.topic in side and not path.also]
        text = meant.parts.get(side[0], meant.text)
        if measured := meant.operation is not None and bool(meant.operation.pair):
            offered = _holding(meant, offered)
        judged = await self._judged(text, list(map(chain_of, offered)))
        best = max(range(len(offered)), key=lambda index: judged[index].score, default=None)
        if best is None:
            return Conclusion()
        features, fit = await self._evident(text, offered, judged, best)
        if measured:
            return Conclusion((offered[best].number,), evidence=features, confidence=NAMED)
        if fit <= self._similarity.unrelated:
            return Conclusion(evidence=features)
        way = offered[best].relations, offered[best].directions
        numbers = tuple(path.number for path in offered if (path.relations, path.directions) == way)
        return self._sure(Conclusion(numbers, evidence=features), text, offered, "entities")

    def _sure(self, conclusion: Conclusion, question: str, paths: Sequence[PromptCandidate], kind: Kind) -> Conclusion:
        """The conclusion with its confidence, and what of the question was not read, where it has taken paths."""
        if not conclusion.paths or conclusion.evidence is None:
            return conclusion
        taken = [path for path in paths if path.number in conclusion.paths]
        doubt = unread(question, paths, taken, counted=kind == "count")
        if doubt and sum(len(path.tails) + path.more for path in taken) > 1 and RANKED.search(doubt):
            return msgspec.structs.replace(conclusion, confidence=0.0, note=f"refused: {doubt}")
        confidence = min(self._calibration.confidence(conclusion.evidence), DOUBTED if doubt else 1.0)
        return msgspec.structs.replace(conclusion, confidence=confidence, unread=doubt)

    async def _weighed(
        self, question: str, paths: Sequence[PromptCandidate], best: int, known: ChainEvidence, left: float
    ) -> ChainEvidence:
        """The evidence for the path at the place `best` with what takes likenesses."""
        chain = chain_of(paths[best])
        spans = await self._likeness(self._reading(question, chain.topic, (chain.topic,), question), [chain])
        weakest = min((float(spans[name].max()) for name in chain.names), default=0.0)
        words = question_words(question, paths)
        names = list(dict.fromkeys(name for path in paths for name in path.relations))
        said, elsewhere = shared(
            likeness(words, names, await self._similarity.table(words, names)), names, chain.relations
        )
        return msgspec.structs.replace(known, left=left, weakest=weakest, said=said, elsewhere=elsewhere)

    async def _met(self, question: str, paths: Sequence[PromptCandidate]) -> list[ChainJudgement]:
        """How well the chain of each path is said; of one that stands for several the mean of all.

        Chains from several topics that meet are each said by their own part of the question.
        """
        every = [_meeting(path) for path in paths]
        chains = list(dict.fromkeys(chain for group in every for chain in group))
        judged = dict(zip(chains, await self._judged(question, chains), strict=True))
        means = [together([judged[chain] for chain in group]) for group in every]
        several = [place for place, group in enumerate(every) if len({chain.topic for chain in group}) > 1]
        for place, mean in zip(several, await self._parted(question, [every[place] for place in several]), strict=True):
            means[place] = mean or means[place]
        return [_nameless(one) if set(path.tails) == {NO_NAME} else one for path, one in zip(paths, means, strict=True)]

    async def _parted(self, question: str, groups: Sequence[tuple[RelationChain, ...]]) -> list[ChainJudgement | None]:
        """How well chains that meet are said, by the best way to part the question; None where it is one part."""
        best: list[ChainJudgement | None] = [None] * len(groups)
        topics = tuple(dict.fromkeys(chain.topic for group in groups for chain in group))
        for way in partings(question, topics):
            chains = list(dict.fromkeys(chain for group in groups for chain in group))
            judged = dict(zip(chains, await self._judged(question, chains, parts=way), strict=True))
            means = [together([judged[chain] for chain in group]) for group in groups]
            best = [mean if one is None else max(one, mean, key=_score) for one, mean in zip(best, means, strict=True)]
        return best

    async def _weighted(
        self, question: str, tried: Sequence[tuple[tuple[int, ...], RelationChain]], *, partly: bool = False
    ) -> list[tuple[float, tuple[tuple[int, ...], RelationChain]]]:
        """The chains with their scores in 0..1, the best first."""
        score = await self._shares(question, [chain for _, chain in tried], partly=partly)
        return sorted(zip(score, tried, strict=True), key=lambda weighted: -weighted[0])

    async def _shares(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """The scores in 0..1; above 0 for every chain that part of the question says."""
        fits = await self._fits(question, chains, partly=True)
        judged = await self._judged(question, chains, partly=partly)
        least = [LEAST if fit > self._similarity.unrelated else 0.0 for fit in fits]
        return [max(low, _share(one.score)) for low, one in zip(least, judged, strict=True)]

    async def _fits(self, question: str, chains: Sequence[RelationChain], *, partly: bool = False) -> list[float]:
        """How well each chain is said by the question without its topic."""
        return [one.fit for one in await self._judged(question, chains, partly=partly)]

    async def _judged(
        self,
        question: str,
        chains: Sequence[RelationChain],
        *,
        partly: bool = False,
        parts: Mapping[str, str] = MappingProxyType({}),
    ) -> list[ChainJudgement]:
        """How well each chain is said, and what else speaks for or against it.

        `parts` are the words that are about each topic, where these are not all of the question.
        """
        topics = list(dict.fromkeys(chain.topic for chain in chains))
        judged: dict[RelationChain, ChainJudgement] = {}
        for topic in topics:
            reading = self._reading(parts.get(topic, question), topic, tuple(topics), question)
            alike = [chain for chain in dict.fromkeys(chains) if chain.topic == topic]
            judged |= reading.judged(await self._likeness(reading, alike), alike, partly=partly)
        return [judged[chain] for chain in chains]

    async def _likeness(self, reading: Reading, chains: Sequence[RelationChain]) -> dict[RelationName, Matrix]:
        """For each relation how much each span says it."""
        names = list(dict.fromkeys(name for chain in chains for name in chain.names))
        if not reading.likeness.keys() >= set(names):
            every = list(dict.fromkeys((*reading.likeness, *names)))  # words are as rare as they are among all of them
            labels, beside = zip(*every, strict=True)
            table = likeness(reading.spans, labels, await self._alike(reading.spans, every), beside)
            reading.likeness |= zip(every, table.T, strict=True)
        return reading.likeness

    async def _alike(self, spans: Sequence[str], names: Sequence[RelationName]) -> Matrix:
        """How alike in meaning spans and relations are, shape (spans, names); by their whole names where these help."""
        wholes = [place for place, (_, beside) in enumerate(names) if beside]
        texts = [label for label, _ in names] + [" ".join(names[place][::-1]) for place in wholes]
        table = await self._similarity.table(spans, texts)
        alike = table[:, : len(names)].copy()
        mixed = (1 - WHOLE) * alike[:, wholes] + WHOLE * table[:, len(names) :]
        alike[:, wholes] = np.maximum(alike[:, wholes], mixed)
        return alike

    def _reading(self, text: str, topic: str, topics: tuple[str, ...], question: str) -> Reading:
        """The reading of a question, or a part of it, about one topic; that of one under way is there already."""
        key = (text, topic, topics)
        reading = self._readings.get(key)
        if reading is None:
            reading = self._readings[key] = Reading(text, topic, topics, question)
        return reading


def _score(judged: ChainJudgement) -> float:
    return judged.score


def _values(meant: AskedPaths) -> tuple[Choice, ...]:
    """Of a comparison the values of both topics; none where one of them has none."""
    operation = meant.operation
    if operation is None or not operation.pair:
        return ()
    of_topics = [[path for path in meant.candidates if path.topic in side] for side in operation.sides(meant.topics)]
    values = [_holding(meant, paths) for paths in of_topics]
    return tuple(Choice(path.number) for paths in values for path in paths) if all(values) else ()


def _holding(meant: AskedPaths, paths: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """The path of one step to what is compared, if there is one."""
    names = meant.operation.measure.names if meant.operation else ()
    place = holding(names, [path.relations[-1] if len(path.relations) == 1 else "" for path in paths])
    return [] if place is None else [paths[place]]


def _chains(meant: AskedPaths) -> list[RelationChain]:
    """The chains of the candidates, from their topics as the question names them."""
    return list(map(chain_of, meant.candidates))


def _of_kind(question: str, paths: Sequence[PromptCandidate]) -> tuple[dict[int, tuple[int, ...]], tuple[int, ...]]:
    """By the number of a path those of its ends that are of the kind asked for; and the paths not all typed.

    Of neither where the question names no kind, or no type is known.
    """
    wanted = asked(question)
    typed = [path for path in paths if wanted.roots and any(path.types)]
    whole = [path for path in typed if len(path.types) == len(path.tails) and not path.more]
    kept = {path.number: ends for path in whole if (ends := of_kind(wanted, path.types))}
    return kept, tuple(path.number for path in typed if path not in whole)


def _meeting(path: PromptCandidate) -> tuple[RelationChain, ...]:
    """The chain of a path, and those that lead to the same ends from other topics: of the same kinds."""
    chain = chain_of(path)
    return (chain, *(chain_of(other)._replace(kinds=chain.kinds) for other in path.also))


def _shared(best: Sequence[int], chains: Sequence[RelationChain], width: int) -> list[int]:
    """The first of these places; each topic has its share of them."""
    topics = {chains[place].topic for place in best}
    share = max(1, width // max(1, len(topics)))
    of_topic = {topic: [place for place in best if chains[place].topic == topic][:share] for topic in topics}
    taken = {place for places in of_topic.values() for place in places}
    more = [place for place in best if place not in taken][: max(0, width - len(taken))]
    return [place for place in best if place in taken or place in more][:width]


def _nameless(judged: ChainJudgement) -> ChainJudgement:
    """The judgement of a chain whose ends have no name, and are no answers."""
    return judged._replace(score=judged.score - NAMELESS)


def _share(score: float) -> float:
    return min(1.0, max(0.0, float(score)))
