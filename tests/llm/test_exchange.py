"""What an observer is handed of a model's calls: the attempts, and what the call came to."""

import json

import pytest

from fedkg.config.settings import Budget
from fedkg.core.question import Plan
from fedkg.errors import BudgetError, ModelReplyError
from fedkg.llm.exchange import Exchange
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import ScriptedModel

PLANNED = json.dumps(
    {
        "keywords": ["author"],
        "planning_steps": [],
        "declarative_statement": "*placeholder* wrote Momo",
        "kind": "entities",
        "mentions": ["Momo"],
        "options": [],
    }
)


def watched(replies: list[str], budget: Budget | None = None) -> tuple[PromptedModel, list[Exchange]]:
    """A model with these replies, and the calls that it ends."""
    exchanges: list[Exchange] = []
    return PromptedModel(ScriptedModel(replies), budget=budget, observer=exchanges.append), exchanges


async def test_a_call_with_its_result() -> None:
    """One request, one reply, and what was read from it."""
    model, exchanges = watched([PLANNED])
    plan = await model.ask(PlanCall("Who wrote Momo?"))
    [exchange] = exchanges
    [attempt] = exchange.attempts
    assert (exchange.call, exchange.result, exchange.error) == ("plan", plan, None)
    assert isinstance(plan, Plan)
    assert "Who wrote Momo?" in attempt.request.messages[1].content
    assert (attempt.reply and attempt.reply.text, attempt.error) == (PLANNED, None)
    assert attempt.seconds >= 0


async def test_a_repair_is_an_attempt_of_its_own() -> None:
    """Both replies are there, the first with what made it unusable."""
    model, exchanges = watched(["no idea", PLANNED])
    plan = await model.ask(PlanCall("Who wrote Momo?"))
    [exchange] = exchanges
    first, second = exchange.attempts
    assert isinstance(first.error, ModelReplyError)
    assert (second.error, exchange.result) == (None, plan)
    assert len(second.request.messages) == len(first.request.messages) + 2


async def test_a_call_that_fails() -> None:
    """Two unusable replies: the call ends with the error that the caller gets."""
    model, exchanges = watched(["no idea", "none"])
    with pytest.raises(ModelReplyError) as caught:
        await model.ask(PlanCall("Who wrote Momo?"))
    assert exchanges[0].error is caught.value
    assert [call.error for call in model.ledger.calls] == ["ModelReplyError", "ModelReplyError"]


async def test_a_spent_budget_sends_nothing() -> None:
    """No attempt, and the error that says which budget it was."""
    model, exchanges = watched(["no idea", PLANNED], Budget(calls=1))
    with pytest.raises(BudgetError):
        await model.ask(PlanCall("Who wrote Momo?"))
    [exchange] = exchanges
    assert len(exchange.attempts) == 1
    assert isinstance(exchange.error, BudgetError)
