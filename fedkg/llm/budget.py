"""What model calls cost: a Ledger counts them, a BudgetedModel starts none beyond the budget."""

import time

import msgspec

from fedkg.errors import BudgetError
from fedkg.llm.base import ChatModel, Completion, Request
from fedkg.settings import Budget

__all__ = ["BudgetedModel", "Ledger", "Spend"]


class Spend(msgspec.Struct, frozen=True):
    """What calls cost: tokens as the vendor counts them (`cached` are part of `tokens_in`), wall-clock `seconds`.

    A call counts from its start, so a failed one is a call with no tokens.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out together."""
        return self.tokens_in + self.tokens_out

    def __add__(self, other: "Spend") -> "Spend":
        ours, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Spend(*(mine + more for mine, more in zip(ours, theirs, strict=True)))


class Ledger:
    """Counts model calls by call name and template version; one ledger serves one question."""

    def __init__(self) -> None:
        self._spends: dict[tuple[str, str], Spend] = {}

    @property
    def total(self) -> Spend:
        """Everything so far."""
        return sum(self._spends.values(), start=Spend())

    def by_call(self) -> dict[tuple[str, str], Spend]:
        """A snapshot: (call name, template version) to what these calls cost; the version is "" where none was told."""
        return dict(sorted(self._spends.items()))

    def add(self, call: str, version: str, spend: Spend) -> None:
        """Enters what a call cost."""
        self._spends[call, version] = self._spends.get((call, version), Spend()) + spend

    def spent(self, budget: Budget) -> str:
        """Which part of the budget allows no further call: "calls", "tokens", or "" where one is still allowed."""
        total = self.total
        if budget.calls is not None and total.calls >= budget.calls:
            return "calls"
        return "tokens" if budget.tokens is not None and total.tokens >= budget.tokens else ""


class BudgetedModel:
    """A ChatModel that enters every call into a ledger and starts none once the budget of calls or tokens is spent.

    Seconds are the caller's to enforce: a
    model's reply can be waited for, or not, only from outside.
    """

    def __init__(self, model: ChatModel, budget: Budget, ledger: Ledger) -> None:
        self.name = model.name
        self.capability = model.capability
        self._model = model
        self._budget = budget
        self._ledger = ledger

    async def complete(self, request: Request) -> Completion:
        """The model's reply. Raises BudgetError, before anything is sent, where the budget is spent."""
        if spent := self._ledger.spent(self._budget):
            limit = getattr(self._budget, spent)
            raise BudgetError(
                f"the budget of {limit} model {spent} is spent", budget=spent, asked=f"{self.name}: {request.call}"
            )
        name, version = request.call, request.template
        # counted before it is sent: calls that run side by side must see each other
        self._ledger.add(name, version, Spend(calls=1))
        reply, started = Completion(""), time.perf_counter()
        try:
            reply = await self._model.complete(request)
        finally:
            seconds = time.perf_counter() - started
            self._ledger.add(name, version, Spend(0, reply.tokens_in, reply.tokens_out, reply.cached, seconds))
        return reply

    async def close(self) -> None:
        """Closes the model behind."""
        await self._model.close()
