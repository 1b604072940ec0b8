"""A prompt fits its model, and the offers that rank last make room first."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedkg.common.tokens import estimate
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import ModelContextError, SettingsError
from fedkg.llm.base import Capability
from fedkg.reasoner.prompts.context_fit import REPAIR, check, fitted, room
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.reasoner.prompts.template import PromptTemplate

TEMPLATE = PromptLibrary().get("beam")


def shown(count: int, words: int = 5) -> dict[str, Any]:
    """The values of a beam call with that many offers."""
    offers = [PromptCandidate(number, f"A → relation {number} → {'word ' * words}") for number in range(1, count + 1)]
    return {"question": "Q?", "plan": Plan(("k",)), "path": None, "offers": offers, "width": 2}


def needed(values: dict[str, Any]) -> int:
    """The tokens of the whole prompt."""
    return TEMPLATE.tokens + estimate(TEMPLATE.render(**values)[1])


def test_the_room_is_the_context_without_reply_and_repair() -> None:
    """What the model may write, and one repair, have their room beside the prompt."""
    assert room(Capability(context=8_192, output=2_048)) == 8_192 - 2_048 - REPAIR


@pytest.mark.parametrize("context", [1, 2_048, 2_900])
def test_a_model_that_takes_no_prompt_is_refused(context: int) -> None:
    """It would be asked nothing, call after call.

    From about 3,000 tokens on there is room for a plan and some offers.
    """
    with pytest.raises(SettingsError, match=f"m takes {context:,} tokens, with {context // 2:,} of them"):
        check("m", Capability(context=context, output=context // 2))
    check("m", Capability(context=3_000, output=1_500))
    assert PromptLibrary().get("plan").tokens < room(Capability(context=3_000, output=1_500))


def test_a_prompt_that_fits_is_whole() -> None:
    """Where all offers fit exactly, all are shown and nothing is said of others."""
    values = shown(12)
    fits = fitted(TEMPLATE, values, needed(values))
    assert (fits.system, fits.user) == TEMPLATE.render(**values)
    assert fits.shown == values["offers"]
    assert fits.left_out == 0


@given(st.integers(1, 60), st.integers(0, 40), st.integers(0, 3_000))
def test_the_smallest_number_of_the_last_offers_is_left_out(count: int, words: int, tokens: int) -> None:
    """What is shown fits, one more would not, and the prompt says how many are missing."""
    values = shown(count, words)
    try:
        fits = fitted(TEMPLATE, values, tokens)
    except ModelContextError:
        assert needed({**values, "offers": values["offers"][:1], "left_out": count - 1}) > tokens
        return
    most = len(fits.shown)
    assert fits.shown == values["offers"][:most]
    assert fits.left_out == count - most
    assert TEMPLATE.tokens + estimate(fits.user) <= tokens
    assert fits.user.count(" → relation ") == most
    assert (f"\n{count - most} more, ranked lower, are not shown.\n" in fits.user) == (most < count)
    if most < count:
        more = {"offers": values["offers"][: most + 1], "left_out": count - most - 1}
        assert needed({**values, **more}) > tokens


def test_a_large_prompt_is_not_made_many_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once whole and with one offer, then with about as many as there is room for.

    What is short is not even estimated.
    """
    made: list[int] = []
    render, values = PromptTemplate.render, shown(400)
    whole = needed(values)

    def counting(self: PromptTemplate, **given: Any) -> tuple[str, str]:
        made.append(len(given["offers"]))
        return render(self, **given)

    monkeypatch.setattr(PromptTemplate, "render", counting)
    for share in (0.9, 0.5, 0.3):
        made.clear()
        assert 1 < len(fitted(TEMPLATE, values, int(share * whole)).shown) < 400
        assert made[:2] == [400, 1]
        assert len(made) <= 6
    made.clear()
    monkeypatch.setattr("fedkg.reasoner.prompts.context_fit.estimate", None)
    assert fitted(TEMPLATE, values, 1_000_000).left_out == 0
    assert made == [400]


def test_no_room_for_one_offer_is_an_error() -> None:
    """The error names the call and the tokens that there are."""
    with pytest.raises(ModelContextError, match="`beam` is longer than 100 tokens") as caught:
        fitted(TEMPLATE, shown(3), 100)
    assert caught.value.asked == "beam"


def test_a_call_without_a_list_fits_or_does_not() -> None:
    """Nothing can be left out of a question."""
    plan = PromptLibrary().get("plan")
    values = {"question": "Q? " * 300, "kind": None, "options": ()}
    assert fitted(plan, values, 10_000).shown == ()
    with pytest.raises(ModelContextError, match="`plan`"):
        fitted(plan, values, plan.tokens)
