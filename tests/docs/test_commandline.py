"""docs/commandline.md: the commands print what the page shows."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fedkg.cli.main import main
from tests.support.documents import blocks, check_shown, follow, read, run, sections, transcripts

PAGE = read("commandline")


@pytest.fixture
def questions(here: Path) -> Path:
    """The page's file of questions, in an empty folder."""
    [text, *_] = blocks(PAGE, "json")
    file = here / "questions.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


def test_settings_are_made_as_shown(here: Path) -> None:
    """The file is written, and a question is asked with it."""
    follow(sections(PAGE)["Settings by questions"], lambda text: text)


def test_many_questions_are_answered_as_shown(questions: Path) -> None:
    """The second start asks for what has failed alone."""
    for command, shown in transcripts(sections(PAGE)["Many questions"]):
        code, output = run(command)
        assert code == 2, output
        check_shown(shown, output)


def test_the_log_is_as_shown(here: Path) -> None:
    """The question that was just asked stands there."""
    follow(sections(PAGE)["What was asked lately"], lambda text: text)


def test_the_chat_is_as_shown(here: Path) -> None:
    """The messages that are piped into it are answered line by line."""
    [(command, shown)] = transcripts(sections(PAGE)["One question after the other"])
    messages, _, arguments = command.partition(" | fedkg ")
    typed = "".join(f"{message}\n" for message in re.findall(r'"([^"]*)"', messages))
    result = CliRunner().invoke(main, arguments.split(), input=typed)
    check_shown(shown, result.stdout)
    assert result.stdout.splitlines() == shown


def test_the_options_that_are_named_exist() -> None:
    """Of the command that the page tells of."""
    helps = "".join(run(f"fedkg {name} --help")[1] for name in ("ask", "log", "init", "chat"))
    assert {flag for flag in re.findall(r"--[a-z][a-z-]*[a-z]", PAGE) if flag not in helps} == set()
