"""`fedkg train scorer` on the command line: what it refuses, each with a message and exit code 2."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to train on"),
        (["no-such-set"], "no benchmark is called"),
        (["custom:nothing.jsonl", "-e", "sample"], "nothing.jsonl"),
        (["metaqa-1hop", "--held-out", "1"], "--held-out"),
        (["metaqa-1hop", "--data", "no-such-folder"], "--data"),
    ],
)
def test_bad_input_is_told(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is trained, and there is no traceback."""
    monkeypatch.setattr("fedkg.training.scorer.PACKAGES", ())
    monkeypatch.setattr("fedkg.embed.minilm.packaged_weights", lambda: tmp_path)
    result = CliRunner().invoke(main, ["train", "scorer", *arguments, "--out", str(tmp_path / "out")])
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert message in result.output


def test_a_missing_extra_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it, before anything is asked or written."""
    monkeypatch.setattr("fedkg.training.scorer.PACKAGES", ("no_such_package",))
    result = CliRunner().invoke(main, ["train", "scorer", "-e", "sample", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert "pip install 'fedkg[train]'" in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [None, "{}", "no JSON"])
def test_a_folder_without_a_scorer_is_no_model(content: str | None, tmp_path: Path) -> None:
    """`--model local:FOLDER` names what is missing, and how such a folder is made."""
    if content is not None:
        (tmp_path / "scorer.json").write_text(content)
    result = CliRunner().invoke(main, ["ask", "Who?", "-e", "sample", "--model", f"local:{tmp_path}", "--no-cache"])
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert "scorer" in result.output
    assert "fedkg train scorer" in result.output
