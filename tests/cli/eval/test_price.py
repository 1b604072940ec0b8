"""Whether what a run costs is all right."""

from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run import results
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.record import Header, failed
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.cli.eval import price
from fedkg.config.settings import Settings
from fedkg.engine.estimate import Cost
from fedkg.errors import MethodError, SettingsError

HEADER = Header(benchmark="b", method="m", model="openai:m", settings={}, questions=1, limit=None, seed=0, fedkg="0")
JOB = Job(HEADER, (BenchmarkQuestion("1", "who?"),), AskingTask(Settings(), Definition("t", "q", 1)))


@pytest.fixture
def asked_for() -> list[Job]:
    """The jobs whose cost was asked for."""
    return []


def with_model(name: str) -> Job:
    """The job with that model."""
    return msgspec.structs.replace(JOB, header=msgspec.structs.replace(HEADER, model=name))


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch, asked_for: list[Job]) -> list[Any]:
    """What the jobs cost, one after the other; errors are raised."""
    given: list[Any] = []

    async def quote(job: Job) -> Cost:
        asked_for.append(job)
        cost = given.pop(0)
        if isinstance(cost, Exception):
            raise cost
        return cost  # type: ignore[no-any-return]

    monkeypatch.setattr(price, "quote", quote)
    return given


def test_nobody_is_asked_for_what_is_free(costs: list[Any]) -> None:
    """A local model, a server of one's own, a price of zero, a model that cannot do it; nor after `--yes`."""
    for model in ("local", "openai:m@http://127.0.0.1/v1"):
        price.confirm("b", [(with_model(model), None)], yes=False)
    price.confirm("b", [(JOB, None)], yes=True)
    costs += [Cost(price=0.0), MethodError("no")]
    price.confirm("b", [(JOB, None), (JOB, None)], yes=False)
    assert costs == []


def test_what_is_finished_costs_nothing_more(costs: list[Any], asked_for: list[Job], tmp_path: Path) -> None:
    """The estimate is for the other questions; where there are none, nobody is asked."""
    file = tmp_path / "b.jsonl"
    job = msgspec.structs.replace(JOB, questions=(BenchmarkQuestion("1", "who?"), BenchmarkQuestion("2", "what?")))
    results.save(BenchmarkResult(HEADER, (failed(job.questions[0], KeyError()),)), file)
    costs.append(Cost(price=0.0))
    price.confirm("b", [(job, file)], yes=False)
    assert [cost.questions for cost in asked_for] == [job.questions[1:]]
    results.save(BenchmarkResult(HEADER, tuple(failed(question, KeyError()) for question in job.questions)), file)
    price.confirm("b", [(job, file)], yes=False)
    assert len(asked_for) == 1


def test_vectors_of_a_vendor_cost_money_too(costs: list[Any]) -> None:
    """How much, nobody knows; a model and an embedder of one's own cost nothing."""
    settings = Settings(embedder="openai:text-embedding-3-small")
    job = msgspec.structs.replace(with_model("local"), work=AskingTask(settings, JOB.work.definition))
    with pytest.raises(SettingsError, match="0 tokens, vectors of openai:text-embedding-3-small, a price that is not"):
        price.confirm("b", [(job, None)], yes=False)
    embedded = msgspec.structs.replace(
        with_model("hf:m"), work=AskingTask(Settings(embedder="st:m"), JOB.work.definition)
    )
    price.confirm("b", [(embedded, None)], yes=False)
    assert costs == []


@pytest.mark.parametrize(
    ("prices", "message"), [((1.0, 0.5), r"\$1\.5000"), ((1.0, None), "a price that is not known")]
)
def test_all_jobs_are_asked_for_together(costs: list[Any], prices: tuple[float | None, ...], message: str) -> None:
    """Where nobody can be asked it is an error that says what it would cost."""
    costs += [Cost(calls=2, tokens_in=900, tokens_out=100, price=amount) for amount in prices]
    with pytest.raises(SettingsError, match=rf"b: about 4 calls, 2,000 tokens, {message}: this was not confirmed"):
        price.confirm("b", [(JOB, None), (JOB, None)], yes=False)


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_person_says_yes_or_no(costs: list[Any], monkeypatch: pytest.MonkeyPatch, goes_on: bool) -> None:
    """No ends the command."""
    prompts: list[str] = []

    def confirm(text: str, **_: object) -> None:
        prompts.append(text)
        if not goes_on:
            raise click.Abort

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(click, "confirm", confirm)
    costs.append(Cost(calls=1, price=2.0))
    if goes_on:
        price.confirm("b", [(JOB, None)], yes=False)
    else:
        with pytest.raises(click.Abort):
            price.confirm("b", [(JOB, None)], yes=False)
    assert prompts == ["b: about 1 calls, 0 tokens, $2.0000. Go on?"]
