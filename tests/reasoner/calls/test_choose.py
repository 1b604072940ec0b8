"""Choices: picks, ends, checks, and what decides."""

from typing import Any

import pytest

from fedkg.core.choice import Decision
from fedkg.errors import ModelReplyError
from tests.support.prompted_calls import (
    choose,
    conclude,
)


async def test_choose_keeps_order_and_width() -> None:
    """Picks come back best first, at most `width` where they do not decide; kept paths can be picked by their numbers.

    An entry may be a number alone.
    """
    picks = [{"offer": 3, "ends": [1]}, {"offer": 9, "ends": []}, 1, {"offer": 2, "ends": []}]
    assert await choose({"picks": picks, "decides": False, "more": True}, width=3) == Decision(
        (3, 9, 1), decides=False, more=True
    )
    decided = await choose({"picks": picks, "decides": True, "more": True}, width=3)
    assert decided == Decision((3, 9, 1, 2), decides=True, ends={3: (1,)})


@pytest.mark.parametrize(("ends", "named"), [([], {}), ([2, 2, 7], {4: (2,)}), ([0], {4: (0,)}), ([0, 1], {4: (0, 1)})])
async def test_choose_names_ends(ends: list[int], named: dict[int, tuple[int, ...]]) -> None:
    """Those that answer, all without any, and 0 for some that are not shown."""
    reply = {"picks": [{"offer": 4, "ends": ends}], "decides": True, "more": False}
    assert (await choose(reply)).ends == named


async def test_ends_that_were_not_offered_are_sent_back() -> None:
    """A pick whose named ends all do not exist would else stand for all of them."""
    with pytest.raises(ModelReplyError, match="none of the ends"):
        await choose({"picks": [{"offer": 1, "ends": [5]}], "decides": True, "more": False})


async def test_choose_names_checks_and_what_nothing_shows() -> None:
    """A check needs ends before its last step; what is unproven is one safe line, and counts where the picks decide."""
    pick = {"offer": 1, "ends": [], "check": True}
    with pytest.raises(ModelReplyError, match="two steps or more"):
        await choose({"picks": [pick], "decides": True, "more": False})
    reply = {"picks": [{**pick, "check": "no"}], "decides": True, "more": False, "unproven": "in\n<1990>"}
    assert await choose(reply) == Decision((1,), decides=True, unproven="in ‹1990›")
    assert await choose({**reply, "decides": False}) == Decision((1,), decides=False)


async def test_nothing_picked_decides_nothing() -> None:
    """An answer stands on a path."""
    assert await choose({"picks": [], "decides": True, "more": False}) == Decision(decides=False)


@pytest.mark.parametrize(
    ("bridge", "read"),
    [
        ("a nurse cares\nfor <the> sick", "a nurse cares for ‹the› sick"),
        ("x" * 10_000, "x" * 199 + "…"),
        ("None.", ""),
        (" ", ""),
        (None, ""),
        ({"a": 1}, ""),
    ],
)
async def test_common_knowledge_is_one_harmless_bounded_line(bridge: Any, read: str) -> None:
    """It stands with a verdict or an option of either call, and with nothing that decides nothing."""
    verdict = {"picks": [1], "paths": [1], "verdict": "yes", "bridge": bridge, "more": False}
    option = {"picks": [1], "paths": [1], "option": 2, "bridge": bridge, "more": False}
    assert (await choose(verdict, "claim")).bridge == (await conclude(verdict, "claim")).bridge == read
    assert (await choose(option, "choice")).bridge == (await conclude(option, "choice")).bridge == read
    assert (await choose({**verdict, "verdict": ""}, "claim")).bridge == ""
    assert (await conclude({**option, "option": 0}, "choice")).bridge == ""


@pytest.mark.parametrize("kind", ["yesno", "claim"])
async def test_a_verdict_decides_with_what_it_rests_on(kind: Any) -> None:
    """All of its evidence counts, whatever the width; without any it is not taken, which is said."""
    reply = {"picks": [1, 9, 2], "verdict": "no", "more": False}
    assert await choose(reply, kind, width=1) == Decision((1, 9, 2), decides=True, verdict="no")
    assert await choose({**reply, "verdict": ""}, kind, width=1) == Decision((1,), decides=False)
    unfounded = await choose({**reply, "picks": []}, kind)
    assert unfounded == Decision(decides=False, note=unfounded.note)
    assert "names no path" in unfounded.note


async def test_an_option_decides_with_what_it_rests_on() -> None:
    """By its number; 0 leaves it open, and one that was not given is sent back."""
    assert await choose({"picks": [2], "option": 2, "more": False}, "choice") == Decision((2,), decides=True, option=2)
    assert await choose({"picks": [2], "option": 0, "more": True}, "choice") == Decision((2,), decides=False, more=True)
    with pytest.raises(ModelReplyError):
        await choose({"picks": [2], "option": 3, "more": False}, "choice")
