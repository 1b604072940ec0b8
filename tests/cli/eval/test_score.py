"""`fedkg eval score` and `fedkg eval compare`: from result files alone."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import Result

from fedkg.bench.data.questions import Gold
from fedkg.bench.run.record import GivenAnswer, Header, QuestionRecord, StageCount
from fedkg.core.encoding import encode
from fedkg.core.usage import Usage

Cli = Callable[..., Result]
HEADER = Header(
    benchmark="b", method="fidelis", model="local", settings={}, questions=5, limit=None, seed=0, fedkg="0.1.0"
)


def record(name: str, answers: str = "", **more: object) -> QuestionRecord:
    """A question whose right answer is `a`; one letter of `answers` is one answer."""
    given = tuple(GivenAnswer(f"http://x/{answer}", answer, True, 1.0, 1, True) for answer in answers)
    status = "answered" if answers else "not_found"
    gold = (Gold("a", "http://x/a"),)
    made = QuestionRecord(
        id=name, question="who?", kind="entities", status=status, gold=gold, answers=given, topics=("t",)
    )
    return msgspec.structs.replace(made, **more)


FIRST = (
    record("1", "a", hops=1, question="\x1b[31m[bold]who?", usage=Usage(model_calls=2, tokens_in=900, price=0.5)),
    record("2", "ax", hops=2, gold_steps=1, passed=(StageCount(1, "offered", 3, gold=True),)),
    record("3", status="error", error="KeyError: 'x'"),
    record("4", status="abstained", usage=Usage(spent="calls")),
)
SECOND = (record("1", "x"), record("2", "a"), record("3", "a"), record("4"))


@pytest.fixture
def written(tmp_path: Path) -> tuple[Path, Path]:
    """Two result files of one benchmark."""
    files = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for file, records, header in zip(
        files, (FIRST, SECOND), (HEADER, msgspec.structs.replace(HEADER, commit="abc")), strict=True
    ):
        file.write_bytes(b"".join(encode(line) + b"\n" for line in (header, *records)))
    return files


def lines(text: str) -> dict[str, list[str]]:
    """The rows of the tables that were printed, by their first word; of several the first."""
    rows: dict[str, list[str]] = {}
    for row in text.splitlines():
        first, *rest = row.split() or [""]
        rows.setdefault(first, rest)
    return rows


def test_scores_are_printed_side_by_side(cli: Cli, written: tuple[Path, Path]) -> None:
    """Strict and lenient in one row, each with its interval; counts and faults apart; plain text off a terminal."""
    result = cli("eval", "score", written[0])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    assert result.stdout.startswith(
        "b: fidelis, local\n4 questions: 2 answered, 1 abstained, 1 ended in an error, 1 not asked"
    )
    rows = lines(result.stdout)
    assert rows["hit"][0] == "0.5000"
    assert rows["hit"][4:6] == ["0.5000", "lenient_hit"]
    assert rows["hits_at_1"][0] == "0.3750"
    assert rows["coverage"] == ["1.0000", "1.0000", "to", "1.0000", "1"]
    assert rows["path_validity"] == ["0"], "no edge was confirmed in these records"
    assert rows["overfull"] == ["1", "25.0%"]
    assert rows["error"] == ["1", "25.0%"]


def test_every_figure_is_in_the_json(cli: Cli, written: tuple[Path, Path]) -> None:
    """Of each file one summary, the same digits whenever it is asked for."""
    once, again = (cli("eval", "score", *written, "--json") for _ in range(2))
    assert once.stdout == again.stdout
    first, second = json.loads(once.stdout)
    assert first["overall"]["measures"]["f1"]["mean"] == round((1 + 2 / 3) / 4, 6)
    assert first["counts"]["spent"] == {"calls": 1}
    assert second["overall"]["measures"]["hit"]["mean"] == 0.5
    other = json.loads(cli("eval", "score", *written, "--json", "--seed", "7").stdout)
    assert other[0]["overall"]["measures"]["f1"]["mean"] == first["overall"]["measures"]["f1"]["mean"]
    assert other[0]["seed"] == 7


def test_two_runs_are_compared(cli: Cli, written: tuple[Path, Path]) -> None:
    """What flipped, and why, with the warning apart; a question cannot steer the terminal."""
    result = cli("eval", "compare", *written)
    assert result.exit_code == 0
    assert result.stderr == "warning: the runs differ in commit: (none) and abc\n"
    assert (
        "hit by both 1, by the first alone 1, by the second alone 1, by none 1; McNemar's exact p 1.0000"
        in result.stdout
    )
    rows = lines(result.stdout)
    assert rows["1"] == ["lost", "right", "retrieval", "[bold]who?"]
    assert rows["3"] == ["won", "error", "right", "who?"]
    assert "\x1b" not in result.stdout


def test_a_comparison_as_json(cli: Cli, written: tuple[Path, Path]) -> None:
    """All figures, all flips."""
    comparison = json.loads(cli("eval", "compare", *written, "--json").stdout)
    assert comparison["hits"] == {"both": 1, "first": 1, "second": 1, "neither": 1, "p": 1.0}
    assert [flip["id"] for flip in comparison["flips"]] == ["1", "3"]
    assert comparison["differences"]["hit"]["difference"] == 0.0


def test_few_of_many_flips_are_listed(cli: Cli, tmp_path: Path) -> None:
    """The rest is counted, and listed where that is wanted."""
    files = []
    for answer in "ax":
        files.append(tmp_path / f"{answer}.jsonl")
        records = (record(f"q{number}", answer) for number in range(30))
        files[-1].write_bytes(b"".join(encode(line) + b"\n" for line in (HEADER, *records)))
    assert cli("eval", "compare", *files).stdout.count(" lost ") == 20
    assert "and 10 more questions" in cli("eval", "compare", *files).stdout
    assert cli("eval", "compare", *files, "-v").stdout.count(" lost ") == 30


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "the file is empty"),
        (b"{}\n", "line 1"),
        (encode(HEADER) + b"\n" + encode(FIRST[0]) + b"\n{broken\n", "line 3"),
        (encode(HEADER) + b"\n\xff\xfe\n", "line 2"),
    ],
)
def test_a_file_that_is_no_result_is_named(
    cli: Cli, tmp_path: Path, written: tuple[Path, Path], content: bytes | None, message: str
) -> None:
    """With the line; a good one beside it does not help."""
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_bytes(content)
    for command in ("score", "compare"):
        result = cli("eval", command, written[0], bad)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "bad.jsonl" in result.stderr
        assert message in result.stderr


def test_another_benchmark_is_no_match(cli: Cli, tmp_path: Path, written: tuple[Path, Path]) -> None:
    """Bad input, in one sentence."""
    other = tmp_path / "other.jsonl"
    other.write_bytes(encode(msgspec.structs.replace(HEADER, benchmark="c")) + b"\n" + encode(FIRST[0]) + b"\n")
    result = cli("eval", "compare", written[0], other)
    assert result.exit_code == 2
    assert "a run of b cannot be compared with one of c" in result.stderr


def test_a_run_without_questions_has_no_figures(
    cli: Cli, tmp_path: Path, written: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    """It is left out with a note, and alone it is bad input."""
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(encode(HEADER) + b"\n")
    result = cli("eval", "score", empty)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no question is finished" in result.stderr
    for command in (("score",), ("report", "--out", tmp_path / "report.html")):
        caplog.clear()
        assert cli("eval", *command, written[0], empty).exit_code == 0
        assert "empty.jsonl: it holds no finished question" in caplog.text
