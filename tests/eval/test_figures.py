"""What README and docs show of the result files is what stands in them."""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

import jinja2
import pytest

from eval import figures
from eval.figures import PLACE, Figures, documents, filled

MEASURED = re.compile(
    r"\b\d[\d,.]*\s?(?:%|ms\b|MB\b|GB\b|kB\b|s of (?:the )?processor|(?:questions|tokens) a second)"
    r"|(?<![\w.\-/^])0?\.\d{2,}\b"
)
"""What a figure of time, size, share or score looks like."""
CODE = re.compile(r"(?ms)^ *```.*?^ *```|`[^`\n]*`")
CONSTANTS = {
    "benchmarks.md": ["0.00001", "95 %"],
    "cache.md": ["64 MB"],
    "commandline.md": ["16 MB"],
    "endpoints.md": ["10 MB", "4 MB", "64 kB"],
    "methods.md": ["15 %", "18 %", "67 %"],
    "models.md": ["16 MB", "32 MB", "98 MB"],
    "settings.md": ["0.875", "16,777,216 MB", "4096 MB"],
}
"""Limits, defaults, sizes of files that are fetched, and in methods.md what papers print: none of them was measured."""


@pytest.mark.parametrize("file", documents(), ids=lambda file: str(file.name))
def test_documents_show_the_figures_of_the_result_files(file: Path) -> None:
    """`python eval/figures.py --write` fills them in."""
    text = file.read_text(encoding="utf-8")
    assert filled(text, Figures()) == text


def test_a_place_is_filled_up_to_its_end() -> None:
    """As far indented as its mark; what stands around it stays."""
    page = {"ours": {"outside": 2, "steps": 200}, "paper": {"outside": 5, "steps": 200}}
    measured = {"first_page": {"crlt-qa, keywords of a plan": {"held out": page, "tuned": page}}}
    text = "Before.\n\n  <!-- figures: first_page -->\n  old\n\n  lines\n  <!-- end of figures -->\nBehind.\n"
    new = filled(text, measured)
    assert new.startswith("Before.\n\n  <!-- figures: first_page -->\n  Of the gold steps")
    assert new.endswith(".\n  <!-- end of figures -->\nBehind.\n")
    assert "4 of 400 outside a first page of ten (1.0 %)" in new
    assert "10 of 400 outside a first page of ten (2.5 %)" in new
    assert filled(new, measured) == new


@pytest.mark.parametrize(("name", "error"), [("nothing", jinja2.TemplateNotFound), ("calls", jinja2.UndefinedError)])
def test_a_place_without_block_or_figures_is_an_error(name: str, error: type[Exception]) -> None:
    """Nothing is left out in silence."""
    with pytest.raises(error):
        filled(f"<!-- figures: {name} -->\n<!-- end of figures -->\n", {})


@pytest.mark.parametrize("options", [[], ["--write"]])
def test_the_command_names_what_differs(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ends with 1 where something does, and writes it with --write."""
    file = tmp_path / "README.md"
    file.write_text("<!-- figures: calls -->\nold\n")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "filled", lambda text, _: text.replace("old", "new"))
    monkeypatch.setattr(sys, "argv", ["figures.py", *options])
    with pytest.raises(SystemExit) as ended:
        figures.main()
    assert ended.value.code == (not options)
    assert capsys.readouterr().out.startswith("README.md: ")
    assert ("new" in file.read_text()) == bool(options)


@pytest.mark.parametrize("file", documents(), ids=lambda file: str(file.name))
def test_what_was_measured_stands_in_a_place(file: Path) -> None:
    """Every other figure is a constant that is known; the table of servers has a test of its own, beside its page."""
    text = CODE.sub("", PLACE.sub("", file.read_text(encoding="utf-8")))
    assert Counter(match.group() for match in MEASURED.finditer(text)) == Counter(CONSTANTS.get(file.name, []))


def test_the_questions_whose_conditions_are_facts_are_those_that_were_asked() -> None:
    """Of CWQ, as the page on benchmarks counts them."""
    asked = Figures()["bounds"]["cwq-fb15k237, all conditions in the graph"]["questions"]
    text = (figures.ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert re.findall(r"(\d+) of 998 questions", text) == [str(asked)]


def test_no_answer_is_above_the_upper_bound() -> None:
    """No method and no model hits first what the gold reasoner does not find, but where the graph lacks the way.

    Nor does `local` without a depth reach what is found of the same set.
    """
    for name, runs in Figures()["tables"].items():
        assert {run: row["over the bound"] for run, row in runs.items() if row["over the bound"]} == {}, name
        bound = runs.get("fidelis, guide-gold", {"questions": 0})
        alike = [row["hits_at_1"] for row in runs.values() if row["questions"] == bound["questions"]]
        assert max(alike, default=0.0) <= bound.get("hit", 1.0), name
    bounds, columns = Figures()["bounds"], Figures()["local"]["columns"]
    for name, row in columns["local, test half, no depth"].items():
        bound = bounds.get(name, {"found": 1.0, "questions": 1})
        # the questions are other draws of the set: within two standard errors of the difference
        spread = bound["found"] * (1 - bound["found"]) * (1 / row["questions"] + 1 / bound["questions"])
        assert row["hits_at_1"] <= bound["found"] + 2 * math.sqrt(spread), name


def test_every_result_file_names_its_command() -> None:
    """So that it can be made again."""
    for file in sorted((figures.ROOT / "eval" / "results").glob("*.json")):
        assert re.match(r"(python|make) \S+", json.loads(file.read_text(encoding="utf-8")).get("command", "")), (
            file.name
        )
