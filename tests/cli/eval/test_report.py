"""`fedkg eval report` and `fedkg eval ablate`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.bench.run import results

Cli = Callable[..., Result]
GRID = """
title = "Width"
benchmarks = ["custom:questions.jsonl"]
[[axis]]
name = "search.beam"
values = [1]
[[axis]]
name = "method"
values = ["io"]
"""


@pytest.fixture
def grid(graph: Path, tmp_path: Path) -> Path:
    """The definition of an ablation of two questions, one run of which cannot be made; the questions lie beside it."""
    row = {"question": "what capital?", "topics": ["http://ex.org/ruritania"], "answers": ["http://ex.org/strelsau"]}
    rows = [row | {"id": "1"}, row | {"id": "2"}]
    (tmp_path / "questions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in rows))
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


@pytest.fixture
def ablated(cli: Cli, grid: Path, graph: Path) -> Result:
    """The ablation, run."""
    return cli("eval", "ablate", grid.name, "-e", graph, "--out", "out")


def test_an_ablation_ends_in_a_report(cli: Cli, ablated: Result, tmp_path: Path) -> None:
    """A file for each run, and a page that says what was left out; the same command changes nothing."""
    assert ablated.exit_code == 0
    assert "Left out: custom-questions.method=io: " in ablated.stderr
    assert "2 result files in out" in ablated.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Left out: custom-questions.method=io: " in page
    assert "Setting: search.beam" in page
    again = cli("eval", "ablate", "grid.toml", "-e", tmp_path / "kingdom.ttl", "--out", "out")
    assert again.exit_code == 0
    assert (tmp_path / "out" / "report.html").read_text() == page


def test_rows_that_need_a_folder_are_named(cli: Cli, grid: Path, graph: Path, tmp_path: Path) -> None:
    """The report says what was left out and what to give; a further value is a further run."""
    grid.write_text(grid.read_text() + 'wanted = { e5 = "onnx:FOLDER" }\n')
    result = cli("eval", "ablate", grid.name, "-e", graph, "--out", "out", "--value", "search.beam=2")
    assert "Left out: method e5: give --value method=onnx:FOLDER" in result.stderr
    assert "give --value method=onnx:FOLDER" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "custom-questions.search.beam=2.jsonl").exists()


def test_an_ablation_has_one_budget(cli: Cli, grid: Path, tmp_path: Path, speaking: Callable[[str], Any]) -> None:
    """Of all its runs: where it is spent the report has what was asked, and exit code is 4; with more it goes on."""
    model = speaking("capital")
    command = ("eval", "ablate", "grid.toml", "-e", tmp_path / "kingdom.ttl", "--out", "own", "--model", model.model)
    result = cli(*command, "--no-replies", "--run-calls", "4")
    assert (result.exit_code, model.asked) == (4, 4)
    assert (tmp_path / "own" / "report.html").exists()
    assert cli(*command, "--no-replies").exit_code == 0
    assert all(len(results.read(file).records) == 2 for file in (tmp_path / "own").glob("*.jsonl"))


def test_a_report_of_files(cli: Cli, ablated: Result, tmp_path: Path) -> None:
    """A page and Markdown beside it."""
    files = sorted((tmp_path / "out").glob("*m*=*.jsonl")) and sorted((tmp_path / "out").glob("*beam*.jsonl"))
    result = cli(
        "eval", "report", tmp_path / "out" / "custom-questions.base.jsonl", *files, "--out", "r.html", "--title", "Mine"
    )
    assert (result.exit_code, result.stderr) == (0, "report: r.html\nreport: r.md\n")
    assert (tmp_path / "r.md").read_text().startswith("# Mine\n")
    assert "<h1>Mine</h1>" in (tmp_path / "r.html").read_text()
    assert len(results.read(files[0]).records) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "nothing.jsonl", "--out", "r.html"), "nothing.jsonl: No such file"),
        (("report", "grid.toml", "--out", "r.html"), "grid.toml, line 1"),
        (("report", "out/custom-questions.base.jsonl", "--out", "r.md"), "the Markdown goes there"),
        (("report", "out/custom-questions.base.jsonl", "--out", "no/r.html"), "cannot write no/r.html"),
        (("report", "out/custom-questions.base.jsonl"), "Missing option '--out'"),
        (("ablate", "table99", "--out", "o"), "no ablation is called 'table99'"),
        (("ablate", "table2", "--out", "o"), "--data"),
        (("ablate", "grid.toml", "--out", "grid.toml/o", "-e", "kingdom.ttl"), "cannot make grid.toml/o"),
    ],
)
def test_bad_input_is_said(
    cli: Cli, grid: Path, request: pytest.FixtureRequest, arguments: tuple[str, ...], message: str
) -> None:
    """With exit code 2, and nothing half done."""
    if any(argument.startswith("out/") for argument in arguments):
        request.getfixturevalue("ablated")
    result = cli("eval", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr + str(result.output)
