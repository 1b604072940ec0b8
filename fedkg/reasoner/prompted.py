"""The typed calls over any chat model: a template goes out, one JSON object comes back and is checked.

Nothing in a reply is believed: see `reply_parsing`, and the calls themselves. What cannot be used is sent back once
with the error. A model can therefore pick badly, but it cannot bring in anything that it was not shown.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from fedkg.common.one_line import line
from fedkg.config.settings import Budget, Choices, ConstraintLevel
from fedkg.core.question import Kind
from fedkg.errors import ModelReplyError
from fedkg.llm.base import ChatModel, Constraint, Message, Request
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.exchange import CallObserver, Exchange, observed
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.base import Call
from fedkg.reasoner.prompts.context_fit import fitted, room
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.reasoner.prompts.reply_length import longest
from fedkg.reasoner.prompts.template import PromptTemplate
from fedkg.reasoner.reply_parsing import extract, fit
from fedkg.reasoner.writing import TOKEN_LIMIT, PathWriter

__all__ = ["CONSTRAINT_LIMITS", "PromptedModel", "constraint_levels"]

REPAIR = (
    "That reply cannot be used: {fault}. Do the same task again. Reply with one JSON object as described, and nothing "
    "else."
)
ECHO = 500
"""Characters of an unusable reply that the model is shown again; with the repair they fit into what `room` holds
back."""

CONSTRAINT_LIMITS: dict[ConstraintLevel, int] = {"token": TOKEN_LIMIT, "schema": 500, "index": 0}
"""Most paths that a model is constrained to at once.

Services bound the length of an enumeration, OpenAI's to a thousand values."""

Reply = TypeVar("Reply")


class Likelihoods(msgspec.Struct):
    """The reply of a model that is held to texts: their numbers, and the probability of each among them."""

    picks: list[int]
    scores: list[float]


async def _nothing(_requests: Sequence[Request]) -> None:
    """Where no replies are kept there are none to forget."""


def _unobserved(_exchange: Exchange) -> None:
    """Where no transcript is kept nothing is done with a call that has ended."""


class PromptedModel:
    """A ReasoningModel over a chat model and the templates.

    Every call goes into `ledger` under its template's version; `budget` bounds the calls. All calls raise ModelError
    where the model fails or replies unusably twice, or takes no prompt of this length, and BudgetError.
    Candidates that there is no room for are not shown, the last ones first; `left_out` counts them. `forget` is
    told the requests of a call that came to nothing, so that no kept reply makes that last. `writer` is a model whose
    tokens can be constrained, which writes paths instead of picking them; `constraint_level` is the wanted one (see
    `constraint_levels`). `observer` is handed each call when it has ended. `temperature` is that of the prompts.
    `choices` says whether numbers are chosen by the reply that is generated, or by the likelihood of their own.
    """

    exhaustive: bool = False
    abstains: frozenset[Kind] = frozenset()

    def __init__(
        self,
        model: ChatModel,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        prompts: PromptLibrary | None = None,
        forget: Callable[[Sequence[Request]], Awaitable[None]] = _nothing,
        *,
        writer: ChatModel | None = None,
        constraint_level: ConstraintLevel | None = None,
        observer: CallObserver = _unobserved,
        temperature: float = 0.0,
        choices: Choices = "generated",
    ) -> None:
        self.name = model.name
        self.ledger = ledger or Ledger()
        self._prompts = prompts or PromptLibrary(vendor=model.name.partition(":")[0])
        self._model = BudgetedModel(model, budget or Budget(), self.ledger)
        writing = BudgetedModel(writer or model, budget or Budget(), self.ledger)
        self._writer = PathWriter(writing, self.ledger, observer, self._prompts.form)
        self._forget = forget
        self._observer = observer
        self._temperature = temperature
        self._choices = choices
        self.left_out = 0
        self.constraint_level: ConstraintLevel = constraint_level or constraint_levels(model, writer)[0]
        self.constraint_limit = CONSTRAINT_LIMITS[self.constraint_level]

    async def ask(self, call: Call[Reply]) -> Reply:
        """What the model replies to the call; no request where there is nothing to ask about."""
        known = call.trivial()
        if known is not None:
            return known
        writing = self._writer.request(call) if self.constraint_level == "token" or call.free else None
        return await (self._prompted(call) if writing is None else self._writer.write(call, writing))

    async def close(self) -> None:
        """Closes the chat model."""
        await self._model.close()

    async def _prompted(self, call: Call[Reply]) -> Reply:
        """What the reply to the call's prompt says."""
        template = call.adapted(self._prompts.get(call.name, call.prompt_kind))
        with observed(Exchange(call.name, self._model, self.ledger), self._observer) as exchange:
            result = await self._exchanged(exchange, template, call)
            exchange.result = result
            return result

    async def _exchanged(self, exchange: Exchange, template: PromptTemplate, call: Call[Reply]) -> Reply:
        """The same, with each request and reply entered into `exchange`; an unusable reply is sent back once."""
        prompt = fitted(template, call.values(), room(self._model.capability))
        self.left_out += prompt.left_out
        task = [Message("system", prompt.system), Message("user", prompt.user)]
        if constraint := call.likely(len(prompt.shown)) if self._choices == "likelihood" else None:
            request = Request(call.name, tuple(task), {}, template.version, constraint=constraint)
            return await _weighed(exchange, request, constraint, call, len(prompt.shown))
        lengths = call.lengths(len(prompt.shown))
        first = self._request(template, task, call, lengths)
        reply = await exchange.send(first)
        try:
            return call.read(reply, len(prompt.shown))
        except ModelReplyError as fault:
            exchange.refuse(fault)
            # vendors refuse empty turns, and half a pair of surrogates cannot be sent
            echoed = reply.text.encode("utf-8", "replace").decode("utf-8").strip()[:ECHO]
            echo = Message("assistant", echoed or "(nothing)")
            task += [echo, Message("user", REPAIR.format(fault=line(fault, 300)))]
        repair = self._request(template, task, call, lengths)
        reply = await exchange.send(repair)
        try:
            return call.read(reply, len(prompt.shown))
        except ModelReplyError as fault:
            exchange.refuse(fault)
            await self._forget([first, repair])
            raise ModelReplyError(
                f"{self.name}: two unusable replies to `{call.name}`: {fault}", asked=call.name
            ) from fault

    def _request(
        self, template: PromptTemplate, task: Sequence[Message], call: Call[object], lengths: Mapping[str, int]
    ) -> Request:
        form = template.schema, template.version, call.sample_number, call.alternatives
        most = longest(template.schema, lengths)
        request = Request(call.name, tuple(task), *form, most=most, lengths=dict(lengths))
        return msgspec.structs.replace(request, temperature=self._temperature) if self._temperature else request


async def _weighed(
    exchange: Exchange, request: Request, constraint: Constraint, call: Call[Reply], shown: int
) -> Reply:
    """What the likelihoods of the texts come to, of a model whose tokens are chosen here; nothing is left to repair."""
    reply = await exchange.send(request)
    try:
        likelihoods = fit(extract(reply.text), Likelihoods)
        shares = dict(zip(likelihoods.picks, likelihoods.scores, strict=False))
        every = [shares.get(number, 0.0) for number in range(1, len(constraint.texts) + 1)]
        return call.weighed(every, shown)
    except ModelReplyError as fault:
        exchange.refuse(fault)
        raise


def constraint_levels(model: ChatModel, writer: ChatModel | None = None) -> tuple[ConstraintLevel, ...]:
    """What can constrain a model to paths, closest first: its tokens, its reply's schema, a check of its numbers."""
    schema: tuple[ConstraintLevel, ...] = ("schema",) if model.capability.structured == "native" else ()
    return (*(("token",) if writer else ()), *schema, "index")
