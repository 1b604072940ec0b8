"""The model that keeps to budgets: what goes into the ledger, and when no further call is started."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.tokens import estimate
from fedkg.config.settings import Budget
from fedkg.errors import BudgetError, ModelReplyError, ModelUnreachableError
from fedkg.llm.base import Capability, Completion, Message, Request
from fedkg.llm.budget import BudgetedModel
from fedkg.llm.ledger import Account, Ledger
from fedkg.llm.prices import parse
from fedkg.testing import ScriptedModel

TABLE = parse('[[price]]\nnames = ["vendor:m"]\ndate = 2026-01-01\nin = 1.0\nout = 1.0\n', "test")


class Serving:
    """A ChatModel that gives these completions, or raises these errors, once its gate is open."""

    name = "vendor:m"
    capability = Capability()

    def __init__(self, *replies: Completion | BaseException, gated: bool = False) -> None:
        self.opened = asyncio.Event()
        self.asked = 0
        self.closed = False
        self._replies = list(replies)
        if not gated:
            self.opened.set()

    async def complete(self, _request: Request) -> Completion:
        """The next one; the last one again and again."""
        self.asked += 1
        await self.opened.wait()
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    async def close(self) -> None:
        """Says that it was closed."""
        self.closed = True


async def ask(model: BudgetedModel, *calls: str) -> None:
    """One request for each name."""
    for call in calls:
        await model.complete(Request(call, (Message("user", "1234"),), {}, f"1-{call}"))


async def test_every_call_is_a_line_with_what_the_wire_says() -> None:
    """In the order of their start, with template, model, tokens of each kind, retries and price."""
    reply = Completion("{}", 100, 50, cached=30, reasoning=20, retries=2, written=10)
    ledger = Ledger(TABLE)
    await ask(BudgetedModel(Serving(reply), Budget(), ledger), "plan", "choose")
    line = ledger.calls[1]
    assert [(line.call, line.template) for line in ledger.calls] == [("plan", "1-plan"), ("choose", "1-choose")]
    assert (line.model, line.tokens_in, line.tokens_out, line.cached) == ("vendor:m", 100, 50, 30)
    assert (line.reasoning, line.written, line.retries, line.replayed, line.error) == (20, 10, 2, False, "")
    assert line.price == pytest.approx(150 / 1e6)
    assert line.seconds >= 0


async def test_nothing_secret_gets_into_the_ledger() -> None:
    """A model's name may have the URL of its server, and that a password or key."""
    ledger, model = Ledger(), Serving(Completion("{}"))
    model.name = "vendor:m@http://ada:pa55@127.0.0.1/v1?key=t0ken"
    await ask(BudgetedModel(model, Budget(), ledger), "plan")
    assert ledger.calls[0].model == "vendor:m@http://127.0.0.1/v1?…"
    with pytest.raises(BudgetError) as caught:
        await ask(BudgetedModel(model, Budget(calls=1), ledger), "plan")
    assert caught.value.asked == "vendor:m@http://127.0.0.1/v1?…: plan"


async def test_the_budget_of_calls_refuses_before_anything_is_sent() -> None:
    """The call beyond the limit raises with the budget's name, and no model is asked."""
    inner, ledger = ScriptedModel(["{}"] * 3), Ledger()
    model = BudgetedModel(inner, Budget(calls=2), ledger)
    await ask(model, "plan", "choose")
    with pytest.raises(BudgetError, match="the budget of 2 model calls is spent") as caught:
        await ask(model, "answer")
    assert (caught.value.asked, caught.value.budget) == ("scripted: answer", "calls")
    with pytest.raises(BudgetError, match="the budget of 1 model call is spent"):
        await ask(BudgetedModel(inner, Budget(calls=1), ledger), "answer")
    assert (len(inner.asked), len(ledger.calls)) == (2, 2)


async def test_the_budget_of_tokens_refuses_once_it_is_reached() -> None:
    """Tokens in and out count together; the call that crosses the limit is paid for, the next one is refused."""
    model = BudgetedModel(ScriptedModel(["1234"] * 3), Budget(tokens=7), Ledger())
    await ask(model, "plan", "plan")
    with pytest.raises(BudgetError, match="the budget of 7 model tokens") as caught:
        await ask(model, "plan")
    assert caught.value.budget == "tokens"


async def test_the_budget_of_money_refuses_once_it_is_reached() -> None:
    """By the price of what was asked until then."""
    inner = Serving(Completion("{}", 600_000))
    model = BudgetedModel(inner, Budget(money=1), Ledger(TABLE))
    await ask(model, "plan", "plan")
    with pytest.raises(BudgetError, match=r"the budget of \$1 is spent") as caught:
        await ask(model, "plan")
    assert (caught.value.budget, inner.asked) == ("money", 2)


async def test_a_call_without_a_price_spends_the_money() -> None:
    """What cannot be counted must not go on; that nothing was counted is what is said, of a question and of a run."""
    for limits, run in ((Budget(money=1), Budget()), (Budget(), Budget(money=1))):
        model = BudgetedModel(Serving(Completion("{}", 1)), limits, Ledger((), Account(run)))
        await ask(model, "plan")
        with pytest.raises(BudgetError, match=r"budget of \$1 cannot hold: a call had no price") as caught:
            await ask(model, "plan")
        assert caught.value.budget == ("money" if limits.money else "run money")
        assert "up_to" in caught.value.hint


@pytest.mark.parametrize("budget", [Budget(tokens=1), Budget(money=1e-9)])
async def test_a_server_that_counts_no_tokens_does_not_get_round_a_budget(budget: Budget) -> None:
    """Tokens that are not counted are estimated, of the prompt and of the reply, and priced."""
    ledger = Ledger(TABLE)
    model = BudgetedModel(Serving(Completion('{"paths": []}')), budget, ledger)
    await ask(model, "plan")
    line = ledger.calls[0]
    assert (line.tokens_in, line.tokens_out) == (estimate("1234"), estimate('{"paths": []}'))
    assert line.price == pytest.approx((line.tokens_in + line.tokens_out) / 1e6)
    with pytest.raises(BudgetError):
        await ask(model, "plan")


async def test_a_model_that_gives_up_waiting_is_not_the_end_of_the_question_s_time() -> None:
    """A TimeoutError of a model of one's own says that the model did not reply; no budget is spent by it."""
    ledger = Ledger()
    with pytest.raises(ModelUnreachableError, match="vendor:m: plan: no reply in time"):
        await ask(BudgetedModel(Serving(TimeoutError()), Budget(seconds=300), ledger), "plan")
    assert ledger.calls[0].error == "ModelUnreachableError"


@pytest.mark.parametrize(
    ("budget", "spent"),
    [(Budget(calls=2), "run calls"), (Budget(tokens=8), "run tokens"), (Budget(money=8e-6), "run money")],
)
async def test_the_budget_of_a_run_bounds_its_questions_together(budget: Budget, spent: str) -> None:
    """What one question has spent, the next one lacks; the error says that it was the run's."""
    inner, account = Serving(Completion("{}", 2, 2)), Account(budget)
    for question in (Ledger(TABLE, account), Ledger(TABLE, account)):
        await ask(BudgetedModel(inner, Budget(calls=9), question), "plan")
    with pytest.raises(BudgetError, match="the run budget of") as caught:
        await ask(BudgetedModel(inner, Budget(calls=9), Ledger(TABLE, account)), "plan")
    assert (caught.value.budget, inner.asked) == (spent, 2)


async def test_a_kept_reply_counts_for_its_question_only() -> None:
    """A replay takes the way that the first run took, and spends nothing of what may be spent now."""
    inner, account = Serving(Completion("{}", 2, 2, replayed=True)), Account(Budget(calls=1))
    for _ in range(3):
        ledger = Ledger(TABLE, account)
        model = BudgetedModel(inner, Budget(calls=2), ledger)
        await ask(model, "plan", "choose")
        assert (ledger.total.tokens, [line.replayed for line in ledger.calls]) == (8, [True, True])
        with pytest.raises(BudgetError, match="2 model calls"):
            await ask(model, "answer")
    assert (account.total.calls, account.total.tokens, account.spent) == (0, 0, "")


async def test_a_failed_call_is_a_call() -> None:
    """A line with its error's class, and with the tokens that the service counted all the same."""
    cut = ModelReplyError("the reply was cut")
    cut.tokens_in, cut.tokens_out, cut.retries = 7, 9, 1
    inner, ledger = Serving(ModelUnreachableError("no connection"), cut, Completion("{}")), Ledger(TABLE)
    model = BudgetedModel(inner, Budget(calls=2), ledger)
    for _ in range(2):
        with pytest.raises((ModelUnreachableError, ModelReplyError)):
            await ask(model, "plan")
    with pytest.raises(BudgetError):
        await ask(model, "plan")
    gone, bad = ledger.calls
    assert (gone.error, gone.tokens_in, gone.price) == ("ModelUnreachableError", 0, 0.0)
    assert (bad.error, bad.tokens_in, bad.tokens_out, bad.retries) == ("ModelReplyError", 7, 9, 1)
    assert ledger.account.total.tokens == 16


async def test_a_call_that_is_given_up_is_a_call() -> None:
    """Where the question's time is over while the model still thinks, its line says so."""
    inner, ledger = Serving(Completion("{}"), gated=True), Ledger(TABLE)
    task = asyncio.ensure_future(ask(BudgetedModel(inner, Budget(), ledger), "plan"))
    await asyncio.sleep(0)
    assert inner.asked == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [line.error for line in ledger.calls] == ["CancelledError"]


async def test_calls_side_by_side_see_each_other() -> None:
    """Of three calls started at once with a budget of two, one is refused although none has come back."""
    for limits, run in ((Budget(calls=2), Budget()), (Budget(), Budget(calls=2))):
        inner = Serving(Completion("{}"), gated=True)
        model = BudgetedModel(inner, limits, Ledger((), Account(run)))
        started = [asyncio.ensure_future(ask(model, "beam")) for _ in range(3)]
        done, waiting = await asyncio.wait(started, return_when=asyncio.FIRST_COMPLETED)
        assert [type(task.exception()) for task in done] == [BudgetError]
        inner.opened.set()
        await asyncio.gather(*waiting)
        assert inner.asked == 2


async def test_no_limit_never_refuses() -> None:
    """The default budget limits nothing, also where no price is known."""
    ledger = Ledger()
    await ask(BudgetedModel(ScriptedModel(["{}"] * 100), Budget(), ledger), *["plan"] * 100)
    assert (ledger.total.calls, ledger.total.price) == (100, None)


async def test_closing_closes_the_model_behind() -> None:
    """Closing reaches the wrapped model."""
    inner = Serving(Completion(""))
    await BudgetedModel(inner, Budget(), Ledger()).close()
    assert inner.closed


async def _waves(waves: Sequence[int], tokens: int, budget: Budget, run: Budget) -> tuple[Ledger, Ledger, int]:
    """Two questions, one after the other, that ask in waves of so many calls at once."""
    account = Account(run)
    ledgers = Ledger(TABLE, account), Ledger(TABLE, account)
    inner = Serving(Completion("{}", tokens, tokens))
    for ledger in ledgers:
        model = BudgetedModel(inner, budget, ledger)
        for wave in waves:
            await asyncio.gather(*(ask(model, "beam") for _ in range(wave)), return_exceptions=True)
    return *ledgers, inner.asked


@given(
    st.lists(st.integers(1, 5), max_size=6),
    st.integers(1, 50),
    st.builds(
        Budget, calls=st.integers(1, 30), tokens=st.integers(1, 500), money=st.integers(1, 500).map(lambda n: n / 1e6)
    ),
    st.builds(Budget, calls=st.integers(1, 30), tokens=st.integers(1, 500)),
)
def test_budgets_are_never_exceeded_by_more_than_the_calls_in_flight(
    waves: list[int], tokens: int, budget: Budget, run: Budget
) -> None:
    """Calls not at all; tokens and money by what was under way at the limit; and no call goes uncounted."""
    first, second, asked = asyncio.run(_waves(waves, tokens, budget, run))
    flight = max(waves, default=0) * 2 * tokens
    for total in (first.total, second.total):
        assert total.calls <= (budget.calls or 0)
        assert total.tokens < (budget.tokens or 0) + flight
        assert (total.price or 0.0) < (budget.money or 0.0) + flight / 1e6
    spent = first.account.total
    assert spent.calls == first.total.calls + second.total.calls == asked <= (run.calls or 0)
    assert spent.tokens == first.total.tokens + second.total.tokens < (run.tokens or 0) + flight
