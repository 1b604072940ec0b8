"""Questions on a real Ray cluster with two workers, on this machine."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("ray", reason="ray is not installed")

from fedkg.bench.run import runner
from fedkg.bench.run.cluster import Cluster, _enough, _share
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.runner import Job
from fedkg.config.settings import Budget, Settings
from fedkg.core.usage import Usage
from fedkg.errors import MethodError, SettingsError
from fedkg.llm.ledger import Account, Spend

MakeJob = Callable[..., Job]
# what Ray leaves open when it ends
pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find the package where this process does, and tell nobody how they are used."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


def timeless(record: QuestionRecord) -> QuestionRecord:
    """The record without what it cost."""
    return msgspec.structs.replace(record, usage=Usage())


@pytest.mark.exhaustive
async def test_the_records_are_those_of_one_process(
    kingdom: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is killed takes at most the questions along that it was asking.

    The others are as in this process.
    """
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # what is killed would leave half of its measurements
    job = kingdom(40)
    killed: list[int] = []

    def kill(records: Sequence[QuestionRecord]) -> None:
        if len(records) == 5 and not killed:
            killed.extend(workers()[:1])
            os.kill(killed[0], signal.SIGKILL)

    records = await runner.run(job, Cluster(2, 2), tmp_path / "out.jsonl", kill)
    here = {record.id: timeless(record) for record in await runner.run(job, InProcess())}
    assert sorted(record.id for record in records) == sorted(here)
    lost = [record for record in records if record.status == "error"]
    assert len(killed) == 1
    assert len(lost) <= 2
    assert all(record.error.startswith("RuntimeError: the worker was lost") for record in lost)
    assert all(timeless(record) == here[record.id] for record in records if record not in lost)


def workers() -> list[int]:
    """The processes that ask, of the cluster that was started here."""
    pids = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes()
        except OSError:
            continue
        if line.startswith(b"ray::RayWorker") and os.getpid() in ancestors(int(place.parent.name)):
            pids.append(int(place.parent.name))
    return pids


def ancestors(process: int) -> Iterator[int]:
    """The processes that a process comes from, as far as they still run."""
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        yield process


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_budget_of_the_run_is_shared(workers: int) -> None:
    """Together the workers spend no more than one process would, and keep the pace of the endpoints."""
    run = Budget(calls=7, tokens=1_000, money=0.3, seconds=60.0)
    share = _share(Settings(clients=2), run, workers)
    assert share.clients == 2 * workers
    assert (share.total_budget.calls, share.total_budget.tokens) == (7 // workers, 1_000 // workers)
    assert share.total_budget.money == pytest.approx(0.3 / workers)
    assert share.total_budget.seconds == 60.0
    assert _share(Settings(), Budget(), workers).total_budget == Budget()


def test_a_rest_that_does_not_go_round_needs_fewer_workers() -> None:
    """Each of them has a call at least; what does not go round from the beginning is said."""
    account = Account(Budget(calls=8))
    assert _enough(account, 4) == 4
    account.add(Spend(calls=6))
    assert _enough(account, 4) == 2
    with pytest.raises(SettingsError, match="too small for 9 workers"):
        _enough(account, 9)


async def test_what_cannot_be_run_is_said_before_a_cluster_starts(kingdom: MakeJob) -> None:
    """A method that the model cannot serve, a budget that does not go round, an address where no cluster is."""
    with pytest.raises(MethodError):
        await runner.run(kingdom(method="io"), Cluster(2))
    with pytest.raises(SettingsError, match="too small for 9 workers"):
        await runner.run(kingdom(**{"run.calls": 8}), Cluster(9))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:port", "127.0.0.1:99999"])
async def test_a_cluster_that_is_not_there(kingdom: MakeJob, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said before Ray tries for minutes."""
    monkeypatch.setattr("ray.init", lambda **_options: pytest.fail("Ray was started"))
    with pytest.raises(SettingsError, match="the Ray cluster cannot be reached"):
        await runner.run(kingdom(2), Cluster(2, address=address))
