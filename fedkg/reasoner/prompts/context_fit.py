"""Fits a prompt into what a model takes: the offers that rank last are left out first, and the prompt says how many."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fedkg.common.tokens import PER_CHARACTER, estimate
from fedkg.errors import ModelContextError, SettingsError
from fedkg.llm.base import Capability
from fedkg.reasoner.prompts.template import PromptTemplate

__all__ = ["LISTS", "REPAIR", "Fitted", "check", "fitted", "room"]

LISTS = ("offers", "paths", "relations", "mentions")
"""The values of a template of which the last can be left out: they are ordered best first."""
REPAIR = 800
"""Tokens that are held back for sending a reply back once."""
LEAST = 700
"""Tokens that a prompt needs: what never changes of `plan` with a question, or of `choose` with a few offers."""


HINT = "give the model a context of 4,096 tokens or more, and say so in the setting context or in capabilities.toml"


class Fitted(NamedTuple):
    """A prompt that fits: both texts, what was `shown` of its list of offers, and how many were `left_out`."""

    system: str
    user: str
    shown: Sequence[Any] = ()
    left_out: int = 0


def room(can: Capability) -> int:
    """Tokens that a prompt may have: what the model takes, without its reply and one repair."""
    return can.context - can.output - REPAIR


def check(name: str, can: Capability) -> None:
    """Raises SettingsError for a model that takes too little for any prompt: it would be asked nothing at all."""
    if room(can) < LEAST:
        takes = f"{name} takes {can.context:,} tokens, with {can.output:,} of them for its reply"
        raise SettingsError(f"{takes}: no prompt fits", hint=HINT)


def fitted(template: PromptTemplate, values: Mapping[str, Any], tokens: int) -> Fitted:
    """The prompt with as many of its offers, the first ones, as there are tokens for, by the estimate.

    Raises ModelContextError where there is no room for a single one, or the call has no list.
    """
    name = next((name for name in LISTS if name in values), "")
    offered: Sequence[Any] = values.get(name, ())

    def prompt(count: int) -> Fitted:
        left = len(offered) - count
        shown = {name: offered[:count], "left_out": left} if name else {}
        return Fitted(*template.render(**{**values, **shown}), offered[:count], left)

    def cost(prompt: Fitted) -> int:
        return template.tokens + estimate(prompt.user)

    whole = prompt(len(offered))
    if template.tokens + math.ceil(PER_CHARACTER * len(whole.user)) <= tokens or cost(whole) <= tokens:
        return whole
    if len(offered) < 2 or cost(shortest := prompt(1)) > tokens:
        raise ModelContextError(f"the prompt of `{template.call}` is longer than {tokens} tokens", asked=template.call)
    return _fullest(shortest, whole, prompt, cost, tokens)


def _fullest(
    fits: Fitted, beyond: Fitted, prompt: Callable[[int], Fitted], cost: Callable[[Fitted], int], tokens: int
) -> Fitted:
    """The prompt with most offers that fits, between one that does and one that does not."""
    least, most = cost(fits), cost(beyond)
    while (gap := len(beyond.shown) - len(fits.shown)) > 1:
        # offers are about equally long: most of the time the number lies where the tokens lie, or beside that
        near = min(max(gap * (tokens - least) // (most - least), 1), gap - 1)
        tried = prompt(len(fits.shown) + near)
        if (needed := cost(tried)) <= tokens:
            fits, least = tried, needed
        else:
            beyond, most = tried, needed
    return fits
