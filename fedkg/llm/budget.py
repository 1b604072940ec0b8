"""A model that keeps to its budgets: every call goes into a ledger, and none is started once a budget is spent."""

import math
import time
from typing import NamedTuple

import msgspec

from fedkg.common.tokens import estimate
from fedkg.config.settings import Budget, masked
from fedkg.core.usage import ModelCall
from fedkg.errors import BudgetError, ModelError, ModelReplyError, ModelUnreachableError
from fedkg.llm.base import ChatModel, Completion, Request
from fedkg.llm.ledger import Ledger, Spend, exhausted

__all__ = ["BudgetedModel", "Entered"]

UNITS = {"calls": "{:,} model call{s}", "tokens": "{:,} model token{s}", "money": "${:g}", "seconds": "{:g} second{s}"}
HEAD = 200_000
"""Characters of a text that are looked at to estimate it."""
NO_PRICE = "write a price into your prices.toml that holds for prompts of that length (`up_to`)"


class Entered(NamedTuple):
    """A reply, and the number of its line in the ledger."""

    reply: Completion
    line: int


class BudgetedModel:
    """A chat model that enters every call into a ledger, and starts none once the budget of question or run is spent.

    The run's budget is that of the ledger's account. The seconds of a question are the caller's to enforce: a model's
    reply can be waited for, or not, only from outside.
    """

    def __init__(self, model: ChatModel, budget: Budget, ledger: Ledger) -> None:
        self.name = masked(model.name)
        self.capability = model.capability
        self._model = model
        self._budget = budget
        self._ledger = ledger

    async def complete(self, request: Request) -> Entered:
        """The model's reply with its line. Raises BudgetError, before anything is sent, where a budget is spent."""
        self._check(request)
        call = ModelCall(request.call, request.template, self.name)
        # entered before it is sent: calls that run side by side must see each other
        line, started = self._ledger.begin(call), time.perf_counter()
        try:
            reply = await self._reply(request)
        except BaseException as error:
            call = _failed(call, error, request)
            raise
        else:
            call = _uncounted(_charged(call, reply.counted(request)), request, reply.text)
            return Entered(reply, line)
        finally:
            self._ledger.end(line, msgspec.structs.replace(call, seconds=time.perf_counter() - started))

    async def close(self) -> None:
        """Closes the model behind."""
        await self._model.close()

    async def _reply(self, request: Request) -> Completion:
        """The model's reply. Where the question's time is over it is cancelled: a TimeoutError is the model's own."""
        try:
            return await self._model.complete(request)
        except TimeoutError as error:
            asked = f"{self.name}: {request.call}"
            raise ModelUnreachableError(f"{asked}: no reply in time", asked=asked) from error

    def _check(self, request: Request) -> None:
        asked = f"{self.name}: {request.call}"
        ledger, account = self._ledger, self._ledger.account
        if spent := exhausted(self._budget, ledger.total):
            raise _spent(self._budget, ledger.total, spent, "", asked)
        if spent := account.spent:
            raise _spent(account.budget, account.total, spent, "run ", asked)


def _spent(budget: Budget, total: Spend, part: str, whose: str, asked: str) -> BudgetError:
    limit = getattr(budget, part)
    budget_name = f"the {whose}budget of {UNITS[part].format(limit, s='' if limit == 1 else 's')}"
    if part == "money" and total.charged is None:
        return BudgetError(
            f"{budget_name} cannot hold: a call had no price", budget=whose + part, asked=asked, hint=NO_PRICE
        )
    if part in {"tokens", "money"} and not exhausted(budget, msgspec.structs.replace(total, uncounted=0, unpriced=0.0)):
        budget_name += (
            f", by our own estimate of {total.tokens + total.uncounted:,} tokens, of which the server counts "
        )
        budget_name += f"{total.tokens:,},"
    return BudgetError(f"{budget_name} is spent", budget=whose + part, asked=asked)


def _failed(call: ModelCall, error: BaseException, request: Request) -> ModelCall:
    """The call with what it ended with; a reply that is of no use was paid for, too."""
    if isinstance(error, ModelError):
        call = _charged(call, Completion("", error.tokens_in, error.tokens_out, retries=error.retries))
    if isinstance(error, ModelReplyError):
        call = _uncounted(call, request, "")
    return msgspec.structs.replace(call, error=type(error).__name__)


def _uncounted(call: ModelCall, request: Request, reply: str) -> ModelCall:
    """The call with the tokens above the service's count, by our own estimate of what was sent and received."""
    sent = sum(_estimated(message.content) for message in request.messages)
    return msgspec.structs.replace(
        call,
        uncounted_in=max(0, sent - call.tokens_in),
        uncounted_out=max(0, _estimated(reply) - call.tokens_out),
    )


def _estimated(text: str) -> int:
    """Tokens of the text, about; of a very long one as many in proportion as its head has."""
    return estimate(text) if len(text) <= HEAD else math.ceil(estimate(text[:HEAD]) * len(text) / HEAD)


def _charged(call: ModelCall, reply: Completion) -> ModelCall:
    """The call with what its reply cost."""
    return msgspec.structs.replace(
        call,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cached=reply.cached,
        written=reply.written,
        reasoning=reply.reasoning,
        retries=reply.retries,
        replayed=reply.replayed,
    )
