"""Grids of runs."""

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fedkg.bench.data import definitions
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run import ablation, results
from fedkg.bench.run.ablation import Axis, Grid, GridCell, cells, find, names
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.record import GivenAnswer, QuestionRecord
from fedkg.bench.run.runner import Job
from fedkg.bench.scoring.scores import score
from fedkg.config.settings import Settings, changed, load
from fedkg.errors import DatasetError, FedkgError, MethodError, SettingsError

MakeJob = Callable[..., Job]
AXES = (Axis("search.beam", (1, 4)), Axis("search.alpha", (0.0,)))


@pytest.fixture
def settings(kingdom: MakeJob, tmp_path: Path) -> Settings:
    """Settings over the kingdom, whose questions lie in `questions.jsonl`."""
    kingdom(2)
    return load(flags={"endpoints": [str(tmp_path / "kingdom.ttl")], "embedder": "bm25", "cache_dir": str(tmp_path)})


def grid(tmp_path: Path, **more: Any) -> Grid:
    """A grid over the kingdom."""
    fields: dict[str, Any] = {"title": "T", "benchmarks": (f"custom:{tmp_path / 'questions.jsonl'}",), "axis": AXES}
    return Grid(**fields | more)


def files(grid_cells: Sequence[GridCell]) -> list[str]:
    """The changes in the names of the files."""
    return [cell.file.name.removeprefix("custom-questions.").removesuffix(".jsonl") for cell in grid_cells]


def test_single_changes_are_set_against_the_base(settings: Settings, tmp_path: Path) -> None:
    """One run for each value; a value that the base has already is the base."""
    grid_cells = cells(grid(tmp_path), settings, None, tmp_path)
    assert files(grid_cells) == ["base", "search.beam=1", "search.alpha=0.0"]
    assert [cell.job.header.settings["search"]["beam"] for cell in grid_cells] == [4, 1, 4]


def test_a_product_has_every_combination(settings: Settings, tmp_path: Path) -> None:
    """In the order of the values, the last axis first."""
    grid_cells = cells(grid(tmp_path, combine="product"), settings, None, tmp_path)
    assert files(grid_cells) == ["search.beam=1,search.alpha=0.0", "search.beam=4,search.alpha=0.0"]


def test_the_base_goes_before_the_options(settings: Settings, tmp_path: Path) -> None:
    """Nested or dotted; the depth is that of the definition, not of the benchmark."""
    base = {"search": {"depth": 2}, "search.candidates": 7, "method": "gcr"}
    [first, *_] = cells(grid(tmp_path, base=base), settings, None, tmp_path, limit=1)
    resolved = first.job.work.settings
    assert (resolved.method, resolved.search.depth, resolved.search.candidates, first.job.header.limit) == (
        "gcr",
        2,
        7,
        1,
    )
    deep = cells(grid(tmp_path, axis=(Axis("search.depth", (1, 3)),)), settings, None, tmp_path)
    assert [cell.job.work.settings.search.depth for cell in deep] == [4, 1, 3]


def test_a_name_of_a_file_is_one(settings: Settings, tmp_path: Path) -> None:
    """Whatever a value is: no folder, not too long, and no two alike."""
    values = ("openai:m@http://127.0.0.1/v1", "openai:m@http://127.0.0.1/v2", "x" * 300)
    grid_cells = cells(grid(tmp_path, axis=(Axis("embedder", values),)), settings, None, tmp_path)
    assert len(set(files(grid_cells))) == 4
    assert all(cell.file.parent == tmp_path and len(cell.file.name) < 200 for cell in grid_cells)


async def test_a_grid_is_run_and_taken_up(settings: Settings, tmp_path: Path) -> None:
    """A file for each run; what is there is not asked again."""
    out = tmp_path / "out"
    out.mkdir()
    grid_cells = cells(grid(tmp_path), settings, None, out)
    seen: list[tuple[str, int]] = []
    done = await ablation.run(
        grid_cells, InProcess(2), lambda cell, records: seen.append((cell.file.name, len(records)))
    )
    assert [results.read(cell.file) for cell in grid_cells] == list(done)
    assert [count for _, count in seen] == [1, 2] * 3
    assert await ablation.run(grid_cells, InProcess(), lambda *_: seen.clear()) == done
    assert seen


async def test_what_cannot_be_run_is_left_out(settings: Settings, tmp_path: Path) -> None:
    """With its reason; the others are run."""
    grid_cells = cells(grid(tmp_path, axis=(Axis("method", ("io",)),)), settings, None, tmp_path)
    refused: list[tuple[str, FedkgError]] = []
    done = await ablation.run(
        grid_cells, InProcess(), on_refused=lambda cell, error: refused.append((cell.file.name, error))
    )
    assert [result.header.method for result in done] == ["fidelis"]
    [(name, error)] = refused
    assert (name, type(error)) == ("custom-questions.method=io.jsonl", MethodError)
    assert [file.name for file in tmp_path.glob("custom-*.jsonl")] == [grid_cells[0].file.name]


def test_rows_that_need_something_are_run_where_it_is_given(tmp_path: Path) -> None:
    """A value with the word of a wanted row takes its place; what is missing is named with what to give."""
    wanted = Axis("embedder", ("bm25",), {"e5": "onnx:FOLDER", "openai": "openai:M"})
    given = grid(tmp_path, axis=(wanted,)).extended(["embedder=onnx:/models/E5-base"])
    assert given.axis[0].values == ("bm25", "onnx:/models/E5-base")
    assert given.missing == ["Left out: embedder openai: give --value embedder=openai:M"]
    assert grid(tmp_path).extended(["search.beam=2"]).axis[0].values == (1, 4, 2)
    with pytest.raises(DatasetError, match="no axis is called 'beam'"):
        grid(tmp_path).extended(["beam=2"])


async def test_an_embedder_that_cannot_be_had_is_left_out(settings: Settings, tmp_path: Path) -> None:
    """A folder that is none ends its own runs only, before a question is asked."""
    unknown = Axis("embedder", ("bm25", f"onnx:{tmp_path / 'none'}", "word2vec"))
    refused: list[str] = []
    done = await ablation.run(
        cells(grid(tmp_path, axis=(unknown,)), settings, None, tmp_path),
        InProcess(),
        on_refused=lambda _, error: refused.append(str(error)),
    )
    assert len(done) == 1
    assert len(refused) == 2
    assert "no embedder is called 'word2vec'" in refused[1]


class Knowing:
    """An executor that gives the gold answers."""

    async def records(
        self, work: AskingTask, questions: Sequence[BenchmarkQuestion]
    ) -> AsyncGenerator[QuestionRecord, None]:
        for question in questions:
            answers = tuple(GivenAnswer(gold.key, "Strelsau") for gold in question.answers)
            yield QuestionRecord(
                id=question.id, question="", kind="entities", status="answered", gold=question.answers, answers=answers
            )


async def test_any_executor_will_do(settings: Settings, tmp_path: Path) -> None:
    """A scripted model, say: it is told the gold answers."""
    [done, *_] = await ablation.run(cells(grid(tmp_path), settings, None, tmp_path), Knowing())
    assert [score(record).hit for record in done.records] == [1.0, 1.0]


@pytest.mark.parametrize("name", names())
def test_bundled_definitions_fit(name: str) -> None:
    """Their benchmarks are known, and their settings are settings."""
    bundled = find(name)
    assert bundled.title
    assert all(definitions.find(benchmark).graph for benchmark in bundled.benchmarks)
    variants = [changed(Settings(), ablation._flat(bundled.base) | change, name) for change in bundled.changes]
    assert len(variants) > 1
    assert any(variant != variants[0] for variant in variants)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("title = ", "own.toml"),
        ('title = "t"\nbenchmarks = []\naxis = []', "benchmarks"),
        ('title = "t"\nbenchmarks = ["b"]\ncolour = 1\n[[axis]]\nname = "x"\nvalues = [1]', "colour"),
        (
            'title = "t"\nbenchmarks = ["b"]\ncombine = "all"\n[[axis]]\nname = "x"\nvalues = [1]',
            "known: each, product",
        ),
        ('title = "t"\nbenchmarks = ["b"]\n[[axis]]\nname = "x"\nvalues = []', "values"),
    ],
)
def test_a_definition_that_is_none_is_said(tmp_path: Path, text: str | None, message: str) -> None:
    """With the file and the key."""
    file = tmp_path / "own.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        find(str(file))
    assert text is None or "[[axis]]" in caught.value.hint


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    """Those of the papers' tables among them."""
    with pytest.raises(DatasetError, match=r"eperm-table4, .*figure6, gcr-figure4"):
        find("table99")


@pytest.mark.parametrize("axis", [Axis("search.width", (1,)), Axis("search.beam", ("wide",))])
def test_an_axis_that_is_no_setting_is_said(settings: Settings, tmp_path: Path, axis: Axis) -> None:
    """Before anything is asked, with the title of the definition."""
    with pytest.raises(SettingsError, match=" in T "):
        cells(grid(tmp_path, axis=(axis,)), settings, None, tmp_path)
