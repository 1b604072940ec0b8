"""The ledger of a question and the account of a run: nothing is lost, nothing counted twice."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.config.settings import Budget
from fedkg.core.usage import ModelCall
from fedkg.llm.ledger import Account, Ledger, Spend, by_call, exhausted
from fedkg.llm.prices import parse

TABLE = parse('[[price]]\nnames = ["openai:m"]\ndate = 2026-01-01\nin = 1.0\nout = 2.0\ncached = 0.5\n', "test")
counts = st.integers(0, 10**6)
calls = st.builds(
    ModelCall,
    call=st.sampled_from(["plan", "choose"]),
    template=st.sampled_from(["", "1-a", "2-b"]),
    model=st.sampled_from(["openai:m", "openai:m", "openai:m", "openai:other"]),
    tokens_in=counts,
    tokens_out=counts,
    cached=counts,
    reasoning=counts,
    seconds=st.floats(0, 100),
    replayed=st.booleans(),
)


def entered(rows: list[ModelCall], ledger: Ledger) -> Ledger:
    """The ledger after these calls, all of them started before the first is back."""
    lines = [ledger.begin(ModelCall(row.call, row.template, row.model)) for row in rows]
    for line, row in reversed([*zip(lines, rows, strict=True)]):
        ledger.end(line, row)
    return ledger


def figures(spend: Spend) -> tuple[int, ...]:
    """What must add up exactly."""
    replayed = spend.replayed_calls, spend.replayed_tokens
    return spend.calls, spend.tokens_in, spend.tokens_out, spend.cached, spend.reasoning, *replayed


@given(st.lists(calls, max_size=8))
def test_the_total_is_the_sum_of_the_parts(rows: list[ModelCall]) -> None:
    """However calls are spread over names and templates, and in whichever order they come back."""
    ledger = entered(rows, Ledger(TABLE))
    parts = by_call(ledger.calls).values()
    assert [line.call for line in ledger.calls] == [row.call for row in rows]
    for whole in (sum(parts, start=Spend()), sum((Spend.of(line) for line in ledger.calls), start=Spend())):
        assert figures(whole) == figures(ledger.total)
        assert whole.seconds == pytest.approx(ledger.total.seconds)
        assert whole.price == pytest.approx(ledger.total.price)
    assert (
        ledger.total.tokens
        == ledger.total.tokens_in + ledger.total.tokens_out
        == sum(row.tokens_in + row.tokens_out for row in rows)
    )
    kept = [row for row in rows if row.replayed]
    assert ledger.total.replayed_calls == len(kept)
    assert ledger.total.replayed_tokens == sum(row.tokens_in + row.tokens_out for row in kept)
    assert (ledger.total.price is None) == any(row.model == "openai:other" for row in rows)


@given(st.lists(st.lists(calls, max_size=4), max_size=4))
def test_the_account_is_the_sum_of_what_was_really_spent(questions: list[list[ModelCall]]) -> None:
    """Over all questions, without the kept replies: those cost nothing again."""
    account = Account()
    for rows in questions:
        entered(rows, Ledger(TABLE, account))
    spent = [Spend.of(row) for rows in questions for row in rows if not row.replayed]
    assert figures(account.total) == figures(sum(spent, start=Spend()))


def test_a_call_counts_from_its_start() -> None:
    """Before it is back it is a call without tokens, in the ledger and in the account."""
    ledger = Ledger(TABLE)
    ledger.begin(ModelCall("plan", "1", "openai:m"))
    assert ledger.total == ledger.account.total == Spend(calls=1)
    assert [line.call for line in ledger.calls] == ["plan"]


def test_a_line_gets_its_price_from_the_table() -> None:
    """Kept replies are priced as they were at first, which the account does not pay."""
    ledger = Ledger(TABLE)
    row = ModelCall("plan", "1", "openai:m", tokens_in=1_000_000, cached=500_000, tokens_out=100_000, replayed=True)
    entered([row], ledger)
    assert ledger.calls[0].price == ledger.total.price == pytest.approx(0.95)
    assert ledger.account.total == Spend()


def test_by_call_keeps_the_order_of_the_calls() -> None:
    """The plan comes first, whatever its name."""
    lines = [ModelCall("plan", "1"), ModelCall("choose", "1"), ModelCall("plan", "1"), ModelCall("answer", "2")]
    assert list(by_call(lines)) == [("plan", "1"), ("choose", "1"), ("answer", "2")]
    assert by_call(lines)["plan", "1"].calls == 2


@pytest.mark.parametrize(
    ("budget", "total", "spent"),
    [
        (Budget(), Spend(10**6, 10**6, 10**6, price=None), ""),
        (Budget(calls=2), Spend(1), ""),
        (Budget(calls=2), Spend(2), "calls"),
        (Budget(tokens=10), Spend(1, 4, 5), ""),
        (Budget(tokens=10), Spend(1, 4, 6), "tokens"),
        (Budget(money=0.5), Spend(1, price=0.4999), ""),
        (Budget(money=0.5), Spend(1, price=0.5), "money"),
        (Budget(money=0.5), Spend(1, price=None), "money"),
        (Budget(calls=1, tokens=1, money=1), Spend(1, 1, 1, price=1.0), "calls"),
        (Budget(seconds=1), Spend(1, seconds=100.0), ""),
    ],
)
def test_what_is_exhausted(budget: Budget, total: Spend, spent: str) -> None:
    """At its limit a budget is spent; an unknown price spends that of money, seconds are not the calls' own."""
    assert exhausted(budget, total) == spent


def test_the_time_of_a_run_begins_once() -> None:
    """With its first question; before, and without a limit, it has no end."""
    account = Account(Budget(seconds=60))
    assert (account.left, account.spent) == (math.inf, "")
    account.begin()
    first = account.left
    account.begin()
    assert 0 < account.left <= first <= 60
    unlimited = Account(Budget(calls=1))
    unlimited.begin()
    assert unlimited.left == math.inf


@given(
    st.lists(
        st.builds(
            Spend,
            calls=st.integers(0, 3),
            tokens_in=counts,
            tokens_out=counts,
            price=st.sampled_from([0.0, 0.5, 1.5, None]),
        ),
        max_size=5,
    )
)
def test_what_is_left_is_what_another_may_spend(spends: list[Spend]) -> None:
    """Whoever goes on with the rest of a budget ends where one who had it all would: with calls, tokens and money."""
    whole = Account(Budget(calls=5, tokens=2_000_000, money=3.0, seconds=60))
    for spend in spends:
        rest = Account(whole.rest)
        assert rest.spent == whole.spent
        whole.add(spend)
        rest.add(spend)
        assert (rest.spent, rest.budget.seconds) == (whole.spent, 60)
    assert Account(Budget(calls=1)).rest == Budget(calls=1)


def test_what_is_left_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted from the first question on, and never less than none."""
    account = Account(Budget(seconds=60))
    account.begin()
    now = time.monotonic()
    for later, rest in ((20, 40), (61, 0)):
        monkeypatch.setattr(time, "monotonic", lambda later=later: now + later)
        assert account.rest.seconds == pytest.approx(rest, abs=1)


def test_the_time_of_a_run_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock on the wall, whatever the calls took."""
    account = Account(Budget(seconds=60))
    account.begin()
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)
    assert (account.spent, account.left < 0) == ("seconds", True)
