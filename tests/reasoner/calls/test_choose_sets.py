"""What a reply to `choose-sets` may name: numbers of offers, and one of the operators."""

from typing import get_args

import pytest

from fedkg.core.choice import PromptCandidate
from fedkg.core.operation import Operator
from fedkg.core.question import Plan
from fedkg.errors import ModelReplyError
from fedkg.reasoner.calls.choose_sets import ChooseSetsCall
from fedkg.reasoner.prompts.library import load

OFFERS = (PromptCandidate(1, "A → r → B"), PromptCandidate(2, "C → r → D"))
CALL = ChooseSetsCall("Which B do both A and C have?", Plan(()), OFFERS, 4)


def test_the_operator_goes_with_the_decision() -> None:
    """Picks in the order of the reply, that they decide, and what the question needs of their ends."""
    decision = CALL.parse({"picks": [2, 1], "operator": "difference", "decides": True}, 2)
    assert (decision.picks, decision.decides, decision.operator) == ((2, 1), True, "difference")


def test_without_an_operator_none_is_known() -> None:
    """A reply without one is no decision about it: what has to be computed is then asked at the end."""
    assert CALL.parse({"picks": [1], "decides": True}, 2).operator is None


@pytest.mark.parametrize("operator", ["sum", "", 1, ["ends"]])
def test_another_operator_refuses_the_reply(operator: object) -> None:
    """What is no operator is sent back."""
    with pytest.raises(ModelReplyError):
        CALL.parse({"picks": [1], "operator": operator, "decides": True}, 2)


def test_the_schema_has_all_operators() -> None:
    """What the prompt offers is what is read."""
    assert load("choose-sets").schema["properties"]["operator"]["enum"] == list(get_args(Operator))
