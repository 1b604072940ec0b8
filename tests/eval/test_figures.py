"""What README and docs show of the result files is what stands in them."""

import sys
from pathlib import Path

import jinja2
import pytest

from eval import figures
from eval.figures import Figures, documents, filled


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
