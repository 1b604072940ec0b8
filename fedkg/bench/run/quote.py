"""What a run will cost, before anything is spent: the estimate of `fedkg ask --dry-run`, for all of its questions."""

import msgspec

from fedkg.bench.data.questions import drawn
from fedkg.bench.run.asking import topics
from fedkg.bench.run.runner import Job
from fedkg.engine.estimate import Cost
from fedkg.session import Session

__all__ = ["quote"]

SAMPLE = 20
"""Questions whose estimates stand for those of the others."""


async def quote(job: Job) -> Cost:
    """Calls, tokens, requests and price of all questions of a run, each as a typical one; nothing is sent.

    Raises InputError for settings that cannot be wired.
    """
    settings = msgspec.structs.replace(job.work.settings, mode="offline", refresh=False)
    sample = drawn(job.questions, SAMPLE, seed=0)
    async with Session(settings=settings) as session:
        costs = [
            (
                await session.estimate(
                    question.question, topics(job.work, question), kind=question.kind, options=question.options
                )
            ).typical
            for question in sample
        ]
    return _times(costs, len(job.questions) / max(1, len(costs)))


def _times(costs: list[Cost], times: float) -> Cost:
    def total(name: str) -> int:
        return round(times * sum(int(getattr(cost, name)) for cost in costs))

    prices = [cost.price for cost in costs]
    price = None if None in prices else times * sum(price or 0.0 for price in prices)
    return Cost(total("calls"), total("tokens_in"), total("tokens_out"), total("requests"), price)
