"""A reasoning model without any language model: for use without a key, for tests, and as a baseline.

It plans by content words, looks for the chain of relations that the question's words say best (`reading`), stops
when no longer chain is said better, and answers with the tails of the best chain. What it cannot do, it abstains from.
"""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from fedkg.common.normalize import content_words
from fedkg.config.settings import ConstraintLevel
from fedkg.core.choice import (
    Choice,
    Conclusion,
    Decision,
    ModelOnlyAnswer,
    PromptCandidate,
    RelationPath,
    Verdict,
)
from fedkg.core.conversation import Reference
from fedkg.core.operation import Operation
from fedkg.core.question import Kind, Plan
from fedkg.embed.base import Similarity
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
from fedkg.reasoner.local.chains import RelationChain, chain_of
from fedkg.reasoner.local.conclusions import PathConclusions
from fedkg.reasoner.local.confidence import Calibration, of_embedder
from fedkg.reasoner.local.follow_up import referred
from fedkg.reasoner.local.judge import ChainJudge, share
from fedkg.reasoner.local.next_steps import best_steps
from fedkg.reasoner.local.operations import operation

__all__ = ["LocalModel"]

PLANNED = 12
"""Plans that are made longer, of each length: all chains of three of thirty relations would be 27,000."""
LEFT = 0.05
"""A chain that fits so much better without some of the words does not say all of the question."""

Reply = TypeVar("Reply")
REPLIES: CallTable["LocalModel"] = CallTable()


class LocalModel:
    """Chooses by how well the question without its topic says the relations of a chain.

    `calibration` tells how likely that is right; without one it is the bundled one for that similarity. `judge` tells
    how well chains are said; without one it goes by the similarity alone.
    """

    name = "local"
    exhaustive = True
    left_out = 0
    constraint_level: ConstraintLevel = "index"
    constraint_limit = 0
    abstains: frozenset[Kind] = frozenset({"claim", "choice"})

    def __init__(
        self, similarity: Similarity, calibration: Calibration | None = None, judge: ChainJudge | None = None
    ) -> None:
        self._judge = judge or ChainJudge(similarity)
        self._conclusions = PathConclusions(self._judge, calibration or of_embedder(similarity.name))

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
        return await best_steps(self._judge, call.question, call.candidates, call.width)

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
        best = await best_steps(self._judge, call.question, call.candidates, call.width)
        return Decision(tuple(choice.number for choice in best))

    @REPLIES.replies_to(AdequacyCall)
    async def _enough(self, call: AdequacyCall) -> bool:
        """Whether the best chain covers all of the question: without some of the words it would fit no better."""
        conclusion = await self._conclusions.best_path(call.question, call.paths)
        known = conclusion.evidence
        if not conclusion.confidence or known is None or known.score < self._judge.similarity.weak:
            return False
        return known.left <= LEFT

    @REPLIES.replies_to(ScoreRelationsCall)
    async def _score_relations(self, call: ScoreRelationsCall) -> tuple[float, ...]:
        """How well part of the question says the chains that the relations end."""
        meant = asked_paths(call.question, call.candidates)
        return tuple(await self._judge.shares(meant.text, meant.chains, partly=True))

    @REPLIES.replies_to(ScoreEntitiesCall)
    async def _score_entities(self, call: ScoreEntitiesCall) -> tuple[float, ...]:
        """The mean of how well part of the question expresses the chain and how much the entity resembles it."""
        meant = asked_paths(call.question, call.candidates)
        fits = await self._judge.shares(meant.text, meant.chains, partly=True)
        likenesses = await self._judge.similarity.scores(meant.text, [candidate.text for candidate in call.candidates])
        return tuple((fit + share(likeness)) / 2 for fit, likeness in zip(fits, likenesses, strict=True))

    @REPLIES.replies_to(RelationPathsCall)
    async def _plan_chains(self, call: RelationPathsCall) -> tuple[RelationPath, ...]:
        """The chains that the question says best; of each length the best are made longer."""
        single = [((relation.number,), chain_of(relation)) for relation in call.relations]
        longest: list[tuple[tuple[int, ...], RelationChain]] = [*single]
        plans = await self._judge.weighted(call.question, longest)
        for _ in range(1, call.depth):
            partly = await self._judge.weighted(call.question, longest, partly=True)
            stems = [stem for _, stem in partly[:PLANNED]]
            longest = [(numbers + more, chain.then(step)) for numbers, chain in stems for more, step in single]
            plans += await self._judge.weighted(call.question, longest)
        best = sorted(plans, key=lambda plan: -plan[0])[: call.most]
        return tuple(RelationPath(numbers, weight) for weight, (numbers, _) in best)

    @REPLIES.replies_to(ReasoningPathsCall)
    async def _pick_paths(self, call: ReasoningPathsCall) -> tuple[Choice, ...]:
        """The paths with the best chains."""
        meant = asked_paths(call.question, call.paths)
        judged = await self._judge.judged(meant.text, meant.chains, parts=meant.parts)
        best = sorted(range(len(call.paths)), key=lambda index: -judged[index].score)[: call.width]
        return tuple(Choice(call.paths[index].number) for index in best)

    @REPLIES.replies_to(AnswerCall)
    async def _answer(self, call: AnswerCall) -> Conclusion:
        """All tails of the best chain, or the verdict of those that are as good; the sets of an operation."""
        conclusion = await self._conclusions.best_path(call.question, call.paths, call.plan.kind)
        reading = asked_paths(call.question, call.paths).operation
        return msgspec.structs.replace(conclusion, computes=True) if reading else conclusion

    @REPLIES.replies_to(WeightedAnswerCall)
    async def _answer_weighted(self, call: WeightedAnswerCall) -> Conclusion:
        """As the answer: the weights are of its own making."""
        return await self._conclusions.best_path(call.question, call.paths, call.plan.kind)

    @REPLIES.replies_to(OperateCall)
    async def _operate(self, call: OperateCall) -> Operation:
        """The operation that is read out of the question, with the relations that hold what it goes by."""
        meant = asked_paths(call.question, call.paths)
        names = [relation.relations[-1] for relation in call.relations]
        offered = list(zip(call.walked, names, strict=True))
        grouped = await self._grouping(meant, call.relations)
        by = None if grouped is None else call.walked[grouped]
        computed = operation(meant, offered, by, named=bool(call.names)) or Operation()
        listed = computed.result == "count" and call.plan.kind != "count"  # the caller asks for the ends themselves
        return msgspec.structs.replace(computed, result="ends") if listed else computed

    async def _grouping(self, meant: AskedPaths, relations: Sequence[PromptCandidate]) -> int | None:
        """The place of the relation that the words for a group say best; None where they say none."""
        words = meant.operation.group if meant.operation else ""
        if not words or not relations:
            return None
        chains = [chain_of(relation) for relation in relations]
        judged = await self._judge.judged(words, chains)
        best = max(range(len(chains)), key=lambda index: judged[index].score)
        return best if judged[best].fit > self._judge.similarity.unrelated else None

    @REPLIES.replies_to(InductiveCall)
    async def _induce(self, call: InductiveCall) -> Conclusion:
        """As the answer: a hypothesis says nothing that the path's relations do not."""
        return await self._conclusions.best_path(call.question, call.paths, call.plan.kind)

    @REPLIES.replies_to(ModelOnlyCall)
    async def _remember(self, call: ModelOnlyCall) -> ModelOnlyAnswer:
        """Nothing: it remembers nothing of the world."""
        return ModelOnlyAnswer()
