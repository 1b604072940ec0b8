"""A reasoning model that knows the way: it chooses what a gold chain begins with, and nothing where nothing leads on.

It goes by relations and their directions, and at their end by what it is shown of the answers. What it answers is
therefore the most that retrieval and search let any model answer. It can be made to err.
"""

import json
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from fedkg.common.one_line import line
from fedkg.common.tokens import estimate
from fedkg.config.settings import ConstraintLevel
from fedkg.core.choice import Choice, Conclusion, Decision, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.question import Kind, Plan
from fedkg.core.terms import Direction
from fedkg.errors import QuestionError
from fedkg.llm.base import Capability, Completion, Request
from fedkg.reasoner.base import Call, CallTable, ReasoningModel
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall, WeightedAnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel

__all__ = ["GoldChain", "GoldChat", "GoldCheck", "GoldReasoner", "prompt_tokens"]

Steps = tuple[tuple[str, Direction], ...]
"""The relations of a path by their names, each with its direction."""
EXAMPLES = re.compile(r"\n\nExamples?\n\n")
"""What stands between the instructions of a prompt and its examples."""
WRONG, ON_THE_WAY, ARRIVED = range(3)
REPLY: ContextVar[str] = ContextVar("reply")
"""What a GoldReasoner has written in reply to the call that it makes, in the task that makes it."""


class GoldCheck(NamedTuple):
    """A condition on the ends of a chain: the step from them, and the names of what those lead to that answer."""

    step: tuple[str, Direction]
    values: tuple[str, ...]


class GoldChain(NamedTuple):
    """What is known of a question: the steps to its answers, relations by name with their directions, and their names.

    `proven` is whether the question set shows a path of the graph with these steps. Errors are drawn by `id`. `checks`
    are the conditions that tell the answers from the other ends of the steps.
    """

    steps: Steps
    answers: tuple[str, ...]
    proven: bool = True
    id: str = ""
    checks: tuple[GoldCheck, ...] = ()


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
            "kind": "entities",
            "mentions": [],
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
        numbers = {_steps(relation): relation.number for relation in call.relations}
        chain = [numbers.get((step,), 0) for step in self._gold(call.question).steps]
        plans = [{"relations": chain, "weight": 1.0}] if all(chain) else []
        return await self._replied({"plans": plans}, call)

    @REPLIES.replies_to(ReasoningPathsCall)
    async def _pick_paths(self, call: ReasoningPathsCall) -> tuple[Choice, ...]:
        """What has arrived."""
        choices = self._view(call.question, call.paths).choices(call.width, ARRIVED)
        return await self._replied({"picks": choices}, call)

    @REPLIES.replies_to(AnswerCall)
    async def _answer(self, call: AnswerCall) -> Conclusion:
        """What has arrived, with all of its tails."""
        return await self._replied(self._view(call.question, call.paths).conclusion(), call)

    @REPLIES.replies_to(WeightedAnswerCall)
    async def _answer_weighted(self, call: WeightedAnswerCall) -> Conclusion:
        """As the answer: weights do not count."""
        return await self._replied(self._view(call.question, call.paths).conclusion(), call)

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

    def _view(self, question: str, candidates: Sequence[PromptCandidate]) -> "_View":
        gold = self._gold(question)
        draw = self._draws.setdefault(_key(question), _draw(f"{self._seed} {gold.id}"))
        return _View(gold, candidates, _Errors(self._rate, draw))

    async def _replied(self, reply: Mapping[str, Any], call: Call[Reply]) -> Reply:
        """What the model makes of this reply to the call."""
        REPLY.set(json.dumps(reply))
        return await self._model.ask(call)


class _Errors(NamedTuple):
    """How often a model errs, and what decides when it does."""

    rate: float
    draw: random.Random

    def choices(self, right: Sequence[int], wrong: Sequence[int], most: int) -> list[int]:
        """At most so many choices, each of them wrong with that probability."""
        left = {True: self.draw.sample(wrong, len(wrong)), False: list(right)}
        kinds = [self.draw.random() < self.rate for _ in range(most)]
        return [left[erring].pop(0) for erring in kinds if left[erring]]

    def view(self, true: int) -> int:
        """What is taken for the state of a path."""
        others = [state for state in (WRONG, ON_THE_WAY, ARRIVED) if state != true]
        return self.draw.choice(others) if self.draw.random() < self.rate else true


class _View:
    """What one call shows, and how each candidate stands to the gold chain."""

    def __init__(self, gold: GoldChain, candidates: Sequence[PromptCandidate], errors: _Errors) -> None:
        self._gold, self._candidates, self._errors = gold, candidates, errors

    @cached_property
    def states(self) -> dict[int, int]:
        """By the numbers of the candidates: whether they are WRONG, ON_THE_WAY, or have ARRIVED.

        Where some of those that have arrived show an answer, those that show none have arrived elsewhere.
        """
        states = {candidate.number: _state(_steps(candidate), self._gold.steps) for candidate in self._candidates}
        arrived = [candidate for candidate in self._candidates if states[candidate.number] == ARRIVED]
        answering = {candidate.number for candidate in arrived if self._answers(candidate)}
        elsewhere = {candidate.number for candidate in arrived if answering and candidate.number not in answering}
        return states | dict.fromkeys(elsewhere, WRONG)

    def _answers(self, candidate: PromptCandidate) -> bool:
        """Whether one of the answers is among the tails, which may show qualifiers behind their names."""
        return any(answer in tail for answer in self._gold.answers for tail in candidate.tails)

    def choices(self, most: int, least: int = ON_THE_WAY) -> list[int]:
        """At most so many candidates that have come so far at `least`, and errors."""
        if not self.states:
            return []
        right = [number for number, state in self.states.items() if state >= least]
        wrong = [number for number in self.states if number not in right]
        return self._errors.choices(right, wrong, most)

    def verdict(self, number: int) -> dict[str, bool]:
        """The two verdicts on a candidate."""
        view = self._errors.view(self.states[number])
        return {"follows": view != WRONG, "deducible": view == ARRIVED}

    def decision(self, most: int, kept_numbers: Collection[int] = ()) -> dict[str, Any]:
        """At most so many candidates that are on the way; those that have arrived alone, as all of the answer.

        Where the answers are told apart by checks, these decide; they are waited for until what has arrived was kept.
        """
        if checks := self._checks() or self._meeting():
            return {"picks": checks, "decides": True, "more": False}
        picked = self.choices(most)
        views = {number: self._errors.view(self.states[number]) for number in picked}
        arrived = [number for number, view in views.items() if view == ARRIVED]
        kept = arrived or [number for number, view in views.items() if view != WRONG]
        picks = [{"offer": number, "ends": []} for number in kept]
        seen = not self._gold.checks or not set(arrived).isdisjoint(kept_numbers)
        return {"picks": picks, "decides": bool(arrived) and seen, "more": False}

    def _checks(self) -> list[dict[str, Any]]:
        """The gold checks that are offered, each with those of its ends that meet the condition."""
        chains = {(*self._gold.steps, check.step): check.values for check in self._gold.checks}
        offered = [(candidate, chains.get(_steps(candidate), ())) for candidate in self._candidates]
        named = [(candidate.number, _numbers(candidate, values)) for candidate, values in offered]
        return [{"offer": number, "ends": ends, "check": True} for number, ends in named if ends]

    def _meeting(self) -> list[dict[str, Any]]:
        """What has arrived, and for each gold check an offer that leads from the other entity to the same ends.

        Nothing where an entity of a check is no topic, or its offer is not shown.
        """
        others = [self._led(check) for check in self._gold.checks]
        arrived = [number for number, state in self.states.items() if state == ARRIVED]
        meeting = dict.fromkeys([*arrived, *(number for numbers in others for number in numbers)])
        complete = bool(arrived and others) and all(others)
        return [{"offer": number, "ends": []} for number in meeting] if complete else []

    def _led(self, check: GoldCheck) -> list[int]:
        """The candidates that walk the check backwards, from what meets it."""
        name, direction = check.step
        back: Steps = ((name, "in" if direction == "out" else "out"),)
        return [each.number for each in self._candidates if each.start in check.values and _steps(each) == back]

    def scores(self, kind: str) -> list[dict[str, float]]:
        """1 for what leads on, 0 for the rest; `kind` is what they are called in the reply."""
        chosen = set(self.choices(len(self.states)))
        return [{kind: number, "score": float(number in chosen)} for number in self.states]

    def conclusion(self) -> dict[str, Any]:
        """What has arrived, whatever it leads to."""
        most = max(1, sum(state == ARRIVED for state in self.states.values()))
        return {"paths": [{"path": number, "ends": []} for number in self.choices(most, ARRIVED)]}


def _draw(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311  # errors that can be repeated, not a secret


def _key(question: str) -> str:
    return " ".join(question.split())


def _told(gold: GoldChain) -> list[str]:
    """The steps in words."""
    return [f"by {relation} to what it leads to" for relation, _ in gold.steps]


def _steps(candidate: PromptCandidate) -> Steps:
    return tuple(zip(candidate.relations, candidate.directions, strict=True))


def _numbers(candidate: PromptCandidate, names: Sequence[str]) -> list[int]:
    """The numbers of the candidate's ends with these names."""
    return [number for number, tail in enumerate(candidate.tails, 1) if tail in names]


def _state(steps: Steps, chain: Steps) -> int:
    if not steps or steps != chain[: len(steps)]:
        return WRONG
    return ARRIVED if len(steps) == len(chain) else ON_THE_WAY
