import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fedkg.bench import datasets

Cli = Callable[..., Result]
NAME = "metaqa-1hop"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The benchmark's files, with one film, one question that can be answered and one that cannot."""
    definition = datasets.find(NAME)
    place = tmp_path / "data"
    place.mkdir()
    ask = {"topic_entities": [{"iri": "http://ex.org/momo", "label": "Momo"}]}
    rows = [
        ask | {"id": "1", "question": "who directed Momo", "answers": [{"iri": "http://ex.org/schaaf"}]},
        ask | {"id": "2", "question": "who directed Momo", "answers": [{"iri": "http://ex.org/nobody"}]},
    ]
    write(place / definition.questions, "".join(json.dumps(row) + "\n" for row in rows))
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    triples = [
        "<http://ex.org/momo> <http://ex.org/directed_by> <http://ex.org/schaaf> .",
        f'<http://ex.org/directed_by> {label} "directed by" .',
        f'<http://ex.org/momo> {label} "Momo" .',
    ]
    write(place / definition.graph, "\n".join(triples) + "\n")
    return place


def write(path: Path, text: str) -> None:
    """The file, packed where its name says so."""
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def test_run_prints_the_scores(cli: Cli, data: Path) -> None:
    """The summary is one line a score; the errors and the wrong answer count."""
    result = cli("eval", "run", NAME, "--data", data)
    shown = dict(line.split() for line in result.stdout.splitlines())
    assert (result.exit_code, result.stderr) == (0, "")
    assert (shown["benchmark"], shown["questions"], shown["errors"]) == (NAME, "2", "0")
    assert (float(shown["hits_at_1"]), float(shown["path_validity"]), float(shown["model_calls"])) == (0.5, 1.0, 0.0)


def test_json_to_a_file(cli: Cli, data: Path, tmp_path: Path) -> None:
    """--json writes everything to a file, with seed, limit and settings; the options reach them."""
    options = ("--limit", "1", "--seed", "7", "--beam", "2", "--json", tmp_path / "out.json")
    assert cli("eval", "run", NAME, "--data", data, *options).exit_code == 0
    shown = json.loads((tmp_path / "out.json").read_text())
    assert (shown["limit"], shown["seed"], shown["settings"]["search"]["beam"]) == (1, 7, 2)
    assert len(shown["records"]) == 1


def test_json_to_standard_output(cli: Cli, data: Path) -> None:
    """`--json -` prints that one document, and the scores on stderr."""
    result = cli("eval", "run", NAME, "--data", data, "--json", "-")
    assert json.loads(result.stdout)["summary"]["benchmark"] == NAME
    assert "hits_at_1" in result.stderr


def test_own_endpoint(cli: Cli, data: Path, dead: str) -> None:
    """-e replaces the benchmark's graph; where every question fails, the exit code is 3."""
    result = cli("eval", "run", NAME, "--data", data, "-e", dead, "--limit", "1")
    shown = dict(line.split() for line in result.stdout.splitlines())
    assert (result.exit_code, float(shown["hits_at_1"])) == (3, 0.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("metaqa-9hop", "--data", "data"), "no benchmark is called 'metaqa-9hop'"),
        ((NAME, "--data", "."), "--data names the folder"),
        ((NAME, "--data", "gone"), "Directory 'gone' does not exist"),
        ((NAME,), "Missing option '--data'"),
        ((NAME, "--data", "data", "--limit", "0"), "--limit"),
        ((NAME, "--data", "data", "--json", "gone/out.json"), "there is no folder gone"),
    ],
)
def test_bad_input(cli: Cli, data: Path, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be run ends with 2 before anything is asked."""
    result = cli("eval", "run", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
