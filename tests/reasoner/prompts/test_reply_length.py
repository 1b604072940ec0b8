"""How long the longest sensible reply of a call is: enough for every reply that fits, and far from endless."""

import json
from typing import Any

import pytest

from fedkg.common.tokens import estimate
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.prompts.library import load, names
from fedkg.reasoner.prompts.reply_length import longest
from fedkg.reasoner.prompts.template import PromptTemplate

PLAN = Plan(("spouse",))
ASKED = "Who is the spouse of the director of King Kong?"


def offers(count: int, ends: int) -> tuple[PromptCandidate, ...]:
    """So many paths with so many ends each."""
    return tuple(PromptCandidate(number, "A → r → B", (), ("B",) * ends) for number in range(1, count + 1))


def bound(call: Any, shown: int = 0) -> int:
    """Tokens that the call's reply may have."""
    template: PromptTemplate = load(call.name)
    return longest(template.schema, call.lengths(shown))


@pytest.mark.parametrize(("count", "ends"), [(1, 1), (10, 3), (30, 5)])
def test_every_offer_with_all_its_ends_fits(count: int, ends: int) -> None:
    """The longest choice that could be meant is not cut, however it is indented."""
    picks = [{"offer": n, "ends": list(range(1, ends + 1)), "check": False} for n in range(1, count + 1)]
    reply = {"picks": picks, "decides": True, "more": False, "unproven": ASKED}
    call = ChooseCall(ASKED, PLAN, offers(count, ends), 4)
    assert estimate(json.dumps(reply, indent=1)) <= bound(call, count) < 5 * estimate(json.dumps(reply)) + 250


def test_a_long_question_may_have_a_long_plan() -> None:
    """What is copied from a question is as long as it is."""
    assert bound(PlanCall(ASKED * 10)) > 2 * bound(PlanCall(ASKED)) - 250


@pytest.mark.parametrize("name", names())
def test_the_bundled_examples_fit(name: str) -> None:
    """No reply that a template shows would be cut, though its call says nothing of its length."""
    template = load(name)
    assert all(estimate(example.reply) <= longest(template.schema, {}) for example in template.examples)


def test_an_unknown_schema_has_a_bound_of_its_own() -> None:
    """Lists and texts of which a call says nothing are bounded, too; a schema without parts needs hardly anything."""
    schema = {"type": "object", "properties": {"notes": {"type": "array", "items": {"type": "integer"}}}}
    assert longest({}, {}) < longest(schema, {"notes": 5}) < longest(schema, {}) < 1_000
