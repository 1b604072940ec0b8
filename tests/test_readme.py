"""What the README shows is what happens."""

import re

import pytest

from tests.support.documents import ROOT, check_shown, run, transcripts
from tests.support.extras import needs

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [(command, shown) for command, shown in transcripts(README) if command.startswith("fedkg ")]


@needs("embeddings", "onnxruntime")
@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_every_transcript_is_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, command: str, shown: list[str]
) -> None:
    """Line by line, apart from the score's last digits."""
    monkeypatch.chdir(ROOT)
    code, printed = run(command)
    assert code == 0
    check_shown([re.sub(r"score 0\.\d+\)", "score …", line) for line in shown], printed)


def test_there_is_a_transcript() -> None:
    """The README shows a real run."""
    assert COMMANDS


def test_what_the_readme_links_to_exists() -> None:
    """Pages and files of the project, and the steps of the Makefile."""
    names = re.findall(r"\]\(([\w./]+)\)", README)
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []
    steps = re.findall(r"(?m)^(\w[\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(re.findall(r"\bmake ([a-z]+)(?:`|  )", README)) <= set(steps)
