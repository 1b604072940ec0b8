"""A reasoning model that knows the way: it chooses what a gold chain begins with, and nothing where nothing leads on.

It goes by relations and their directions, and at their end by what it is shown of the answers. What it answers is
therefore the most that retrieval and search let any model answer. It can be made to err.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from fedkg.common.one_line import line
from fedkg.common.tokens import estimate
from fedkg.config.settings import ConstraintLevel
from fedkg.core.choice import Choice, Conclusion, Decision, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.operation import Operation
from fedkg.core.question import Kind, Plan
from fedkg.errors import QuestionError
from fedkg.llm.base import Capability, Completion, Request
from fedkg.reasoner import path_format
from fedkg.reasoner.base import Call, CallTable, ReasoningModel
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.operate import OperateCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.gold_chain import GoldChain, GoldCheck
from fedkg.reasoner.gold_slots import mentions, operate_reply
from fedkg.reasoner.gold_view import ARRIVED, GoldErrors, GoldSetsView, GoldView, steps_of
from fedkg.reasoner.prompted import PromptedModel

__all__ = ["GoldChain", "GoldChat", "GoldCheck", "GoldReasoner", "prompt_tokens"]

INVENTED = ", as it seems"
"""What makes the end of a written path one that the graph does not have."""
EXAMPLES = re.compile(r"\n\nExamples?\n\n")
"""What stands between the instructions of a prompt and its examples."""
REPLY: ContextVar[str] = ContextVar("reply")
"""What a GoldReasoner has written in reply to the call that it makes, in the task that makes it."""


class GoldChat:
    """The ChatModel through which a GoldReasoner replies: it returns what was written for this call, at once.

    So prompts are rendered, estimated and sent as to any model. `on_call` gets each request with its completion.
    """

    name = "guide:gold"
    capability = Capability(context=200_000)

    def __init__(self, on_call: Callable[[Request, Completion], None] = lambda _request, _completion: None) -> None:
        self._on_call = on_call

    async def complete(self, request: Request) -> Completion:
        """The written reply with an estimate of the tokens, without the schema, which vendors count differently."""
        text = REPLY.get()
        completion = Completion(text, sum(prompt_tokens(request)), estimate(text))
        self._on_call(request, completion)
        return completion

    async def close(self) -> None:
        """Nothing to free."""


def prompt_tokens(request: Request) -> tuple[int, int, int]:
    """The estimated tokens of a prompt: of its instructions, of its examples, and of what is asked."""
    system, *asked = [message.content for message in request.messages]
    instructions, *examples = EXAMPLES.split(system, maxsplit=1)
    return estimate(instructions), estimate("".join(examples)), estimate("\n".join(asked))


Reply = TypeVar("Reply")
REPLIES: CallTable["GoldReasoner"] = CallTable()


class GoldReasoner:
    """A ReasoningModel that decides by the candidates' relations and directions, and at their end by the answers shown.

    `golds` are the chains by the text of their questions. It errs with the probability `rate`, by `seed` and the id of
    the chain: of the choices that it may make each is, with that probability, a wrong candidate, where there is one;
    the others are right ones, as long as there are any. And of each path, with that probability, it takes one of the
    two other views than the true one: that its last step does not follow, that it follows, that the statement can be
    deduced, too.

    It replies through `model`, one with prompts over a GoldChat. Raises QuestionError for an unknown question.
    """

    exhaustive = False
    abstains: frozenset[Kind] = frozenset()

    def __init__(
        self,
        golds: Mapping[str, GoldChain],
        rate: float = 0.0,
        seed: int | str = 0,
        model: ReasoningModel | None = None,
    ) -> None:
        self._golds = {_key(question): gold for question, gold in golds.items()}
        self._rate, self._seed = rate, seed
        self._model = model or PromptedModel(GoldChat())
        self._draws: dict[str, random.Random] = {}
        self.name = self._model.name
        self.constraint_level: ConstraintLevel = self._model.constraint_level
        self.constraint_limit = self._model.constraint_limit

    @property
    def left_out(self) -> int:
        """Candidates that there was no room for in the prompts."""
        return self._model.left_out

    async def ask(self, call: Call[Reply]) -> Reply:
        """The reply to the call.

        Raises QuestionError, and ModelDeclinedError for a kind of call that it has no reply to.
        """
        return await REPLIES.ask(self, call)

    async def close(self) -> None:
        """Closes the model that it replies through."""
        await self._model.close()

    @REPLIES.replies_to(PlanCall)
    async def _plan(self, call: PlanCall) -> Plan:
        """A plan as long as a model's; its keywords are the question's words: it tells the ranking nothing new."""
        words = str(line(call.question, 4_000))
        reply = {
            "keywords": words.split(),
            "planning_steps": [f"from there {step}" for step in _told(self._gold(call.question))],
            "declarative_statement": f"*placeholder* is the answer to: {words}",
            "kind": self._gold(call.question).kind,
            "mentions": mentions(self._gold(call.question), call.question),
        }
        return await self._replied(reply, call)

    @REPLIES.replies_to(LinkCall)
    async def _link(self, call: LinkCall) -> dict[str, int]:
        """The first candidate of each mention."""
        links = [{"mention": number, "candidate": 1} for number in range(1, len(call.mentions) + 1)]
        return await self._replied({"links": links}, call)

    @REPLIES.replies_to(BeamCall)
    async def _extend(self, call: BeamCall) -> tuple[Choice, ...]:
        """What is on the way."""
        choices = self._view(call.question, call.candidates).choices(call.width)
        return await self._replied({"picks": choices}, call)

    @REPLIES.replies_to(DeductiveCall)
    async def _verify(self, call: DeductiveCall) -> tuple[Verdict, ...]:
        """A path on the way follows, from one that has arrived the statement can be deduced."""
        view = self._view(call.question, call.paths)
        verdicts = [{"path": number, **view.verdict(number)} for number in view.states]
        return await self._replied({"verdicts": verdicts}, call)

    @REPLIES.replies_to(DeducibleCall)
    async def _probability(self, call: DeducibleCall) -> float:
        """1.0 or 0.0, without a call: its chat gives no log-probabilities."""
        return float(self._view(call.question, [call.path]).verdict(call.path.number)["deducible"])

    @REPLIES.replies_to(ChooseCall)
    async def _choose(self, call: ChooseCall) -> Decision:
        """What has arrived, which decides once its checks were offered; else what is on the way."""
        view = self._view(call.question, [*call.candidates, *call.kept])
        return await self._replied(view.decision(call.width, {path.number for path in call.kept}), call)

    @REPLIES.replies_to(AdequacyCall)
    async def _enough(self, call: AdequacyCall) -> bool:
        """Whether one of the paths has arrived."""
        view = self._view(call.question, call.paths)
        adequate = any(view.verdict(number)["deducible"] for number in view.states)
        return await self._replied({"adequate": adequate}, call)

    @REPLIES.replies_to(ScoreRelationsCall)
    async def _score_relations(self, call: ScoreRelationsCall) -> tuple[float, ...]:
        """1 for what is on the way, 0 for the rest."""
        return await self._replied({"scores": self._view(call.question, call.candidates).scores("relation")}, call)

    @REPLIES.replies_to(ScoreEntitiesCall)
    async def _score_entities(self, call: ScoreEntitiesCall) -> tuple[float, ...]:
        """1 for what is on the way, 0 for the rest."""
        return await self._replied({"scores": self._view(call.question, call.candidates).scores("entity")}, call)

    @REPLIES.replies_to(RelationPathsCall)
    async def _plan_chains(self, call: RelationPathsCall) -> tuple[RelationPath, ...]:
        """The gold chain, where all of its relations are offered."""
        numbers = {steps_of(relation): relation.number for relation in call.relations}
        chain = [numbers.get((step,), 0) for step in self._gold(call.question).steps]
        plans = [{"relations": chain, "weight": 1.0}] if all(chain) else []
        return await self._replied({"plans": plans}, call)

    @REPLIES.replies_to(ReasoningPathsCall)
    async def _pick_paths(self, call: ReasoningPathsCall) -> tuple[Choice, ...]:
        """What has arrived; a wrong path that is written freely is one that the graph does not have."""
        view = self._view(call.question, call.paths)
        choices = view.choices(call.width, ARRIVED)
        if not call.freely:
            return await self._replied({"picks": choices}, call)
        form, texts = path_format.read(call.name), {path.number: path.text for path in call.paths}
        written = [f"{texts[number]}{'' if view.states[number] == ARRIVED else INVENTED}" for number in choices]
        return await self._replied({"texts": list(map(form.marked, written))}, call)

    @REPLIES.replies_to(AnswerCall)
    async def _answer(self, call: AnswerCall) -> Conclusion:
        """What has arrived, with all of its tails."""
        return await self._replied(self._view(call.question, call.paths).conclusion(), call)

    @REPLIES.replies_to(WeightedAnswerCall)
    async def _answer_weighted(self, call: WeightedAnswerCall) -> Conclusion:
        """As the answer: weights do not count."""
        return await self._replied(self._view(call.question, call.paths).conclusion(), call)

    @REPLIES.replies_to(OperateCall)
    async def _operate(self, call: OperateCall) -> Operation:
        """The operation that the gold query computes, where its slots are offered."""
        slots = self._gold(call.question).operation
        if not slots:
            return await self._replied({"sets": []}, call)
        reply = operate_reply(slots, call.question, call.paths, call.relations, named=bool(call.names))
        return await self._replied(reply, call)

    @REPLIES.replies_to(InductiveCall)
    async def _induce(self, call: InductiveCall) -> Conclusion:
        """As the answer: hypotheses do not count."""
        return await self._replied(self._view(call.question, call.paths).conclusion(), call)

    @REPLIES.replies_to(ModelOnlyCall)
    async def _remember(self, call: ModelOnlyCall) -> ModelOnlyAnswer:
        """The right answers, as if from memory; a chain of thought names the steps."""
        gold = self._gold(call.question)
        thought = "; then ".join(_told(gold)) if call.style == "cot" else ""
        return await self._replied({"reasoning": thought, "answers": gold.answers}, call)

    def _gold(self, question: str) -> GoldChain:
        try:
            return self._golds[_key(question)]
        except KeyError as error:
            hint = "GoldReasoner takes chains by the text of their questions"
            raise QuestionError(f"{self.name} knows no chain of the question {question[:100]!r}", hint=hint) from error

    def _view(self, question: str, candidates: Sequence[PromptCandidate]) -> GoldView:
        gold = self._gold(question)
        draw = self._draws.setdefault(_key(question), _draw(f"{self._seed} {gold.id}"))
        if gold.operation:
            return GoldSetsView(gold, candidates, GoldErrors(self._rate, draw))
        views = [GoldView(chain, candidates, GoldErrors(self._rate, draw)) for chain in (gold, *gold.instead)]
        return next((view for view in views if view.concerned), views[0])

    async def _replied(self, reply: Mapping[str, Any], call: Call[Reply]) -> Reply:
        """What the model makes of this reply to the call."""
        REPLY.set(json.dumps(reply))
        return await self._model.ask(call)


def _draw(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311  # errors that can be repeated, not a secret


def _key(question: str) -> str:
    return " ".join(question.split())


def _told(gold: GoldChain) -> list[str]:
    """The steps in words."""
    return [f"by {relation} to what it leads to" for relation, _ in gold.steps]
