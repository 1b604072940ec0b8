"""The documents in docs/: their parts, and how what they show is followed."""

import itertools
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from fedkg.cli.main import main

__all__ = [
    "DOCS",
    "MODEL_URL",
    "ROOT",
    "blocks",
    "check_shown",
    "follow",
    "programs",
    "read",
    "rows",
    "run",
    "sections",
    "transcripts",
]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MODEL_URL = "http://127.0.0.1:8000"
"""Where the documents have their model."""


def read(name: str) -> str:
    """The text of docs/NAME.md."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks in that language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def transcripts(text: str) -> list[tuple[str, list[str]]]:
    """Each command that is shown, with the lines that it is shown to print."""
    matches = (re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", block) for block in blocks(text, "console"))
    return [(command, shown.splitlines()) for block in matches for command, shown in block]


def sections(text: str) -> dict[str, str]:
    """The document's sections by their headings; a console's line that looks like one has no empty line before it."""
    return dict(part.split("\n", 1) for part in text.split("\n\n## ")[1:])


def rows(text: str) -> dict[str, list[str]]:
    """The rows of the tables in a text, by what stands in code marks in the first cell."""
    cells = ([cell.strip() for cell in row.split(" | ")] for row in re.findall(r"(?m)^\| (`.*) \|$", text))
    return {first.strip("`"): rest for first, *rest in cells}


def run(command: str) -> tuple[int, str]:
    """The exit code of a command and what it prints, which `> FILE` keeps; what stands before it is its environment."""
    words = shlex.split(command)
    place = words.index("fedkg")
    variables = dict(word.split("=", 1) for word in words[:place])
    arguments, file = (words[:-2], Path(words[-1])) if ">" in words else (words, None)
    result = CliRunner().invoke(main, arguments[place + 1 :], env=variables)
    if file:
        file.write_text(result.stdout, encoding="utf-8")
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    return result.exit_code, result.output


def follow(text: str, change: Callable[[str], str]) -> None:
    """Saves the files of a text, and types its commands: each ends as it is shown, and prints what is shown."""
    for name, content in re.findall(r"[Ss]ave\s+this\s+as\s+`([\w./-]+)`[^`]*```\w+\n(.*?)```", text, re.DOTALL):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    steps = [*transcripts(text), ("", [])]
    for (command, shown), (then, code) in itertools.pairwise(steps):
        if command == "echo $?":
            continue
        ended, printed = run(change(command))
        assert ended == int(code[0] if then == "echo $?" else 0), (command, printed)
        check_shown([change(line) for line in shown], printed)


def check_shown(lines: list[str], printed: str) -> None:
    """The lines stand in what was printed, in their order; `…` is anything, and so is the rest of a printed line."""
    printed_lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in filter(None, lines):
        pattern = re.escape(" ".join(line.split())).replace("…", ".*").replace("\\ .*", ".*")
        assert any(re.match(pattern, printed_line) for printed_line in printed_lines), (line, printed)


def programs(text: str) -> list[tuple[str, str]]:
    """Each Python program of a text, with what the block behind it says that it prints."""
    return re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
