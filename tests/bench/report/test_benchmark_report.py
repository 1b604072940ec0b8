"""A report as a whole."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.bench.report.benchmark_report import PLOTLESS, as_html, as_markdown, report, write
from fedkg.bench.run import results, runner
from fedkg.bench.run.executors import InProcess
from fedkg.bench.run.results import BenchmarkResult
from fedkg.bench.run.runner import Job
from fedkg.errors import DatasetError

Make = Callable[..., BenchmarkResult]
MakeJob = Callable[..., Job]
HOSTILE = "<script>alert(1)</script> | `x`\u202e\n# y"


def titles(*results: BenchmarkResult) -> list[str]:
    """The parts of the report."""
    return [section.title for section in report(results).sections]


def test_what_differs_decides_on_the_parts(made: Make) -> None:
    """Of one run there is nothing to compare, of single changes a part for each setting; nothing is empty."""
    assert titles(made("a")) == [
        "Main results",
        "Coverage by depth",
        "Depths",
        "Efficiency",
        "Faithfulness",
        "Errors",
        "All scores",
        "Provenance",
    ]
    more = titles(made("a", "x"), made("x", "a", beam=1), made("a", "a", embedder="minilm"))
    assert [title for title in more if title not in titles(made("a"))] == [
        "Ablation",
        "Setting: embedder",
        "Setting: search.beam",
    ]
    page = report([made("a"), made()])
    assert all(table.rows for section in page.sections for table in section.tables)


def test_questions_that_the_graph_holds_whole_are_a_row_of_their_own(made: Make) -> None:
    """Below all questions, where the records say which these are."""
    result = made("a", "x")
    records = (msgspec.structs.replace(result.records[0], supported=True), *result.records[1:])
    [robustness] = [
        part for part in report([BenchmarkResult(result.header, records)]).sections if part.title == "Robustness"
    ]
    [table] = robustness.tables
    place = table.columns.index("Conditions")
    assert [row[place : place + 2] for row in table.rows] == [("all", "2"), ("all in the graph", "1")]


def test_a_report_without_records_has_no_heading_for_questions(made: Make) -> None:
    """What has nothing below it is not there."""
    assert "<h2>Questions</h2>" in as_html(report([made("a")]))
    assert "<h2>Questions</h2>" not in as_html(report([made()]))


def test_the_papers_stand_beside_ours(made: Make) -> None:
    """Each in the part that it is about."""
    page = report([made("a"), made("a", embedder="minilm")])
    beside = {section.title: [table.title for table in section.published] for section in page.sections}
    assert beside["Setting: embedder"] == ["FiDeLiS v4, Table 3 (published, other model and graph)"]
    assert [title.split(" (")[0] for title in beside["Main results"]] == [
        "FiDeLiS v4, Table 1",
        "GCR, Table 1",
        "EPERM, Table 2",
    ]
    assert "59.78" in as_html(page)
    assert "59.78" in as_markdown(page)


def test_the_same_files_give_the_same_bytes(made: Make, tmp_path: Path) -> None:
    """In whatever order the questions finished."""
    result, other = made("a", "x", ""), made("ax", "a", "a", beam=1)
    turned = BenchmarkResult(result.header, result.records[::-1])
    texts = []
    for number, first in enumerate((result, turned)):
        write(report([first, other]), tmp_path / f"{number}.html")
        texts.append([(tmp_path / f"{number}.{ending}").read_bytes() for ending in ("html", "md")])
    assert texts[0] == texts[1]


def test_nothing_hostile_breaks_out(made: Make) -> None:
    """Not from a label, a setting, a question, a warning or the title."""
    result = made("a", model=HOSTILE, benchmark=HOSTILE, embedder=HOSTILE)
    change: dict[str, Any] = {"id": HOSTILE, "question": HOSTILE, "warnings": (HOSTILE,), "error": HOSTILE}
    bad = BenchmarkResult(result.header, (msgspec.structs.replace(result.records[0], **change),))
    page = report([bad, made("x", benchmark=HOSTILE)], title=HOSTILE, notes=[HOSTILE])
    html, markdown = as_html(page), as_markdown(page)
    assert "<script" not in html + markdown
    assert "\u202e" not in html + markdown
    assert "\n# y" not in markdown
    assert "‹script›alert(1)‹/script› \\| 'x' # y" in markdown
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert lines
    assert all(line.endswith(" |") for line in lines)


def test_without_the_extra_a_report_has_no_plots(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so."""
    pytest.importorskip("matplotlib", reason="plots need the extra `report`")
    runs = [made("a"), made("x", beam=1)]
    assert "data:image/svg+xml" in as_html(report(runs))
    monkeypatch.delattr("fedkg.bench.report.figures")
    monkeypatch.setitem(sys.modules, "fedkg.bench.report.figures", None)  # what an import of an absent package ends in
    page = report(runs)
    assert PLOTLESS in page.notes
    assert "data:image/svg+xml" not in as_html(page)


@pytest.mark.parametrize("name", ["report.md", "no/such/folder/report.html"])
def test_where_a_report_cannot_be_written(made: Make, tmp_path: Path, name: str) -> None:
    """It is said; the Markdown would take the place of a page of that name."""
    with pytest.raises(DatasetError, match=r"report\.") as caught:
        write(report([made("a")]), tmp_path / name)
    assert "--out" in caught.value.hint


def test_of_nothing_there_is_no_report() -> None:
    """At least one file."""
    with pytest.raises(DatasetError, match="nothing to report"):
        report([])


async def test_a_report_of_real_runs(kingdom: MakeJob, tmp_path: Path) -> None:
    """Five questions, twice, from their files: the figures, the path of an answer and its proof."""
    runs = []
    for beam in (1, 2):
        job, out = kingdom(5, **{"search.beam": beam}), tmp_path / f"{beam}.jsonl"
        await runner.run(job, InProcess(), out)
        runs.append(results.read(out))
    html = as_html(report(runs))
    assert "100.00 (100.00–100.00; n " in html
    assert "No value changed any answer." in html
    assert "<bdi>Ruritania</bdi> → <i>capital</i> → <bdi>Strelsau</bdi>" in html
    assert "‹http://ex.org/ruritania› ‹http://ex.org/capital› ‹http://ex.org/strelsau›" in html
    assert str(tmp_path) not in html
