"""The typed calls over any chat model: a template goes out, one JSON object comes back and is checked.

Nothing in a reply is believed: see `reading` and `replies`. What cannot be used is sent back once with the error. A model can
therefore pick badly, but it cannot bring in anything that it was not shown.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from fedkg.common.one_line import line
from fedkg.config.settings import Budget, ConstraintLevel
from fedkg.core.choice import Choice, Conclusion, ModelOnlyAnswer, PromptCandidate, RelationPath, Verdict
from fedkg.core.question import Kind, Mention, Plan, Style
from fedkg.errors import ModelReplyError
from fedkg.llm.base import ChatModel, Completion, Constraint, Message, Request
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.exchange import CallObserver, Exchange, observed
from fedkg.llm.ledger import Ledger
from fedkg.reasoner import path_format, replies, score_replies
from fedkg.reasoner.prompts.context_fit import fitted, room
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.reasoner.prompts.template import PromptTemplate
from fedkg.reasoner.reply_parsing import extract

__all__ = ["MOST_HELD", "PromptedModel", "doors"]

REPAIR = "That reply cannot be used: {fault}. Do the same task again. Reply with one JSON object as described, and nothing else."
ECHO = 500
"""Characters of an unusable reply that the model is shown again; with the repair they fit into what `room` holds back."""

ALTERNATIVES = 5
"""Alternatives to each token that are asked for, so that yes and no are among them; services give between 5 and 20."""
MOST_HELD: dict[ConstraintLevel, int] = {"token": 100_000, "schema": 500, "index": 0}
"""Most paths that a model is held to at once. A trie of 100,000 is made in seconds (eval/measure/trie.py); services bound the length
of an enumeration, OpenAI's to a thousand values."""

T = TypeVar("T")


async def _nothing(_requests: Sequence[Request]) -> None:
    """Where no replies are kept there are none to forget."""


def _unobserved(_exchange: Exchange) -> None:
    """Where nobody keeps a transcript nothing is done with a call that has ended."""


class PromptedModel:
    """A ReasoningModel over a chat model and the templates.

    Every call goes into `ledger` under its template's version; `budget` bounds the calls. All calls raise ModelError where
    the model fails or replies unusably twice, or takes no prompt of this length, and BudgetError. PromptCandidates that there is no room
    for are not shown, the last ones first; `left_out` counts them. `forget` is told the requests of a call that came to nothing, so
    that no kept reply makes that last. `writer` is a model whose tokens can be held, which writes paths instead of picking them;
    `door` is the way that is wanted to hold a model to paths (see `doors`). `observer` is handed each call when it has ended.
    """

    exhaustive: bool = False
    abstains: frozenset[Kind] = frozenset()

    def __init__(
        self,
        model: ChatModel,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        wordings: PromptLibrary | None = None,
        forget: Callable[[Sequence[Request]], Awaitable[None]] = _nothing,
        *,
        writer: ChatModel | None = None,
        door: ConstraintLevel | None = None,
        observer: CallObserver = _unobserved,
    ) -> None:
        self.name = model.name
        self.ledger = ledger or Ledger()
        self._wordings = wordings or PromptLibrary(vendor=model.name.partition(":")[0])
        self._model = BudgetedModel(model, budget or Budget(), self.ledger)
        self._writer = BudgetedModel(writer or model, budget or Budget(), self.ledger)
        self._forget = forget
        self._observer = observer
        self.left_out = 0
        self.door: ConstraintLevel = door or doors(model, writer)[0]
        self.held = MOST_HELD[self.door]

    async def plan(self, question: str, kind: Kind | None = None, options: Sequence[str] = ()) -> Plan:
        """The question's keywords, steps, statement, kind and mentions; only what stands in the question is a mention."""
        values = {"question": question, "kind": kind, "options": options}
        return await self._ask(
            self._wordings.get("plan", kind), values, lambda reply, _: replies.plan(reply, question, kind, options)
        )

    async def link(self, question: str, mentions: Sequence[Mention]) -> dict[str, int]:
        """For each mention's text the number of the candidate that is meant, 0 for none; no call where nothing is open."""
        if not mentions:
            return {}
        return await self._ask(
            self._wordings.get("link"), {"question": question, "mentions": mentions}, score_replies.links
        )

    async def beam(
        self, question: str, plan: Plan, path: PromptCandidate | None, offers: Sequence[PromptCandidate], width: int
    ) -> tuple[Choice, ...]:
        """At most `width` of the offers, best first, unverified; no call where nothing is offered."""
        if not offers:
            return ()
        values = {"question": question, "plan": plan, "path": path, "offers": offers, "width": width}
        return await self._ask(
            self._wordings.get("beam", plan.kind), values, lambda reply, shown: replies.step_picks(reply, shown, width)
        )

    async def deductive(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> tuple[Verdict, ...]:
        """A verdict on each path that was shown, in their order; a path that the reply leaves out has failed both."""
        if not paths:
            return ()
        values = {"question": question, "plan": plan, "paths": paths}
        return await self._ask(self._wordings.get("deductive", plan.kind), values, replies.verdicts)

    async def deducible(
        self, question: str, plan: Plan, path: PromptCandidate, kept: Sequence[PromptCandidate] = ()
    ) -> float:
        """The probability of yes against no where the reply says one of them, read off its log-probabilities."""
        values = {"question": question, "plan": plan, "path": path, "paths": kept}
        return await self._heard(
            self._wordings.get("deducible", plan.kind),
            values,
            lambda reply, _: score_replies.probability(reply),
            alternatives=ALTERNATIVES,
        )

    async def choose(
        self,
        question: str,
        plan: Plan,
        offers: Sequence[PromptCandidate],
        width: int,
        kept: Sequence[PromptCandidate] = (),
    ) -> tuple[Choice, ...]:
        """At most `width` of the offers, best first, each verified; no call where nothing is offered."""
        if not offers:
            return ()
        values = {"question": question, "plan": plan, "offers": offers, "width": width, "kept": kept}
        return await self._ask(
            self._wordings.get("choose", plan.kind),
            values,
            lambda reply, shown: replies.verified_picks(reply, shown, width),
        )

    async def adequacy(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> bool:
        """Whether the paths together are enough to answer; none are never, without a call."""
        if not paths:
            return False
        values = {"question": question, "plan": plan, "paths": paths}
        return await self._ask(
            self._wordings.get("adequacy", plan.kind), values, lambda reply, _: score_replies.adequate(reply)
        )

    async def score_relations(
        self, question: str, plan: Plan, path: PromptCandidate | None, offers: Sequence[PromptCandidate]
    ) -> tuple[float, ...]:
        """A score in 0..1 for each offer, in their order; no call where nothing is offered."""
        if not offers:
            return ()
        values = {"question": question, "plan": plan, "path": path, "offers": offers}
        return await self._ask(
            self._wordings.get("score-relations", plan.kind),
            values,
            lambda reply, shown: score_replies.scored(reply, offers, shown, "relation"),
        )

    async def score_entities(self, question: str, plan: Plan, offers: Sequence[PromptCandidate]) -> tuple[float, ...]:
        """A score in 0..1 for each offer, in their order; no call where nothing is offered."""
        if not offers:
            return ()
        values = {"question": question, "plan": plan, "offers": offers}
        return await self._ask(
            self._wordings.get("score-entities", plan.kind),
            values,
            lambda reply, shown: score_replies.scored(reply, offers, shown, "entity"),
        )

    async def relation_paths(
        self, question: str, plan: Plan, relations: Sequence[PromptCandidate], depth: int, most: int
    ) -> tuple[RelationPath, ...]:
        """At most `most` chains of the offered relations, the heaviest first; no call where none are offered."""
        if not relations:
            return ()
        values = {"question": question, "plan": plan, "relations": relations, "depth": depth, "most": most}
        return await self._ask(
            self._wordings.get("relation-paths", plan.kind),
            values,
            lambda reply, shown: score_replies.relation_paths(reply, shown, depth, most),
        )

    async def reasoning_paths(
        self, question: str, plan: Plan, paths: Sequence[PromptCandidate], width: int
    ) -> tuple[Choice, ...]:
        """At most `width` of the paths, best first; the schema of the reply lists their numbers. No call where there are none."""
        if not paths:
            return ()
        if self.door == "token":
            return await self._written(question, paths, width)
        values = {"question": question, "plan": plan, "paths": paths, "width": width}
        template = self._wordings.get("reasoning-paths", plan.kind)
        template = replace(template, schema=_listing(template.schema, [path.number for path in paths]))
        return await self._ask(template, values, lambda reply, shown: replies.step_picks(reply, shown, width))

    async def answer(self, question: str, plan: Plan, paths: Sequence[PromptCandidate]) -> Conclusion:
        """Which paths and ends answer the question; an empty Conclusion where these paths do not, or none are given."""
        return await self._conclude("answer", plan, {"question": question, "plan": plan, "paths": paths})

    async def inductive(
        self, question: str, plan: Plan, paths: Sequence[PromptCandidate], hypotheses: Sequence[str]
    ) -> Conclusion:
        """Which paths and ends answer, weighed together; an empty Conclusion where these paths do not, or none are given."""
        values = {"question": question, "plan": plan, "paths": paths, "hypotheses": hypotheses}
        return await self._conclude("inductive", plan, values)

    async def model_only(
        self, question: str, kind: Kind, options: Sequence[str] = (), style: Style = "io", sample: int = 0
    ) -> ModelOnlyAnswer:
        """The model's own answer; `few-shot` shows it examples, `cot` lets it think first."""
        values = {"question": question, "plan": Plan((), kind=kind, options=tuple(options)), "style": style}
        template = self._wordings.get("model-only", kind)
        if style != "few-shot":
            template = replace(template, examples=())
        return await self._ask(template, values, lambda reply, _: replies.recalled(reply, kind, options), sample=sample)

    async def close(self) -> None:
        """Closes the chat model."""
        await self._model.close()

    async def _written(self, question: str, paths: Sequence[PromptCandidate], width: int) -> tuple[Choice, ...]:
        """The paths that the writer decodes, as it was fine-tuned to, but can write no others (GCR section 4.3, Eq. 6)."""
        topics = dict.fromkeys(path.start for path in paths)
        held = Constraint(tuple(path.text for path in paths), width, path_format.START, path_format.END)
        task = Message("user", path_format.prompt("gcr", question, topics))
        with observed(Exchange("reasoning-paths", self._writer, self.ledger), self._observer) as exchange:
            reply = await exchange.send(Request("reasoning-paths", (task,), {}, held=held))
            try:
                exchange.result = choices = replies.step_picks(extract(reply.text), paths, width)
            except ModelReplyError as fault:
                exchange.refuse(fault)
                raise
            return choices

    async def _conclude(self, call: str, plan: Plan, values: Mapping[str, Any]) -> Conclusion:
        """What the paths among the values answer; nothing where there are none."""
        if not values["paths"]:
            return Conclusion()
        template = self._wordings.get(call, plan.kind)
        return await self._ask(
            template, values, lambda reply, shown: replies.conclusion(reply, plan.kind, shown, plan.options)
        )

    async def _ask(
        self,
        template: PromptTemplate,
        values: Mapping[str, Any],
        read: Callable[[dict[str, Any], Sequence[Any]], T],
        *,
        sample: int = 0,
    ) -> T:
        """What `read` makes of the reply's JSON object and of the offers that were shown."""
        return await self._heard(template, values, lambda reply, shown: read(extract(reply.text), shown), sample=sample)

    async def _heard(
        self,
        template: PromptTemplate,
        values: Mapping[str, Any],
        read: Callable[[Completion, Sequence[Any]], T],
        *,
        sample: int = 0,
        alternatives: int = 0,
    ) -> T:
        """What `read` makes of the reply and of the offers that were shown; an unusable reply is sent back once.

        `sample` and `alternatives` are as in a Request.
        """
        with observed(Exchange(template.call, self._model, self.ledger), self._observer) as exchange:
            result = await self._exchanged(exchange, template, values, read, sample=sample, alternatives=alternatives)
            exchange.result = result
            return result

    async def _exchanged(
        self,
        exchange: Exchange,
        template: PromptTemplate,
        values: Mapping[str, Any],
        read: Callable[[Completion, Sequence[Any]], T],
        *,
        sample: int,
        alternatives: int,
    ) -> T:
        """The same, with each request and reply entered into `exchange`."""
        prompt = fitted(template, values, room(self._model.capability))
        self.left_out += prompt.left_out
        task = [Message("system", prompt.system), Message("user", prompt.user)]
        first = _request(template, task, sample, alternatives)
        reply = await exchange.send(first)
        try:
            return read(reply, prompt.shown)
        except ModelReplyError as fault:
            exchange.refuse(fault)
            # vendors refuse empty turns, and half a pair of surrogates cannot be sent
            said = reply.text.encode("utf-8", "replace").decode("utf-8").strip()[:ECHO]
            echo = Message("assistant", said or "(nothing)")
            task += [echo, Message("user", REPAIR.format(fault=line(fault, 300)))]
        repair = _request(template, task, sample, alternatives)
        reply = await exchange.send(repair)
        try:
            return read(reply, prompt.shown)
        except ModelReplyError as fault:
            exchange.refuse(fault)
            await self._forget([first, repair])
            raise ModelReplyError(
                f"{self.name}: two unusable replies to `{template.call}`: {fault}", asked=template.call
            ) from fault


def doors(model: ChatModel, writer: ChatModel | None = None) -> tuple[ConstraintLevel, ...]:
    """What can hold the model to paths, the closest one first: its tokens, its reply's schema, a check of its numbers."""
    schema: tuple[ConstraintLevel, ...] = ("schema",) if model.capability.structured == "native" else ()
    return (*(("token",) if writer else ()), *schema, "index")


def _listing(schema: Mapping[str, Any], numbers: Sequence[int]) -> dict[str, Any]:
    """The schema of a reply with picks, which can be these numbers only."""
    picks = {"type": "array", "items": {"type": "integer", "enum": list(numbers)}}
    return {**schema, "properties": {**schema["properties"], "picks": picks}}


def _request(template: PromptTemplate, task: Sequence[Message], sample: int, alternatives: int) -> Request:
    return Request(template.call, tuple(task), template.schema, template.version, sample, alternatives)
