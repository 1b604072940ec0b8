"""A benchmark from its files to its numbers."""

import gzip
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fedkg.bench import datasets
from fedkg.bench.runner import Record, _settings, as_json, run
from fedkg.errors import DatasetError, MethodError
from fedkg.llm.base import ScriptedModel
from fedkg.prompts import Wordings
from fedkg.settings import Settings, load


def settings_for(tmp_path: Path, **flags: object) -> Settings:
    """Settings that need no weights."""
    return load(flags={"embedder": "bm25", "cache_dir": str(tmp_path), **flags})


async def test_a_run_scores_every_question(data: Path, tmp_path: Path) -> None:
    """Scores, path validity and cost of a few real questions, without any model call."""
    seen: list[int] = []
    result = await run(
        settings_for(tmp_path), "metaqa-1hop", data, limit=8, on_progress=lambda done, _total: seen.append(len(done))
    )
    summary = result.summary
    assert (summary.questions, summary.errors, summary.model_calls, summary.path_validity) == (8, 0, 0.0, 1.0)
    assert seen == list(range(1, 9))
    assert summary.hit >= summary.hits_at_1
    document = json.loads(as_json(result))
    assert document["summary"]["benchmark"] == "metaqa-1hop"
    assert len(document["records"]) == 8
    assert str(data) not in json.dumps(document), "a result names no folder of this machine"


@pytest.mark.parametrize("method", ["io", "guessing"])
async def test_a_method_that_cannot_be_served_ends_the_run(data: Path, tmp_path: Path, method: str) -> None:
    """Before the first question: as many errors as questions would look like a result."""
    with pytest.raises(MethodError):
        await run(settings_for(tmp_path, method=method), "metaqa-1hop", data, limit=2)


async def test_a_run_is_repeated_without_its_endpoint(
    data: Path, tmp_path: Path, oxigraph: Callable[..., AbstractContextManager[str]]
) -> None:
    """Offline, from what was kept: the same scores, and no edge that anybody has confirmed."""
    runs = []
    with oxigraph([data / "freebase-pathquestion.nt.gz"]) as url:
        for mode in ("live", "cached"):
            settings = settings_for(tmp_path, endpoints=[f"freebase@{url}"], mode=mode)
            runs.append(await run(settings, "pathquestion-2h", data, limit=5))
    settings = settings_for(tmp_path, endpoints=[f"freebase@{url}"], mode="offline")
    offline = await run(settings, "pathquestion-2h", data, limit=5)
    live, cached = runs
    assert (live.summary.errors, live.summary.path_validity, offline.summary.path_validity) == (0, 1.0, None)
    assert [(one.answers, one.score) for one in offline.records] == [(one.answers, one.score) for one in live.records]
    assert [one.usage.cache_hits for one in offline.records] == [one.usage.cache_hits for one in cached.records]


async def test_a_question_that_fails_is_a_record_that_counts_as_wrong(data: Path, tmp_path: Path) -> None:
    """An error is no end of the run."""
    bad = tmp_path / "data"
    bad.mkdir()
    (bad / "metaqa.nt.gz").write_bytes((data / "metaqa.nt.gz").read_bytes())
    row = {"id": "1", "question": "", "topic_entities": [{"iri": "http://x/a"}], "answers": [{"label": "b"}]}
    (bad / "metaqa-1hop-test.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    result = await run(settings_for(tmp_path), "metaqa-1hop", bad)
    record: Record = result.records[0]
    assert (record.status, record.score.hit, result.summary.errors) == ("error", 0.0, 1)
    assert record.error.startswith("QuestionError")


async def test_a_record_says_with_which_words_the_model_was_asked(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version and digest of each call's wording, and what was said of replies that could not be used."""
    monkeypatch.setattr("fedkg.session.chat_model", lambda *_: ScriptedModel(["?"] * 40))
    result = await run(settings_for(tmp_path, model="openai:m"), "metaqa-1hop", data, limit=1)
    record = result.records[0]
    assert record.templates["plan"] == Wordings().get("plan").version
    assert "two unusable replies to `plan`" in record.warnings[0]
    assert json.loads(as_json(result))["records"][0]["templates"] == record.templates


async def test_a_method_without_a_graph_needs_no_graph_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions are enough; with a method that asks one, the missing graph is said."""
    row = {"id": "1", "question": "Where?", "topic_entities": [{"iri": "http://x/a"}], "answers": [{"label": "Bonn"}]}
    (tmp_path / "metaqa-1hop-test.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    monkeypatch.setattr("fedkg.session.chat_model", lambda *_: ScriptedModel(['{"answers": ["Bonn"]}']))
    asked = settings_for(tmp_path, model="openai:m", method="io")
    result = await run(asked, "metaqa-1hop", tmp_path)
    assert (result.summary.errors, result.summary.requests, result.records[0].answers) == (0, 0.0, ("Bonn",))
    with pytest.raises(DatasetError, match=r"metaqa\.nt\.gz"):
        await run(settings_for(tmp_path, model="openai:m", method="rog"), "metaqa-1hop", tmp_path)


async def test_missing_files_are_said_before_anything_runs(tmp_path: Path) -> None:
    """Neither questions nor graph: --data is wrong."""
    with pytest.raises(DatasetError, match="pathquestion-2h"):
        await run(settings_for(tmp_path), "pathquestion-2h", tmp_path)


@pytest.mark.parametrize(("said", "kept"), [(None, True), (True, True), (False, False)])
def test_replies_are_kept_unless_told_otherwise(tmp_path: Path, said: bool | None, kept: bool) -> None:
    """A benchmark that is run again pays for no reply twice."""
    settings = Settings(endpoints=("sample",), replies=said)
    assert _settings(settings, datasets.find("metaqa-1hop"), tmp_path).keeps_replies is kept
