"""What a run will cost, before it is run."""

from collections.abc import Callable

import pytest

from fedkg.bench.run.quote import SAMPLE, quote
from fedkg.bench.run.runner import Job
from fedkg.errors import ModelNameError

MakeJob = Callable[..., Job]


async def test_a_local_run_costs_nothing(kingdom: MakeJob) -> None:
    """Neither calls nor money; requests it does."""
    cost = await quote(kingdom(4))
    assert (cost.calls, cost.tokens_in, cost.price) == (0, 0, 0)
    assert cost.requests > 0


async def test_the_sample_stands_for_all(kingdom: MakeJob) -> None:
    """Twice as many questions cost about twice as much, and no more than a sample of them is estimated.

    No key is needed.
    """
    once = await quote(kingdom(SAMPLE, model="anthropic:claude-opus-4-5"))
    twice = await quote(kingdom(2 * SAMPLE, model="anthropic:claude-opus-4-5"))
    assert once.calls >= SAMPLE
    assert once.price
    assert twice.price == pytest.approx(2 * once.price, rel=0.02)
    assert (twice.calls, twice.requests) == (2 * once.calls, 2 * once.requests)


async def test_a_model_without_a_known_price(kingdom: MakeJob) -> None:
    """Calls and tokens are said, money is not."""
    cost = await quote(kingdom(1, model="openai:nobody-knows@http://127.0.0.1:1/v1"))
    assert cost.calls > 0
    assert cost.price is None


async def test_a_model_that_is_none(kingdom: MakeJob) -> None:
    """It is said before anything is run."""
    with pytest.raises(ModelNameError):
        await quote(kingdom(1, model="nonsense:m"))
