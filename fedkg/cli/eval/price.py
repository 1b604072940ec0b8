"""Whether what is left of a run to ask costs is all right: asked before the first question, where money is involved."""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
import msgspec

from fedkg.bench.run.quote import quote
from fedkg.bench.run.results import earlier
from fedkg.bench.run.runner import Job
from fedkg.cli.show import dollars, plain
from fedkg.engine.estimate import Cost
from fedkg.errors import MethodError, SettingsError

__all__ = ["confirm"]

OWN = ("hf:", "st:")
"""What models and embedders from a folder begin with."""
UNKNOWN = "a price that is not known"


def confirm(name: str, jobs: Iterable[tuple[Job, Path | None]], *, yes: bool) -> None:
    """Asks once for all jobs, where they have a price; each with its file, whose finished questions cost nothing more.

    Raises DatasetError where a file holds another run, and SettingsError where there is no terminal to ask at.
    """
    left = [job for job in (_left(*started) for started in jobs) if job.questions]
    costs = [] if yes else [cost for job in left if _is_sold(job.header.model) for cost in _quoted(job)]
    vectors = set() if yes else {job.work.settings.embedder for job in left if _is_sold(job.work.settings.embedder)}
    if not vectors and all(cost.price == 0 for cost in costs):
        return
    amount = ", ".join(
        [f"{name}: about {_amount(costs)}", *(f"vectors of {plain(model)}" for model in sorted(vectors))]
    )
    price = UNKNOWN if vectors else _price(costs)
    if not sys.stdin.isatty():
        raise SettingsError(f"{amount}, {price}: this was not confirmed", hint="say it with --yes")
    click.confirm(f"{amount}, {price}. Go on?", abort=True, err=True)


def _left(job: Job, file: Path | None) -> Job:
    """The job without what an earlier start has finished."""
    done = {record.id for record in earlier(file, job.header, retry_errors=job.retry_errors)} if file else set()
    return msgspec.structs.replace(
        job, questions=tuple(question for question in job.questions if question.id not in done)
    )


def _is_sold(model: str) -> bool:
    """Whether a vendor is paid for the model; one in a folder or on a server of one's own has no price."""
    return ":" in model and "@" not in model and not model.startswith(OWN)


def _quoted(job: Job) -> list[Cost]:
    """What a job costs; nothing where its model cannot do it."""
    try:
        return [asyncio.run(quote(job))]
    except MethodError:
        return []


def _amount(costs: Sequence[Cost]) -> str:
    tokens = sum(cost.tokens_in + cost.tokens_out for cost in costs)
    return f"{sum(cost.calls for cost in costs):,} calls, {tokens:,} tokens"


def _price(costs: Sequence[Cost]) -> str:
    known = [cost.price for cost in costs if cost.price is not None]
    return dollars(sum(known)) if len(known) == len(costs) else UNKNOWN
