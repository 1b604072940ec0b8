"""The tables and ablations of one command: which methods apply, who knows a way, and a whole run over a small graph."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eval.quality import grids, tables
from eval.support import runs
from fedkg.bench.data import definitions
from fedkg.bench.run import provenance, results
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.scoring.scores import score
from fedkg.core.usage import Usage
from fedkg.methods.registry import METHODS
from fedkg.reasoner.local.model import LocalModel
from fedkg.testing import GoldChat
from tests.support.extras import needs

Command = Callable[..., None]
X = "http://x/"
NAMES = ("ann", "bob", "eve", "joe", "kim", "father", "job", "miner", "nurse")
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
FACTS = [
    ("ann", "father", "joe"),
    ("ann", "job", "nurse"),
    ("joe", "job", "miner"),
    ("bob", "father", "kim"),
    ("kim", "job", "nurse"),
]
DEFINITION = """
title = "Family"
questions = "family.jsonl"
graph = "family.nt.gz"
depth = 2
kind = "entities"
"""
GRID = """
title = "Beam width"
benchmarks = ["{family}", "{unknown}"]
combine = "product"
[[axis]]
name = "search.beam"
values = [1, 2]
[[axis]]
name = "search.verifier"
values = ["deductive", "log-probability"]
"""


def row(name: str, topic: str, answer: str, **more: Any) -> dict[str, Any]:
    """A line of a question set."""
    entities = [{"iri": X + topic, "label": topic}], [{"iri": X + answer, "label": answer}]
    question = f"What was the job of the father of {topic}?"
    return {"id": name, "question": question, "topic_entities": entities[0], "answers": entities[1], **more}


def path(*nodes: str) -> list[list[str]]:
    """The gold path along father and job."""
    return [[X + nodes[0], f"{X}father", X + nodes[1]], [X + nodes[1], f"{X}job", X + nodes[2]]]


@pytest.fixture
def family(tmp_path: Path) -> str:
    """The definition of a benchmark whose rows show their paths, the last of them none.

    Its files are in the data folder.
    """
    labels = [f'<{X}{name}> <{LABEL}> "{name}"@en .' for name in NAMES]
    edges = [f"<{X}{start}> <{X}{relation}> <{X}{other}> ." for start, relation, other in FACTS]
    (tmp_path / "family.nt.gz").write_bytes(gzip.compress("\n".join([*labels, *edges, ""]).encode()))
    rows = [
        row("1", "ann", "miner", gold_path=path("ann", "joe", "miner")),
        row("2", "bob", "nurse", gold_path=path("bob", "kim", "nurse")),
        row("3", "eve", "miner", gold_path=[]),
    ]
    (tmp_path / "family.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return written(tmp_path / "family.toml", DEFINITION)


@pytest.fixture
def unknown(family: str, tmp_path: Path) -> str:
    """The definition of one whose rows show no path."""
    (tmp_path / "plain.jsonl").write_text(json.dumps(row("1", "ann", "miner")))
    return written(tmp_path / "plain.toml", DEFINITION.replace("family.jsonl", "plain.jsonl"))


def written(file: Path, text: str) -> str:
    """The file's name, once the text is in it."""
    file.write_text(text)
    return str(file)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in this process with the data folder; what it keeps is kept in `kept`."""
    monkeypatch.setattr(runs, "FOLDER", tmp_path / "kept")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)  # a checkout may change while a test runs

    def run(main: Callable[[], None], *words: str) -> None:
        options = ["--data", str(tmp_path), "--out", str(tmp_path / "out"), "--processes", "1", "--embedder", "hashing"]
        monkeypatch.setattr("sys.argv", ["x", *options, *words])
        main()

    return run


def test_methods_apply_by_what_the_registry_says() -> None:
    """Without a language model those that prompt are refused.

    With one that knows the answers those that recall them say nothing.
    """
    for name, method in METHODS.items():
        assert bool(tables.refusal(name, LocalModel.name)) == method.prompts
        assert bool(tables.refusal(name, GoldChat.name)) == (not method.graph)


def test_the_benchmarks_are_those_with_a_graph(tmp_path: Path) -> None:
    """The one with the largest graph first."""
    (tmp_path / definitions.find("pql-2h").graph).write_text("larger than those that are absent")
    names = tables.with_graph(tmp_path)
    assert set(names) == {name for name in definitions.names() if definitions.find(name).graph}
    assert set(names[:4]) == {"pathquestion-2h", "pathquestion-3h", "pql-2h", "pql-3h"}


def kept(folder: Path) -> dict[str, BenchmarkResult]:
    """The results that were kept, by their files."""
    return {file.name.removesuffix(".jsonl.gz"): results.read(file) for file in sorted(folder.rglob("*.jsonl.gz"))}


def timeless(folder: Path) -> dict[str, list[QuestionRecord]]:
    """The records without what they cost: that is not the same each time."""
    return {
        name: [msgspec.structs.replace(record, usage=Usage()) for record in result.records]
        for name, result in kept(folder).items()
    }


def test_what_applies_is_asked_and_reported(family: str, unknown: str, command: Command, tmp_path: Path) -> None:
    """With both models where the rows show paths, else with one; the scripted one finds all that it knows a way to."""
    asked = ["fidelis", "gcr"]
    command(tables.main, "--write", "--benchmarks", family, unknown, "--methods", *asked, "io")
    results = kept(tmp_path / "kept")
    runs = {("family", model) for model in ("local", "guide-gold")} | {("plain", "local")}
    assert set(results) == {f"{name}.{method}.{model}" for name, model in runs for method in asked}
    best = results["family.fidelis.guide-gold"]
    assert [(score(record).hits_at_1, record.status) for record in best.records] == [
        *[(1.0, "answered")] * 2,
        (0.0, "error"),
    ]
    assert best.header.model == "guide:gold"
    written = (tmp_path / "kept" / "results" / "tables" / "report.md").read_text()
    assert "plain: not asked with guide:gold, since no way to the answers is known." in written
    assert "Left out: io asks no graph, and guide:gold would recall the answers" in written
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_slow_method_is_asked_fewer_and_what_is_above_the_bound_is_named(
    family: str, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hits@1 and Hit stand beside how many were asked; a question whose way the graph lacks counts for nothing."""
    command(tables.main, "--write", "--benchmarks", family, "--methods", "fidelis", "rog", "--fewer", "rog=2")
    measured = json.loads((tmp_path / "kept" / "results" / "tables.json").read_text())["figures"]["family"]
    assert [measured[f"{method}, guide-gold"]["questions"] for method in ("fidelis", "rog")] == [3, 2]
    assert measured["fidelis, guide-gold"]["hit"] == pytest.approx(0.6667)
    assert [run["over the bound"] for run in measured.values()] == [[]] * 4
    local = results.read(tmp_path / "kept" / "results" / "tables" / "family.fidelis.local.jsonl.gz").records
    right = {record.id for record in local if score(record).hits_at_1}
    nothing = [msgspec.structs.replace(record, answers=()) for record in local]
    assert right
    assert set(tables.over(local, nothing)) == right
    with pytest.raises(SystemExit):
        command(tables.main, "--fewer", "rog=many")
    assert "--fewer" in capsys.readouterr().err


def test_what_is_finished_is_reported_without_asking(family: str, command: Command, tmp_path: Path) -> None:
    """An unfinished run is named as one that was not asked."""
    command(tables.main, "--benchmarks", family, "--methods", "fidelis", "rog")
    lines = (tmp_path / "out" / "family.rog.local.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "out" / "family.rog.local.jsonl").write_text("".join(lines[:-1]))
    (tmp_path / "out" / "family.fidelis.local.jsonl").write_text("")
    command(tables.main, "--kept", "--write", "--benchmarks", family, "--methods", "fidelis", "rog")
    assert "family.rog.local" not in kept(tmp_path / "kept")
    assert set(kept(tmp_path / "kept")) == {"family.fidelis.guide-gold", "family.rog.guide-gold"}
    assert "family: rog was not asked with local." in (tmp_path / "out" / "report.md").read_text()


def test_again_the_digits_are_the_same(
    family: str, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second run from nothing gives the same records, apart from their cost.

    One in the same folder asks nothing again.
    """
    words = ("--write", "--benchmarks", family, "--methods", "rog", "kaping", "--limit", "2")
    command(tables.main, *words)
    first, bytes_ = timeless(tmp_path / "kept"), contents(tmp_path / "kept")
    command(tables.main, *words)
    assert contents(tmp_path / "kept") == bytes_
    command(tables.main, *words, "--out", str(tmp_path / "other"))
    assert timeless(tmp_path / "kept") == first
    assert "family.rog.local: 2 questions, " in capsys.readouterr().out


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@needs("openai", "openai")
def test_an_ablation_is_run_where_a_way_is_known(family: str, unknown: str, command: Command, tmp_path: Path) -> None:
    """What else is left out is said: another benchmark, and what the model cannot do.

    A plot is a file beside the tables.
    """
    grid = written(tmp_path / "width.toml", GRID.format(family=family, unknown=unknown))
    command(grids.main, "--write", "--ablations", grid)
    folder = tmp_path / "kept" / "results" / "ablations" / "width"
    results = kept(folder)
    assert [result.header.settings["search"]["beam"] for result in results.values()] == [1, 2]
    assert all(len(result.records) == 3 for result in results.values())
    text = (folder / "report.md").read_text()
    assert "plain is left out: no way to its answers is known." in text
    assert "needs log-probabilities, and the model guide:gold gives none" in text
    (folder / "report.md").unlink()
    command(grids.main, "--kept", "--ablations", grid)
    measured = json.loads((tmp_path / "kept" / "results" / "ablations.json").read_text())["figures"]["width"]["family"]
    assert (measured["questions"], measured["moved"], len(measured["runs"])) == (3, False, 2)
    assert "On family all 2 runs gave the same answers to 3 questions" in (folder / "report.md").read_text()
    plots = [file.name for file in folder.glob("*.svg")]
    assert "By-search.beam.svg" in plots
    assert all(f"({name})" in text for name in plots)


def test_what_is_wrong_ends_the_program(command: Command) -> None:
    """A benchmark that nobody knows, and one whose files are absent."""
    with pytest.raises(SystemExit, match="no benchmark is called 'nothing'"):
        command(tables.main, "--benchmarks", "nothing")
    with pytest.raises(SystemExit, match=r"crlt-qa\.json"):
        command(tables.main, "--benchmarks", "crlt-qa")
