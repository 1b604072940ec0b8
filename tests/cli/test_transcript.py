"""`ask --transcript` writes what the model was asked, and `transcript` shows it to a person, harmlessly."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.engine.transcript import SCHEMA, TranscriptAttempt, TranscriptCall, TranscriptHeader, dump
from fedkg.llm.base import Message

Cli = Callable[..., Result]
HEADER = TranscriptHeader(SCHEMA, "0.2.0", "2026-11-01T12:00:00+00:00", {"model": "openai:m", "endpoints": ["sample"]})
HOSTILE = "\x1b[31mred\x1b[0m\x07\n\x1b]0;title\x07next\u202e line\r"


def written(file: Path, *calls: TranscriptCall) -> Path:
    """A transcript of these calls."""
    file.write_bytes(b"".join(dump(entry) + b"\n" for entry in (HEADER, *calls)))
    return file


def call(name: str = "plan", **changes: object) -> TranscriptCall:
    """A call with a system prompt and a reply."""
    messages = (Message("system", "You plan."), Message("user", "Question: Who?"))
    attempt = TranscriptAttempt(messages, reply='{"picks": [1]}', tokens_in=10, tokens_out=2, seconds=0.5)
    parts = {"attempts": (attempt,), "result": [1], "schema": {"type": "object"}, "template": "3-abc"} | changes
    return TranscriptCall("Who?", name, "openai:m", **parts)  # type: ignore[arg-type]  # parts of several types


def test_a_question_is_written_and_shown(
    cli: Cli, graph: Path, speaking: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line to the file and back, without the key."""
    monkeypatch.setenv("FEDKG_MODEL_KEY", "the-key-of-the-test")
    file = tmp_path / "t.jsonl"
    asked = cli(
        "ask",
        "What is the capital of Ruritania?",
        "-e",
        graph,
        "--model",
        speaking("capital").model,
        "--transcript",
        file,
    )
    assert asked.exit_code == 0, asked.output
    assert "the-key-of-the-test" not in file.read_text()
    shown = cli("transcript", file)
    assert shown.exit_code == 0
    for part in (
        "Question: What is the capital of Ruritania?",
        "1. plan (4-",
        "2. choose",
        "600 + 400 tokens",
        "taken for: ",
    ):
        assert part in shown.output


def test_the_model_local_makes_no_calls(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """The file says so."""
    file = tmp_path / "t.jsonl"
    cli("ask", "What is the capital of Ruritania?", "-e", graph, "--transcript", file)
    assert "no calls follow" in cli("transcript", file).output


def test_a_file_that_cannot_be_written(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """Exit code 2, before anything is asked."""
    result = cli("ask", "What is the capital of Ruritania?", "-e", graph, "--transcript", tmp_path)
    assert (result.exit_code, "cannot be written" in result.stderr) == (2, True)
    assert result.stdout == ""


def test_one_call_is_shown_whole(cli: Cli, tmp_path: Path) -> None:
    """With the system prompt and the schema, which the list of all calls leaves out."""
    file = written(tmp_path / "t.jsonl", call(), call("choose"))
    every, single = cli("transcript", file).stdout, cli("transcript", file, "--call", "2").stdout
    assert "1. plan" in every
    assert "2. choose" in every
    assert "You plan." not in every
    assert "1. plan" not in single
    assert "2. choose" in single
    assert "You plan." in single
    assert '"type": "object"' in single


def test_repair_and_failure_are_shown(cli: Cli, tmp_path: Path) -> None:
    """Of a repair the new messages only, and why the reply before was unusable."""
    first = TranscriptAttempt((Message("user", "the task"),), reply="?", error="ModelReplyError: no JSON", seconds=0.1)
    echo = (*first.messages, Message("assistant", "?"), Message("user", "again"))
    second = TranscriptAttempt(echo, error="ModelUnreachableError: no reply in time")
    failed = call(attempts=(first, second), result=None, error="ModelUnreachableError: no reply in time")
    shown = cli("transcript", written(tmp_path / "t.jsonl", failed)).stdout
    assert shown.count("the task") == 1
    for part in ("unusable: ModelReplyError: no JSON", "again", "no reply: ModelUnreachableError", "failed: "):
        assert part in shown


def test_hostile_text_steers_no_terminal(cli: Cli, tmp_path: Path) -> None:
    """Wherever it stands, lines stay lines and nothing else of it is left."""
    attempt = TranscriptAttempt((Message("user", HOSTILE),), reply=HOSTILE, error=HOSTILE)
    hostile = TranscriptCall(HOSTILE, HOSTILE, HOSTILE, HOSTILE, {HOSTILE: 1}, attempts=(attempt,), error=HOSTILE)
    file = tmp_path / "t.jsonl"
    header = TranscriptHeader(SCHEMA, HOSTILE, HOSTILE, {"model": HOSTILE, "endpoints": [HOSTILE]}, HOSTILE)
    file.write_bytes(b"".join(dump(entry) + b"\n" for entry in (header, hostile, call(result=[HOSTILE]))))
    for arguments in ((), ("--call", "1"), ("--call", "2")):
        output = cli("transcript", file, *arguments).output
        assert not set(output) & set("\x1b\x07\r\u202e")
    assert "    red\n    next line\n" in cli("transcript", file).stdout


def test_as_json(cli: Cli, tmp_path: Path) -> None:
    """One list, and the one call that was asked for."""
    file = written(tmp_path / "t.jsonl", call(), call("choose"))
    every = json.loads(cli("transcript", file, "--json").stdout)
    assert [entry["line"] for entry in every] == ["header", "call", "call"]
    [choice] = json.loads(cli("transcript", file, "--json", "--call", "2").stdout)
    assert choice["call"] == "choose"


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--call", "9")])
def test_a_damaged_file(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Exit code 2 with the number of the line."""
    file = written(tmp_path / "t.jsonl", call())
    file.write_bytes(file.read_bytes() + b'{"line": "call", "torn')
    result = cli("transcript", file, *arguments)
    assert (result.exit_code, "line 3" in result.stderr) == (2, True)


def test_what_stands_before_a_damaged_line_is_shown(cli: Cli, tmp_path: Path) -> None:
    """A crash leaves what was done."""
    file = written(tmp_path / "t.jsonl", call())
    file.write_bytes(file.read_bytes() + b"torn")
    assert "1. plan" in cli("transcript", file).stdout


@pytest.mark.parametrize("content", [b"", b"hello\n", b"{}\n", b'{"question": "an answer document"}\n'])
def test_a_foreign_file(cli: Cli, tmp_path: Path, content: bytes) -> None:
    """Exit code 2, and what would write a transcript."""
    file = tmp_path / "other.json"
    file.write_bytes(content)
    result = cli("transcript", file)
    assert (result.exit_code, "line 1" in result.stderr, "--transcript" in result.stderr) == (2, True, True)


def test_no_such_file_or_call(cli: Cli, tmp_path: Path) -> None:
    """Both are the caller's input."""
    assert cli("transcript", tmp_path / "none").exit_code == 2
    result = cli("transcript", written(tmp_path / "t.jsonl", call()), "--call", "2")
    assert (result.exit_code, "it has 1 call" in result.stderr) == (2, True)


def test_from_standard_input(cli: Cli, tmp_path: Path) -> None:
    """- is what is piped in."""
    data = written(tmp_path / "t.jsonl", call()).read_bytes()
    assert "1. plan" in cli("transcript", "-", stdin=data).stdout
