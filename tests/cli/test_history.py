import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fedkg.core.answer import decode_answer

Cli = Callable[..., Result]
CAPITAL = "What is the capital of Ruritania?"
SPOUSE = "Who is the spouse of Rudolf V?"


@pytest.fixture(autouse=True)
def _sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with which the model refuses no answer."""
    (tmp_path / "sure.toml").write_text("guess_below = 0.0\nrefuse_below = 0.0\n")
    monkeypatch.setenv("FEDKG_SETTINGS", "sure.toml")


def test_the_last_questions_with_their_answers(cli: Cli, graph: Path) -> None:
    """The newest last, next to what is typed then; with its number the whole answer is shown."""
    assert cli("log").stdout == "No answer is kept.\n"
    printed = cli("ask", CAPITAL, "-e", graph).stdout
    cli("ask", SPOUSE, "-e", graph)
    _, capital, spouse = cli("log").stdout.splitlines()
    assert (capital[0], spouse[0]) == ("2", "1")
    assert f"{CAPITAL}  Strelsau" in capital
    assert f"{SPOUSE}  " in spouse
    assert len(cli("log", "--limit", "1").stdout.splitlines()) == 2
    shown = cli("log", "2").stdout
    assert shown.splitlines()[0].endswith(CAPITAL)
    assert shown.partition("\n")[2] == printed


def test_documents_for_programs(cli: Cli, graph: Path) -> None:
    """All of them with time and command, or the one of that number as `ask --json` prints it."""
    (graph.parent / "q.jsonl").write_text(json.dumps({"question": CAPITAL}) + "\n")
    printed = cli("ask", "--questions", "q.jsonl", "-e", graph).stdout
    [entry] = json.loads(cli("log", "--json").stdout)
    assert (entry["command"], entry["answer"]["question"]) == ("questions", CAPITAL)
    assert decode_answer(cli("log", "1", "--json").stdout.encode()) == decode_answer(printed.encode())


def test_it_is_removed_on_demand(cli: Cli, graph: Path) -> None:
    """And a number that there is not is bad input."""
    cli("ask", CAPITAL, "-e", graph)
    assert cli("log", "7").exit_code == 2
    assert cli("log", "1", "--clear").exit_code == 2
    assert cli("log", "--clear").stdout == "1 answer removed.\n"
    assert cli("log", "--json").stdout == "[]\n"


def test_it_can_be_switched_off(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a variable; the list says so."""
    monkeypatch.setenv("FEDKG_HISTORY", "off")
    cli("ask", CAPITAL, "-e", graph)
    assert cli("log").stdout == "No answer is kept; the setting history is off.\n"
