"""A benchmark from its files to its records."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest

from fedkg.bench.data import definitions
from fedkg.bench.run import results, runner
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import score
from fedkg.bench.scoring.summary import summary
from fedkg.config.settings import Settings, load
from fedkg.core.usage import Usage
from fedkg.errors import DatasetError, MethodError

MakeJob = Callable[..., Job]


def settings_for(tmp_path: Path, **flags: object) -> Settings:
    """Settings that need no weights."""
    return load(flags={"embedder": "bm25", "cache_dir": str(tmp_path), **flags})


def timeless(records: tuple[QuestionRecord, ...]) -> dict[str, QuestionRecord]:
    """By their questions the records without what they cost."""
    return {record.id: msgspec.structs.replace(record, usage=Usage()) for record in records}


async def test_a_run_scores_every_question(data: Path, tmp_path: Path) -> None:
    """Scores, path validity and cost of a few real questions, without any model call.

    No folder of this machine in the file.
    """
    job = runner.prepared(settings_for(tmp_path), definitions.find("metaqa-1hop"), data, limit=8)
    seen: list[int] = []
    out = tmp_path / "out.jsonl"
    records = await runner.run(job, InProcess(), out, lambda records: seen.append(len(records)))
    figures = summary(BenchmarkResult(job.header, records))
    measures = figures.overall.measures
    assert (figures.counts.questions, figures.counts.error, measures["calls"].mean) == (8, 0, 0.0)
    assert measures["path_validity"].mean == 1.0
    assert seen == list(range(1, 9))
    assert results.read(out) == BenchmarkResult(job.header, records)
    assert str(data) not in out.read_text()
    assert str(tmp_path) not in out.read_text()


@pytest.mark.parametrize("method", ["io", "guessing"])
async def test_a_method_that_cannot_be_served_ends_the_run(kingdom: MakeJob, tmp_path: Path, method: str) -> None:
    """Before the first question: as many errors as questions would look like a result."""
    asked: list[object] = []
    with pytest.raises(MethodError):
        await runner.run(kingdom(method=method), InProcess(), tmp_path / "out.jsonl", asked.append)
    assert asked == []


async def test_a_run_is_repeated_without_its_endpoint(
    data: Path, tmp_path: Path, oxigraph: Callable[..., AbstractContextManager[str]]
) -> None:
    """Offline, from what was kept: the same scores, and no edge that anybody has confirmed."""
    runs = []
    definition = definitions.find("pathquestion-2h")

    async def run(url: str, mode: str) -> tuple[QuestionRecord, ...]:
        settings = settings_for(tmp_path, endpoints=[f"freebase@{url}"], mode=mode)
        return await runner.run(runner.prepared(settings, definition, data, limit=5), InProcess())

    with oxigraph([data / "freebase-pathquestion.nt.gz"]) as url:
        runs = [await run(url, mode) for mode in ("live", "cached")]
    live, cached, offline = *runs, await run(url, "offline")
    assert [record.error for record in live] == [""] * 5
    assert {record.valid for record in offline} == {None}
    assert [score(record).f1 for record in offline] == [score(record).f1 for record in live]
    assert [[answer.key for answer in record.answers] for record in offline] == [
        [answer.key for answer in record.answers] for record in live
    ]
    assert [record.usage.cache_hits for record in offline] == [record.usage.cache_hits for record in cached]


async def test_a_question_that_fails_is_a_record_that_counts_as_wrong(kingdom: MakeJob) -> None:
    """An error is no end of the run."""
    bad = {"id": "bad", "question": "who?", "topics": ["http://ex.org/nobody"], "answers": ["x"]}
    last = {"id": "last", "question": "what capital?", "topics": ["http://ex.org/ruritania"], "answers": ["Strelsau"]}
    job = kingdom(1, (bad, last))
    records = await runner.run(job, InProcess())
    assert [record.status for record in records] == ["answered", "error", "answered"]
    assert (score(records[1]).hit, summary(BenchmarkResult(job.header, records)).counts.error) == (0.0, 1)


async def test_an_interrupted_run_is_taken_up(kingdom: MakeJob, tmp_path: Path) -> None:
    """What an earlier start has finished is not asked again, and comes first."""
    out = tmp_path / "out.jsonl"
    job = kingdom(4)

    def stop(records: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await runner.run(job, InProcess(), out, stop)
    (first,) = results.read(out).records
    seen: list[int] = []
    records = await runner.run(job, InProcess(2), out, lambda all_: seen.append(len(all_)))
    assert (records[0], seen) == (first, [2, 3, 4])
    assert timeless(records) == timeless(await runner.run(job, InProcess()))
    assert results.read(out).records == records


async def test_a_record_of_no_question_does_not_count(
    kingdom: MakeJob, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As of a file that was edited: it stays there, and the run's own questions are asked."""
    out = tmp_path / "out.jsonl"
    job = kingdom(2)
    [first, second] = await runner.run(job, InProcess())
    results.save(results.BenchmarkResult(job.header, (first, msgspec.structs.replace(second, id="strange"))), out)
    records = await runner.run(job, InProcess(), out)
    assert [record.id for record in records] == [first.id, second.id]
    assert "records of no question of the run do not count: 1, as 'strange'" in caplog.text


def test_missing_files_are_said_before_anything_runs(tmp_path: Path) -> None:
    """Neither questions nor graph: --data is wrong."""
    with pytest.raises(DatasetError, match="there is no such file"):
        runner.prepared(settings_for(tmp_path), definitions.find("pathquestion-2h"), tmp_path)


def test_a_benchmark_without_a_graph_needs_an_endpoint(tmp_path: Path) -> None:
    """A file of one's own has none; the hint names what is missing."""
    questions = tmp_path / "own.jsonl"
    questions.write_text(json.dumps({"question": "who?", "answers": ["x"]}))
    with pytest.raises(DatasetError, match="custom-own has no graph") as caught:
        runner.prepared(settings_for(tmp_path), definitions.find(f"custom:{questions}"), None)
    assert "-e" in caught.value.hint


@pytest.mark.parametrize(("option", "kept"), [(None, True), (True, True), (False, False)])
def test_replies_are_kept_unless_told_otherwise(kingdom: MakeJob, option: bool | None, kept: bool) -> None:
    """A benchmark that is run again pays for no reply twice."""
    assert kingdom(replies=option).work.settings.keeps_replies is kept


def test_a_sample_is_the_same_for_a_seed(data: Path, tmp_path: Path) -> None:
    """Which questions are drawn depends on the seed alone, and the header says how many of them there are."""
    definition = definitions.find("metaqa-1hop")

    def ids(seed: int) -> list[str]:
        job = runner.prepared(settings_for(tmp_path), definition, data, limit=5, seed=seed)
        assert (job.header.questions, job.header.limit, job.header.seed) == (5, 5, seed)
        return [question.id for question in job.questions]

    assert ids(3) == ids(3) != ids(4)


async def test_a_shared_cache_serves_another_machine(kingdom: MakeJob, tmp_path: Path, redis_url: str) -> None:
    """Two processes with caches of their own and one server: what the first has fetched the second does not ask for."""
    job = kingdom(4, cache_url=redis_url)
    first = await runner.run(job, InProcess(2))
    second = run_elsewhere(tmp_path, "--concurrency", "2", url=redis_url)
    assert sum(record.usage.requests for record in first) > 0
    assert sum(record.usage.requests for record in second) == 0
    assert timeless(first) == timeless(second)


async def test_a_run_that_is_killed_is_taken_up(
    kingdom: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, every_case: bool
) -> None:
    """`kill -9` after some of the questions, twice with `--all`: the result is that of a run that was left alone."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # what is killed would leave half of its measurements
    job = kingdom(40, cache=False)
    alone = await runner.run(job, InProcess(), tmp_path / "alone.jsonl")
    file, whole = tmp_path / "out" / "custom-questions.jsonl", (tmp_path / "alone.jsonl").stat().st_size
    for wanted in (whole // 8, whole // 2)[: 2 if every_case else 1]:
        with start(tmp_path) as running:
            while running.poll() is None and (not file.exists() or file.stat().st_size < wanted):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    running.wait(0.002)
            running.send_signal(signal.SIGKILL)
        assert running.returncode == -signal.SIGKILL
        assert 0 < len(results.read(file).records) < len(alone)
    assert timeless(await runner.run(job, InProcess(), file)) == timeless(alone)
    assert timeless(results.read(file).records) == timeless(alone)
    assert file.read_bytes().count(b"\n") == 1 + len(alone)


def start(tmp_path: Path, *more: str, url: str = "") -> "subprocess.Popen[bytes]":
    """The command as a process, over the kingdom's questions, with a cache of its own."""
    command = [sys.executable, "-m", "fedkg", "eval", "run", f"custom:{tmp_path / 'questions.jsonl'}"]
    options = ["-e", str(tmp_path / "kingdom.ttl"), "--embedder", "bm25", "--out", str(tmp_path / "out"), *more]
    variables = {"FEDKG_CACHE_DIR": str(tmp_path / "cache-out"), "FEDKG_CACHE_URL": url}
    options += [] if url else ["--no-cache"]
    return subprocess.Popen([*command, *options], env=os.environ | variables, stdout=subprocess.DEVNULL)


def run_elsewhere(tmp_path: Path, *more: str, url: str = "") -> tuple[QuestionRecord, ...]:
    """The records of that process, which ends well."""
    with start(tmp_path, *more, url=url) as running:
        assert running.wait(60) == 0
    return results.read(tmp_path / "out" / "custom-questions.jsonl").records
