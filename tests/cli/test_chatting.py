import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import START

Cli = Callable[..., Result]
CAPITAL = "What is the capital of Ruritania?"


@pytest.fixture(autouse=True)
def _sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with which the model refuses no answer."""
    (tmp_path / "sure.toml").write_text("guess_below = 0.0\nrefuse_below = 0.0\n")
    monkeypatch.setenv("FEDKG_SETTINGS", "sure.toml")


def said(cli: Cli, graph: Path, *messages: str) -> list[str]:
    """What is printed in reply to these messages on a pipe."""
    result = cli("chat", "-e", graph, stdin="".join(f"{message}\n" for message in messages))
    assert (result.exit_code, result.stderr) == (0, "")
    return [line.split("  <")[0] for line in result.stdout.splitlines()]


def test_a_message_goes_on_with_the_one_before(cli: Cli, graph: Path) -> None:
    """It is printed how it was understood; what stands alone is not."""
    assert said(cli, graph, CAPITAL, "and its king?", "What is the spouse of Rudolf V?") == [
        "Strelsau",
        "(Ruritania) king?",
        "Rudolf V",
        "Michael",
        "Flavia",
    ]


def test_one_of_the_entities_can_be_chosen(cli: Cli, graph: Path) -> None:
    """By its number in the list; the next message is about it."""
    messages = ("/topics", "Who are the kings of Ruritania?", "/topics", "/topics 1", "spouse?", "/quit", "no")
    printed = said(cli, graph, *messages)
    assert printed == [
        *("none yet: ask a question", "Rudolf V", "Michael", "1. Rudolf V", "2. Michael", "3. Ruritania"),
        *("(Rudolf V) …", "(Rudolf V) spouse?", "Flavia"),
    ]


def test_the_proof_is_shown_on_demand(cli: Cli, graph: Path) -> None:
    """As `fedkg ask` prints it."""
    printed = said(cli, graph, "/proof", CAPITAL, "/proof", "/help")
    assert "  Ruritania → capital → Strelsau  [kingdom.ttl]" in printed
    assert any(line.startswith("/topics N") for line in printed)


def test_what_goes_wrong_ends_no_conversation(cli: Cli, graph: Path) -> None:
    """A message about nothing that is known, a command that there is not: each has its sentence, and it goes on."""
    messages = ("Where was Sherlock Holmes born?", "/nonsense", "/topics 9", "/topics " + "9" * 5_000, CAPITAL)
    result = cli("chat", "-e", graph, stdin="\n".join(messages))
    assert result.exit_code == 0
    assert result.stderr.startswith("error: no entity of kingdom.ttl is called")
    assert "'/nonsense' is no command; /help lists them" in result.stderr
    assert "there is no 9" in result.stderr
    assert result.stdout.startswith("Strelsau")


def test_the_log_has_what_was_asked(cli: Cli, graph: Path) -> None:
    """As it was understood."""
    said(cli, graph, CAPITAL, "and its king?")
    assert "Ruritania's king?" in cli("log").stdout


def test_ctrl_c_ends_a_question_and_not_the_chat(served: Callable[..., Any], tmp_path: Path) -> None:
    """On a terminal, where lines can be edited, and earlier ones come back with the arrow keys."""
    pexpect = pytest.importorskip("pexpect")
    server = served(hold=4)
    environment = os.environ | {"TERM": "dumb", "FEDKG_SETTINGS": str(tmp_path / "sure.toml")}
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(START)} chat --no-cache -e {server.url}"
    with pexpect.spawn(command, env=environment, encoding="utf-8", timeout=60, echo=False) as child:
        child.expect("> ")
        child.sendline(CAPITAL)
        assert server.reached.wait(60)
        child.sendintr()
        child.expect("stopped; ")
        server.release.set()
        child.expect("> ")
        child.send("\x1b[A")
        child.sendline()
        child.expect("Strelsau")
        child.expect("> ")
        child.sendintr()
        child.expect("> ")
        child.sendeof()
        child.expect(pexpect.EOF)
    assert child.exitstatus == 0
