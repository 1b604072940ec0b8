"""`fedkg paths build`: the file, what is printed, and how it ends."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.bench.data import definitions
from fedkg.config import resources

Cli = Callable[..., Result]
NAME = "metaqa-2hop"
QUESTIONS = definitions.find(NAME).questions


@pytest.fixture
def data(tmp_path: Path, graph: Path) -> Path:
    """Three questions about the kingdom, two of which the graph can answer, one of them in two ways."""
    place = tmp_path / "data"
    place.mkdir()
    asked = {"capital": ["strelsau"], "king": ["rudolf", "michael"], "river": ["danube"]}
    rows = [
        {
            "id": word,
            "question": f"what is the {word} of Ruritania",
            "topic_entities": [{"iri": "http://ex.org/ruritania"}],
            "answers": [{"iri": f"http://ex.org/{answer}"} for answer in answers],
        }
        for word, answers in asked.items()
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (place / definitions.find(NAME).questions).write_bytes(gzip.compress(lines.encode()))
    return place


def figures(result: Result) -> dict[str, str]:
    """What is printed, by its name."""
    return {line[:16].strip(): line[16:].strip() for line in result.stdout.splitlines()}


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of the file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_file_has_one_record_a_question(cli: Cli, data: Path, graph: Path) -> None:
    """Each with its examples; the figures say how many there are."""
    result = cli("paths", "build", NAME, "--data", data, "-e", graph, "--out", "out.jsonl")
    shown = figures(result)
    assert (result.exit_code, result.stderr) == (0, "")
    assert (shown["questions"], shown["with examples"], shown["examples"]) == ("3", "2", "3")
    assert (shown["there already"], shown["cut"], shown["errors"]) == ("0", "0", "0")
    capital, king, river = lines(Path("out.jsonl"))
    (example,) = capital["examples"]
    assert example["completion"].startswith("# Reasoning path:\n<PATH> Ruritania → capital → Strelsau </PATH>")
    assert (len(king["examples"]), river["examples"]) == (2, [])
    assert capital["recipe"]["hops"] == 2, "the benchmark's depth"


def test_options_reach_the_file(cli: Cli, data: Path, graph: Path) -> None:
    """Format, bounds, threshold and the draw."""
    options = ("--format", "eperm", "--hops", "1", "--frontier", "7", "--threshold", "0.25", "--limit", "1")
    ids = set()
    for seed in range(5):
        out = Path(f"{seed}.jsonl")
        assert cli("paths", "build", NAME, "--data", data, "-e", graph, "--out", out, *options, "--seed", seed)
        (record,) = lines(out)
        ids.add(record["id"])
    assert len(ids) > 1
    wanted = {"benchmark": NAME, "format": "eperm", "hops": 1, "frontier": 7, "threshold": 0.25}
    assert record["recipe"] == wanted


def test_questions_and_words_of_ones_own(cli: Cli, data: Path, graph: Path, tmp_path: Path) -> None:
    """A question file takes the place of a benchmark, a form that of the bundled one; other words need another file."""
    (questions := tmp_path / "mine.jsonl").write_bytes(gzip.decompress((data / QUESTIONS).read_bytes()))
    folder = tmp_path / "prompts" / "reasoning-paths"
    folder.mkdir(parents=True)
    form = (resources.folder("prompts") / "reasoning-paths" / "form.toml").read_text()
    own = form.replace("Write a path", "Draw a line").replace('" → {relation} → "', '" -[{relation}]-> "')
    (folder / "form.toml").write_text(own.replace("# Reasoning path:", "# Line:"))
    command = ("paths", "build", f"custom:{questions}", "-e", graph, "--out", "out.jsonl")
    assert cli(*command, "--prompts", folder.parent).exit_code == 0
    (example,) = lines(Path("out.jsonl"))[0]["examples"]
    assert example["prompt"].startswith("Draw a line")
    assert example["completion"] == "# Line:\n<PATH> Ruritania -[capital]-> Strelsau </PATH>\n# Answer:\nStrelsau"
    other = cli(*command)
    assert (other.exit_code, "hint: use the same options, or another --out" in other.stderr) == (2, True)
    (folder / "form.toml").write_text(form.replace("{question}", ""))
    bad = cli(*command[:-1], "bad.jsonl", "--prompts", folder.parent)
    assert (bad.exit_code, "prompt has no place for {question}" in bad.stderr) == (2, True)
    assert not Path("bad.jsonl").exists()


def test_a_file_is_gone_on_with(cli: Cli, data: Path, graph: Path) -> None:
    """Nothing is asked for what is there; other options are refused, and the file stays as it is."""
    command = ("paths", "build", NAME, "--data", data, "-e", graph, "--out", "out.jsonl")
    cli(*command)
    before = Path("out.jsonl").read_bytes()
    first, *_ = before.splitlines(keepends=True)
    Path("out.jsonl").write_bytes(first)
    shown = figures(cli(*command))
    assert (shown["questions"], shown["there already"], Path("out.jsonl").read_bytes()) == ("2", "1", before)
    assert figures(cli(*command))["requests each"] == "0.00"
    other = cli(*command, "--hops", "1")
    assert (other.exit_code, "hint: use the same options, or another --out" in other.stderr) == (2, True)
    assert Path("out.jsonl").read_bytes() == before


def test_where_every_question_fails_it_says_why(cli: Cli, data: Path, dead: str) -> None:
    """Exit code 3; the reason stands on stderr once and in each record."""
    result = cli("paths", "build", NAME, "--data", data, "-e", dead, "--out", "out.jsonl")
    assert (result.exit_code, figures(result)["errors"]) == (3, "3")
    assert "questions failed: " in result.stderr
    assert all(record["error"] and not record["examples"] for record in lines(Path("out.jsonl")))


def test_an_endpoint_over_http_is_asked_in_batches(cli: Cli, data: Path, served: Callable[..., Any]) -> None:
    """A topic with all its answers is one batch in each direction, and one for the labels."""
    endpoint = served()
    result = cli("paths", "build", NAME, "--data", data, "-e", endpoint.url, "--out", "out.jsonl", "--limit", "1")
    assert result.exit_code == 0
    assert float(figures(result)["requests each"]) == endpoint.asked


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "data"), "Missing option '--out'"),
        (("--out", "out.jsonl"), "--data names the folder"),
        (("--data", "data", "--out", "gone/out.jsonl", "-e", "sample"), "--out takes a file that can be written"),
        (("--data", "data", "--out", "out.jsonl"), "--data names the folder"),
        (("--data", "data", "--out", "out.jsonl", "--format", "rog"), "'gcr', 'eperm', 'eperm-answer'"),
        (("--data", "data", "--out", "out.jsonl", "--threshold", "0"), "--threshold"),
        (("--data", "data", "--out", "out.jsonl", "--hops", "0"), "--hops"),
    ],
)
def test_bad_input(cli: Cli, data: Path, arguments: tuple[str, ...], message: str) -> None:
    """What cannot be done ends with 2 before anything is asked."""
    result = cli("paths", "build", NAME, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert not Path("out.jsonl").exists()


def test_what_cannot_be_read_is_left_out_and_listed(cli: Cli, data: Path, tmp_path: Path) -> None:
    """With --skip-bad; without it the run ends, and says how to go on."""
    file = data / definitions.find(NAME).questions
    file.write_bytes(file.read_bytes() + gzip.compress(b'{"id": "odd", "question": "who?", "answers": []}\n'))
    arguments = ("paths", "build", NAME, "--data", data, "--out", tmp_path / "out.jsonl", "-e", "sample")
    strict = cli(*arguments)
    assert (strict.exit_code, "(odd): there is no gold answer" in strict.stderr, "--skip-bad" in strict.stderr) == (
        2,
        True,
        True,
    )
    assert "left out: " in cli(*arguments, "--skip-bad").stderr
