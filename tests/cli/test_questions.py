import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.core.answer import decode_answer

Cli = Callable[..., Result]
CAPITAL = "What is the capital of Ruritania?"
KINGS = "Who are the kings of Ruritania?"
SPOUSE = "Who is the spouse of Rudolf V?"
SURE = ("--settings", "sure.toml")


@pytest.fixture(autouse=True)
def _sure(tmp_path: Path) -> None:
    """Settings with which the model refuses no answer."""
    (tmp_path / "sure.toml").write_text("guess_below = 0.0\nrefuse_below = 0.0\n")


def asked(file: Path, *questions: dict[str, Any]) -> Path:
    """A file of questions."""
    file.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    return file


def lines(text: str) -> list[dict[str, Any]]:
    """The answers in some JSON Lines."""
    return [json.loads(line) for line in text.splitlines()]


def values(answers: Sequence[dict[str, Any]]) -> list[list[str]]:
    """What each of them answers."""
    return [[value["value"] for value in answer.get("answers", [])] for answer in answers]


@pytest.mark.parametrize("at_once", ["1", "3"])
def test_each_question_has_a_document_in_their_order(cli: Cli, graph: Path, tmp_path: Path, at_once: str) -> None:
    """With the ids of the lines, or their numbers; each line is what `fedkg verify` reads."""
    questions = ({"question": CAPITAL}, {"id": 7, "question": SPOUSE, "topics": "Rudolf V"}, {"question": KINGS})
    file = asked(tmp_path / "q.jsonl", *questions)
    result = cli("ask", "--questions", file, "-e", graph, *SURE, "--at-once", at_once)
    answers = lines(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "3 questions: 3 answered\n")
    assert [answer["id"] for answer in answers] == ["1", 7, "3"]
    assert values(answers) == [["Strelsau"], ["Flavia"], ["Rudolf V", "Michael"]]
    assert decode_answer(result.stdout.splitlines()[0].encode()).paths


def test_a_question_that_fails_is_a_record_and_the_others_go_on(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """So is a line that is no question, and one whose id is taken; the exit code is the highest of all."""
    bad = {"id": "bad", "question": "Who?", "topics": ["Atlantis"]}
    file = asked(tmp_path / "q.jsonl", bad, {"id": "bad", "question": KINGS}, {"query": KINGS}, {"question": CAPITAL})
    result = cli("ask", "--questions", file, "-e", graph, *SURE)
    topic, taken, other, good = lines(result.stdout)
    assert result.exit_code == 2
    assert result.stderr == "4 questions: 1 answered, 3 failed\n"
    assert (topic["id"], topic["question"]) == ("bad", "Who?")
    error = topic["error"]
    assert (error["kind"], error["retryable"], error["exit_code"]) == ("TopicError", False, 2)
    assert "Atlantis" in error["message"]
    assert (taken["id"], other["id"]) == ("line 2", "3")
    assert "stands on an earlier line" in taken["error"]["message"]
    assert "query" in other["error"]["message"]
    assert values([good]) == [["Strelsau"]]


def test_the_exit_code_says_whether_all_were_answered(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """One that has no answer counts, also where it was asked by an earlier start."""
    (tmp_path / "careful.toml").write_text("refuse_below = 1.0\nguess_below = 1.0\n")
    file = asked(tmp_path / "q.jsonl", {"question": CAPITAL})
    for ending in ("1 without an answer", "1 answered before"):
        result = cli("ask", "--questions", file, "-e", graph, "--settings", "careful.toml", "--out", "a.jsonl")
        assert (result.exit_code, result.stderr) == (1, f"1 question: {ending}\n")
    assert cli("ask", "--questions", file, "-e", graph, *SURE, "--strict").exit_code == 0


@pytest.mark.parametrize("cut", [0, 1, 40, 2_000, -1])
def test_a_file_that_was_cut_anywhere_is_gone_on_with(cli: Cli, graph: Path, tmp_path: Path, cut: int) -> None:
    """As after kill -9 in the middle of a line: what is whole is not asked again, and nothing stands there twice."""
    file = asked(tmp_path / "q.jsonl", {"question": CAPITAL}, {"question": SPOUSE})
    out = tmp_path / "new" / "a.jsonl"
    cli("ask", "--questions", file, "-e", graph, *SURE, "--out", out)
    whole = out.read_bytes()
    cut %= len(whole)
    out.write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n")
    result = cli("ask", "--questions", file, "-e", graph, *SURE, "--out", out)
    before = f", {kept} answered before" if kept else ""
    assert result.stderr == f"2 questions: {2 - kept} answered{before}\n"
    assert values(lines(out.read_text())) == [["Strelsau"], ["Flavia"]]


def test_a_start_that_was_killed_is_gone_on_with(
    start: Callable[..., "subprocess.Popen[str]"], cli: Cli, served: Callable[..., Any], tmp_path: Path
) -> None:
    """Killed while the second question waits for its endpoint, whose first answer is on disk."""
    server = served(hold=5)
    file = asked(tmp_path / "q.jsonl", {"question": CAPITAL}, {"question": SPOUSE})
    arguments = ("ask", "--questions", str(file), *SURE, "--out", "a.jsonl", "--no-cache", "-e")
    child = start(*arguments, server.url, "--at-once", "1")
    assert server.reached.wait(60)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    server.release.set()
    done = (tmp_path / "a.jsonl").read_text().count("\n") if (tmp_path / "a.jsonl").exists() else 0
    result = cli(*arguments, server.url)
    before = f", {done} answered before" if done else ""
    assert result.stderr.splitlines()[-1] == f"2 questions: {2 - done} answered{before}"
    assert values(lines((tmp_path / "a.jsonl").read_text())) == [["Strelsau"], ["Flavia"]]


def test_what_failed_is_asked_again(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """Each start asks once more for it; the same error is not written down twice, and the last line counts."""
    bad = {"id": "a", "question": "What is its capital?", "topics": ["Atlantis"]}
    command = ("ask", "--questions", "q.jsonl", "-e", "kingdom.ttl", *SURE, "--out", "a.jsonl")
    asked(tmp_path / "q.jsonl", bad)
    for _ in range(2):
        assert cli(*command).stderr == "1 question: 1 failed\n"
    asked(tmp_path / "q.jsonl", bad | {"topics": ["Ruritania"]})
    assert cli(*command).stderr == "1 question: 1 answered\n"
    assert [bool(line.get("error")) for line in lines((tmp_path / "a.jsonl").read_text())] == [True, False]
    assert cli(*command).stderr == "1 question: 1 answered before\n"


def test_answers_of_other_questions_are_left_alone(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """An id that stood for another question ends the command, and a file that is none of answers is not touched."""
    command = ("ask", "--questions", "q.jsonl", "-e", "kingdom.ttl", *SURE, "--out")
    asked(tmp_path / "q.jsonl", {"question": CAPITAL})
    cli(*command, "a.jsonl")
    asked(tmp_path / "q.jsonl", {"question": SPOUSE})
    other = cli(*command, "a.jsonl")
    assert (other.exit_code, "those of other questions" in other.stderr) == (2, True)
    (tmp_path / "notes.txt").write_text("buy milk\n")
    notes = cli(*command, "notes.txt")
    assert (notes.exit_code, "notes.txt, line 1, is no answer" in notes.stderr) == (2, True)
    assert (tmp_path / "notes.txt").read_text() == "buy milk\n"


@pytest.mark.parametrize("more", [{"topics": "Strelsau"}, {"kind": "count"}, {"endpoints": ["sample"]}])
def test_answers_to_what_was_asked_otherwise_are_left_alone(
    cli: Cli, graph: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    """The same question about another topic, of another kind or of another graph; spaces alone are no difference."""
    command = ("ask", "--questions", "q.jsonl", "-e", "kingdom.ttl", *SURE, "--out", "a.jsonl")
    asked(tmp_path / "q.jsonl", {"question": CAPITAL.replace(" ", "  ") + " "})
    assert cli(*command).stderr == "1 question: 1 answered\n"
    assert cli(*command).stderr == "1 question: 1 answered before\n"
    asked(tmp_path / "q.jsonl", {"question": CAPITAL} | more)
    other = cli(*command)
    assert (other.exit_code, "those of other questions" in other.stderr) == (2, True)
    [line] = lines((tmp_path / "a.jsonl").read_text())
    del line["digest"]  # as an older version has left it
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    assert cli(*command).stderr == "1 question: 1 answered before\n"


def test_a_line_that_is_mended_leaves_no_error_that_counts(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """Its answer has the id that its error had; the mark that begins some files is no fault."""
    command = ("ask", "--questions", "q.jsonl", "-e", "kingdom.ttl", *SURE, "--out", "a.jsonl")
    good = b"\xef\xbb\xbf" + json.dumps({"question": CAPITAL}).encode() + b"\n"
    (tmp_path / "q.jsonl").write_bytes(good + b"{\n")
    assert cli(*command).stderr == "2 questions: 1 answered, 1 failed\n"
    (tmp_path / "q.jsonl").write_bytes(good + json.dumps({"question": SPOUSE}).encode())
    assert cli(*command).stderr == "2 questions: 1 answered, 1 answered before\n"
    ids = [(line["id"], "error" in line) for line in lines((tmp_path / "a.jsonl").read_text())]
    assert ids == [("1", False), ("2", True), ("2", False)]


def test_other_settings_than_before_are_told(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """Answers with one depth and with another are not mixed in silence."""
    asked(tmp_path / "q.jsonl", {"question": CAPITAL})
    command = ("ask", "--questions", "q.jsonl", "-e", "kingdom.ttl", *SURE, "--out", "a.jsonl")
    cli(*command)
    assert "other settings (search)" in cli(*command, "--depth", "2").stderr
    assert "other settings (endpoints)" in cli(*command, "-e", "sample").stderr


def test_what_is_no_regular_file_is_no_place_for_answers(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """A pipe stays where it is; so do an empty file and a link, when there is nothing to write."""
    questions = asked(tmp_path / "q.jsonl")
    os.mkfifo(tmp_path / "pipe")
    refused = cli("ask", "--questions", questions, "-e", graph, "--out", "pipe")
    assert (refused.exit_code, "cannot write pipe: it is no regular file" in refused.stderr) == (2, True)
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to("empty")
    for name in ("empty", "link"):
        assert cli("ask", "--questions", questions, "-e", graph, "--out", name).exit_code == 0
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "empty").exists()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that opens and cannot be read")
def test_questions_that_cannot_be_read_are_bad_input(cli: Cli, graph: Path) -> None:
    """As on a disk that fails in the middle."""
    result = cli("ask", "--questions", "/proc/self/mem", "-e", graph)
    assert (result.exit_code, "the questions cannot be read: " in result.stderr) == (2, True)


def test_questions_are_answered_as_they_come(
    start: Callable[..., "subprocess.Popen[str]"], graph: Path, tmp_path: Path
) -> None:
    """On a pipe: the first answer is there before the second question is typed."""
    child = start("ask", "--questions", "-", "-e", str(graph), *SURE, stdin=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    for question, value in ((CAPITAL, "Strelsau"), (SPOUSE, "Flavia")):
        child.stdin.write(json.dumps({"question": question}) + "\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["answers"][0]["value"] == value
    _, told = child.communicate(timeout=30)
    assert (child.returncode, told) == (0, "2 questions: 2 answered\n")


def test_a_question_comes_from_standard_input(cli: Cli, graph: Path) -> None:
    """`fedkg ask -` reads it there, folded into one line."""
    result = cli("ask", "-", "-e", graph, *SURE, stdin="What is the capital\nof Ruritania?\n")
    assert result.stdout.startswith("Strelsau")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ((), "no question is given"),
        (("Who?", "--questions", "q.jsonl"), "QUESTION cannot be combined with --questions"),
        (("--kind", "count", "--questions", "q.jsonl"), "--kind cannot be combined with --questions"),
        (("Who?", "--out", "a.jsonl"), "--out cannot be combined with one question"),
        (("--questions", "gone.jsonl"), "gone.jsonl: No such file"),
        (("--questions", "sure.toml", "--out", "/dev/null/x"), "cannot write /dev/null/x"),
    ],
)
def test_what_cannot_be_combined_is_bad_input(cli: Cli, graph: Path, arguments: Sequence[str], fault: str) -> None:
    """One sentence, before anything is asked."""
    result = cli("ask", *arguments, "-e", graph)
    assert result.exit_code == 2
    assert fault in result.stderr
