"""The ledger counts every call; the budget stops the next one."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.errors import BudgetError, ModelUnreachableError
from fedkg.llm.base import Capability, Completion, Message, Request, ScriptedModel
from fedkg.llm.budget import BudgetedModel, Ledger, Spend
from fedkg.settings import Budget

ASK = (Message("user", "abcdefgh"),)
counts = st.integers(0, 10**9)
spends = st.builds(Spend, counts, counts, counts, counts, st.integers(0, 10**6).map(float))


class Failing:
    """A model that cannot be reached."""

    name = "failing"
    capability = Capability()

    async def complete(self, request: Request) -> Completion:
        raise ModelUnreachableError("no")

    async def close(self) -> None:
        """Nothing to free."""


class Gate(Failing):
    """A model whose replies wait until the gate opens."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def complete(self, request: Request) -> Completion:
        await self.opened.wait()
        return Completion("{}", 1, 1)


async def ask(model: BudgetedModel, *calls: str) -> None:
    """Calls the model once for each name."""
    for call in calls:
        await model.complete(Request(call, ASK, {}))


async def test_calls_are_counted_by_name_and_version() -> None:
    """Each call is entered under its name and template version, "" where no version was told; replies pass through."""
    ledger = Ledger()
    model = BudgetedModel(ScriptedModel(["1234", "12345678", "{}"]), Budget(), ledger)
    assert model.name == "scripted"
    assert (await model.complete(Request("plan", ASK, {}, "1-abc"))).text == "1234"
    await ask(model, "choose", "choose")
    by_call = ledger.by_call()
    assert list(by_call) == [("choose", ""), ("plan", "1-abc")]
    assert by_call["choose", ""].calls == 2
    assert (by_call["plan", "1-abc"].tokens_in, by_call["plan", "1-abc"].tokens_out) == (2, 1)
    assert ledger.total.calls == 3
    assert ledger.total.seconds > 0


async def test_a_snapshot_stays_as_it_was() -> None:
    """Later calls do not change a snapshot that was taken before."""
    ledger = Ledger()
    model = BudgetedModel(ScriptedModel(["{}", "{}"]), Budget(), ledger)
    await ask(model, "plan")
    before = ledger.by_call()
    await ask(model, "plan")
    assert before["plan", ""].calls == 1
    assert ledger.by_call()["plan", ""].calls == 2


async def test_the_budget_of_calls_refuses_the_next_call() -> None:
    """With two calls allowed the third raises BudgetError before the model is asked."""
    inner, ledger = ScriptedModel(["{}"] * 3), Ledger()
    model = BudgetedModel(inner, Budget(calls=2), ledger)
    await ask(model, "plan", "choose")
    with pytest.raises(BudgetError, match="budget of 2 model calls") as caught:
        await ask(model, "answer")
    assert caught.value.asked == "scripted: answer"
    assert caught.value.budget == "calls"
    assert len(inner.asked) == 2
    assert ledger.spent(Budget(calls=2)) == "calls"


async def test_the_budget_of_tokens_refuses_once_it_is_reached() -> None:
    """Tokens in and out count together; the call that crosses the limit is paid for, the next one is refused."""
    model = BudgetedModel(ScriptedModel(["1234"] * 3), Budget(tokens=5), Ledger())
    await ask(model, "plan", "plan")
    with pytest.raises(BudgetError, match="budget of 5 model tokens") as caught:
        await ask(model, "plan")
    assert caught.value.budget == "tokens"


async def test_a_failed_call_is_a_call() -> None:
    """A call that raises is counted, with its seconds and without tokens."""
    ledger = Ledger()
    with pytest.raises(ModelUnreachableError):
        await ask(BudgetedModel(Failing(), Budget(), ledger), "plan")
    assert ledger.total.calls == 1
    assert ledger.total.tokens == 0


async def test_calls_side_by_side_see_each_other() -> None:
    """Of three calls started at once with a budget of two, one is refused although none has come back."""
    gate = Gate()
    model = BudgetedModel(gate, Budget(calls=2), Ledger())
    started = [asyncio.ensure_future(ask(model, "beam")) for _ in range(3)]
    done, waiting = await asyncio.wait(started, return_when=asyncio.FIRST_COMPLETED)
    assert [type(task.exception()) for task in done] == [BudgetError]
    assert len(waiting) == 2
    gate.opened.set()
    await asyncio.gather(*waiting)


async def test_no_limit_never_refuses() -> None:
    """The default budget limits neither calls nor tokens."""
    ledger = Ledger()
    await ask(BudgetedModel(ScriptedModel(["{}"] * 100), Budget(), ledger), *["plan"] * 100)
    assert ledger.spent(Budget()) == ""


async def test_closing_closes_the_model_behind() -> None:
    """Closing reaches the wrapped model."""
    closed = []

    class Closing(Failing):
        async def close(self) -> None:
            closed.append(True)

    await BudgetedModel(Closing(), Budget(), Ledger()).close()
    assert closed == [True]


@given(st.lists(st.tuples(st.sampled_from(["plan", "choose"]), st.sampled_from(["1", "2"]), spends)))
def test_the_total_is_the_sum_of_the_parts(rows: list[tuple[str, str, Spend]]) -> None:
    """However calls are spread over names and versions, nothing is lost and nothing counted twice."""
    ledger = Ledger()
    for call, version, spend in rows:
        ledger.add(call, version, spend)
    total = sum((spend for _, _, spend in rows), start=Spend())
    assert ledger.total == total
    assert total.tokens == total.tokens_in + total.tokens_out
    assert sum(spend.calls for spend in ledger.by_call().values()) == total.calls
