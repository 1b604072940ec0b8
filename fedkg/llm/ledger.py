"""What model calls cost: the ledger of one question, and the account that the questions of one run share."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from fedkg.config.settings import Budget
from fedkg.core.meter import Meter
from fedkg.core.usage import ModelCall, Usage
from fedkg.llm.prices import Price, price

__all__ = ["Account", "Ledger", "Spend", "by_call", "exhausted", "usage_of"]


class Spend(msgspec.Struct, frozen=True):
    """What calls cost: tokens as the vendor counts them, wall-clock `seconds`, `price` in US dollars.

    `cached` are part of `tokens_in`, `reasoning` of `tokens_out`. The price is None where that of any call is not
    known. A call counts from its start; one that failed cost what the service said of it, which is mostly nothing.
    `uncounted` are the tokens that our own estimate has beyond the vendor's count, `unpriced` what these would cost: of
    no bill, but of every budget, which a server that understates its usage would defeat. `replayed_calls`,
    `replayed_tokens` and `replayed_price` are the parts of these that kept replies answered, at no cost now.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    reasoning: int = 0
    seconds: float = 0.0
    price: float | None = 0.0
    uncounted: int = 0
    unpriced: float | None = 0.0
    replayed_calls: int = 0
    replayed_tokens: int = 0
    replayed_price: float = 0.0

    @classmethod
    def of(cls, call: ModelCall) -> "Spend":
        """What that one call cost."""
        counts = (call.tokens_in, call.tokens_out, call.cached, call.reasoning, call.seconds)
        spend = cls(1, *counts, call.price, call.uncounted_in + call.uncounted_out)
        if not call.replayed:
            return spend
        return msgspec.structs.replace(
            spend, replayed_calls=1, replayed_tokens=spend.tokens, replayed_price=call.price or 0.0
        )

    @property
    def tokens(self) -> int:
        """Tokens in and out together."""
        return self.tokens_in + self.tokens_out

    @property
    def charged(self) -> float | None:
        """US dollars that a budget counts."""
        return _sum(self.price, self.unpriced)

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.seconds + other.seconds,
            _sum(self.price, other.price),
            self.uncounted + other.uncounted,
            _sum(self.unpriced, other.unpriced),
            self.replayed_calls + other.replayed_calls,
            self.replayed_tokens + other.replayed_tokens,
            self.replayed_price + other.replayed_price,
        )


N = TypeVar("N", int, float)
STARTED, TAKEN_BACK = Spend(calls=1), Spend(calls=-1)


class Account:
    """A budget that the questions of a run share, with what was really spent of it.

    A kept reply costs nothing again.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.total = Spend()
        self._ends = math.inf
        self._lock = threading.Lock()  # its questions may run in several threads

    def begin(self) -> None:
        """Starts the run's time, with its first question."""
        if self._ends == math.inf and self.budget.seconds is not None:
            self._ends = time.monotonic() + self.budget.seconds

    @property
    def left(self) -> float:
        """Seconds until the run's time is over; infinity where it has no end or has not begun."""
        return self._ends - time.monotonic()

    @property
    def spent(self) -> str:
        """The part of the budget that is spent: "calls", "tokens", "money" or "seconds"; "" if none is."""
        return exhausted(self.budget, self.total) or ("seconds" if self.left <= 0 else "")

    @property
    def rest(self) -> Budget:
        """What may still be spent, 0 of what is spent: the budget of a run that goes on elsewhere.

        Money is 0 where a price is not known.
        """
        budget, total = self.budget, self.total
        return Budget(
            calls=_rest(budget.calls, total.calls),
            tokens=_rest(budget.tokens, total.tokens + total.uncounted),
            money=_rest(budget.money, math.inf if total.charged is None else total.charged),
            seconds=budget.seconds if self.left == math.inf else max(0.0, self.left),
        )

    def add(self, spend: Spend) -> None:
        """Enters what was spent."""
        with self._lock:
            self.total += spend


class Ledger:
    """The model calls of one question, in the order of their start, priced by a table.

    What they really cost goes into `account`, too. Totals are kept up to date: to ask for them is no work. `before` is
    called before each call, and keeps it from being made by an error.
    """

    def __init__(
        self, prices: Sequence[Price] = (), account: Account | None = None, before: Callable[[], None] | None = None
    ) -> None:
        self.account = account or Account()
        self.total = Spend()
        self._prices = prices
        self._before = before or _nothing
        self._calls: list[ModelCall] = []

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        """A line for each call, also for those that failed and those that are not back yet."""
        return tuple(self._calls)

    def begin(self, call: ModelCall) -> int:
        """Enters a call that starts; the number of its line.

        It counts from here on, for calls that are made before it is back. Raises what `before` does.
        """
        self._before()
        self._calls.append(call)
        self.total += STARTED
        self.account.add(STARTED)
        return len(self._calls) - 1

    def close(self) -> None:
        """Lets go of `before`, which mostly belongs to the question that has this ledger: the two would be a cycle."""
        self._before = _nothing

    def end(self, line: int, call: ModelCall) -> None:
        """Replaces the line by what the call has become, and prices it."""
        self._calls[line] = call = msgspec.structs.replace(call, price=price(call, self._prices))
        cost = TAKEN_BACK + msgspec.structs.replace(Spend.of(call), unpriced=self._unpriced(call))
        self.total += cost
        self.account.add(TAKEN_BACK if call.replayed else cost)

    def _unpriced(self, call: ModelCall) -> float | None:
        """What the tokens would cost that the vendor does not count; None where that is not known."""
        tokens_in, tokens_out = call.tokens_in + call.uncounted_in, call.tokens_out + call.uncounted_out
        whole = price(msgspec.structs.replace(call, tokens_in=tokens_in, tokens_out=tokens_out), self._prices)
        return None if whole is None or call.price is None else max(0.0, whole - call.price)

    def refuse(self, line: int, error: Exception) -> None:
        """Says on the line of a call why its reply was of no use; what it cost stays."""
        self._calls[line] = msgspec.structs.replace(self._calls[line], error=type(error).__name__)


def usage_of(meter: Meter, spend: Spend) -> Usage:
    """What endpoints were asked, and what was spent on the model, as one usage."""
    return msgspec.structs.replace(
        meter.usage(),
        model_calls=spend.calls,
        tokens_in=spend.tokens_in,
        tokens_out=spend.tokens_out,
        cached=spend.cached,
        price=spend.price,
        replayed_calls=spend.replayed_calls,
        replayed_tokens=spend.replayed_tokens,
        replayed_price=spend.replayed_price,
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _nothing() -> None:
    """What is done before a call where nothing is."""


def _rest(limit: N | None, used: N) -> N | None:
    return None if limit is None else max(limit - used, 0)


def by_call(calls: Iterable[ModelCall]) -> dict[tuple[str, str], Spend]:
    """What the calls cost by (name, template), in the order in which they were first made."""
    spends: dict[tuple[str, str], Spend] = {}
    for call in calls:
        key = (call.call, call.template)
        spends[key] = spends.get(key, Spend()) + Spend.of(call)
    return spends


def exhausted(budget: Budget, total: Spend) -> str:
    """Which part of the budget allows no further call: "calls", "tokens", "money", or "" where one is still allowed.

    Where a price is not known, no budget of money can hold: nothing more is spent.
    """
    limits = (
        ("calls", budget.calls, total.calls),
        ("tokens", budget.tokens, total.tokens + total.uncounted),
        ("money", budget.money, total.charged),
    )
    return next((name for name, limit, used in limits if limit is not None and (used is None or used >= limit)), "")
