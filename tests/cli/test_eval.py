import gzip
import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    ],
)
def test_bad_input(cli: Cli, data: Path, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be run ends with 2 before anything is asked."""
    result = cli("eval", "run", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def kingdom(data: Path, *topics: str) -> None:
    """Replaces the questions by one about the served kingdom for each of these topics."""
    rows = [
        {"id": topic, "question": "who is king", "topic_entities": [{"iri": f"http://ex.org/{topic}"}], "answers": []}
        for topic in topics
    ]
    write(data / datasets.find(NAME).questions, "".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("out", ["gone/out.json", "file/out.json", "taken.json", "x" * 255])
def test_file_that_cannot_be_written(
    cli: Cli, data: Path, tmp_path: Path, served: Callable[..., Any], out: str
) -> None:
    """It is refused with a hint before the endpoint is asked anything."""
    (tmp_path / "file").write_text("")
    (tmp_path / "taken.json.part").mkdir()
    endpoint = served()
    result = cli("eval", "run", NAME, "--data", data, "-e", endpoint.url, "--json", out)
    assert (result.exit_code, result.stdout, endpoint.asked) == (2, "", 0)
    assert result.stderr.startswith(f"error: cannot write {out}.part: "[:200])
    assert "hint: --json" in result.stderr


def test_finished_run_leaves_no_draft(cli: Cli, data: Path, tmp_path: Path) -> None:
    """What an earlier run has left is gone too, and a device is written as it is."""
    (tmp_path / "out.json.part").write_text("old")
    assert cli("eval", "run", NAME, "--data", data, "--json", "out.json").exit_code == 0
    assert cli("eval", "run", NAME, "--data", data, "--json", "/dev/null").exit_code == 0
    assert [path.name for path in tmp_path.glob("out*")] == ["out.json"]


def test_failed_run_without_records_leaves_no_draft(cli: Cli, data: Path, tmp_path: Path) -> None:
    """Where nothing is finished, there is nothing to name."""
    result = cli("eval", "run", NAME, "--data", data, "-e", "nonsense", "--json", "out.json")
    assert result.exit_code == 2
    assert "out.json" not in result.stderr
    assert not list(tmp_path.glob("out*"))


def test_interrupt_keeps_the_finished_records(
    cli: Cli,
    data: Path,
    tmp_path: Path,
    served: Callable[..., Any],
    start: Callable[..., "subprocess.Popen[str]"],
) -> None:
    """Ctrl-C in the second question leaves the first one's record in OUT.part, and says so; there is no OUT."""
    command = ("eval", "run", NAME, "--data", data, "--no-cache", "--json", "out.json", "-e")
    kingdom(data, "ruritania")
    first = served()
    assert cli(*command, first.url).exit_code == 0
    (tmp_path / "out.json").unlink()
    kingdom(data, "ruritania", "rudolf")
    endpoint = served(hold=first.asked + 1)
    running = start(*command, endpoint.url)
    assert endpoint.reached.wait(60)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert err.splitlines() == ["interrupted", "the finished records are in out.json.part, one a line"]
    [line] = (tmp_path / "out.json.part").read_text().splitlines()
    assert json.loads(line)["id"] == "ruritania"
    assert not (tmp_path / "out.json").exists()


def test_answer_that_cannot_be_verified_counts_as_wrong(cli: Cli, data: Path, served: Callable[..., Any]) -> None:
    """An endpoint that fails after the answer makes an error of the record, whatever it had answered."""
    kingdom(data, "ruritania")
    path = data / datasets.find(NAME).questions
    gold = [{"iri": "http://ex.org/rudolf"}, {"iri": "http://ex.org/michael"}]
    write(path, json.dumps(json.loads(gzip.decompress(path.read_bytes())) | {"answers": gold}))

    def run(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
        result = cli("eval", "run", NAME, "--data", data, "--no-cache", "--json", "-", "-e", url)
        shown = json.loads(result.stdout)
        return shown["records"][0], shown["summary"]

    good, summary = run(served().url)
    assert (good["score"]["f1"], good["error"], summary["path_validity"]) == (1.0, "", 1.0)
    bad, summary = run(served(fail=good["usage"]["requests"] + 1).url)
    assert bad["answers"] == good["answers"]
    assert bad["error"].startswith("UnreachableError: ")
    assert set(bad["score"].values()) == {0.0}
    assert (summary["errors"], summary["hits_at_1"], summary["path_validity"]) == (1, 0.0, None)


def test_why_questions_failed_is_said_once(cli: Cli, data: Path) -> None:
    """On stderr, each reason with how many questions it ended; the scores stay on stdout."""
    model = "openai:m@http://127.0.0.1:1/v1"
    result = cli("eval", "run", NAME, "--data", data, "--model", model)
    assert (result.exit_code, result.stdout.split()[5]) == (3, "2")
    (said,) = result.stderr.splitlines()
    assert said.startswith(f"2 questions failed: ModelUnreachableError: {model}: plan: Connection error")


def test_validity_of_no_edges(cli: Cli, data: Path, served: Callable[..., Any]) -> None:
    """Where no edge was shown the share that holds is not known, and shown as a dash."""
    kingdom(data, "nobody")
    result = cli("eval", "run", NAME, "--data", data, "-e", served().url)
    assert dict(line.split() for line in result.stdout.splitlines())["path_validity"] == "-"


def capitals(data: Path, number: int, *, alike: bool = False) -> None:
    """Replaces the questions by so many about the kingdom's capital, which are not the same unless they are `alike`."""
    gold = {"topic_entities": [{"iri": "http://ex.org/ruritania"}], "answers": [{"iri": "http://ex.org/strelsau"}]}
    asked = ["What is the capital of Ruritania" + (f", number {place}?" * (not alike)) for place in range(number)]
    rows = [gold | {"id": str(place), "question": question} for place, question in enumerate(asked)]
    write(data / datasets.find(NAME).questions, "".join(json.dumps(row) + "\n" for row in rows))


def models(model: str, data: Path, graph: Path) -> tuple[str | Path, ...]:
    """The command that asks this model these questions of the kingdom."""
    return ("eval", "run", NAME, "--data", data, "-e", graph, "--model", model)


def test_the_summary_has_tokens_and_price(
    cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means of a question; a price that is not known is a dash."""
    capitals(data, 2)
    model = speaking("capital").model

    def run() -> dict[str, str]:
        return dict(line.split() for line in cli(*models(model, data, graph)).stdout.splitlines())

    shown = run()
    assert (shown["hits_at_1"], shown["model_calls"], shown["tokens"]) == ("1.0000", "3.0000", "3000.0000")
    assert (shown["price"], shown["unasked"]) == ("0.030000", "0")
    monkeypatch.delenv("FEDKG_MODELS_DIR")
    assert run()["price"] == "-"


@pytest.mark.parametrize(
    "budget",
    [
        (("--run-calls", "4"), (4, 2, "run calls")),
        (("--run-calls", "6"), (6, 2, "")),
        (("--run-tokens", "3500"), (4, 2, "run tokens")),
        (("--run-money", "0.035"), (4, 2, "run money")),
        (("--run-seconds", "0.000001"), (0, 1, "run seconds")),
    ],
)
def test_the_budget_of_a_run_ends_it_cleanly(
    cli: Cli,
    graph: Path,
    speaking: Callable[[str], Any],
    data: Path,
    budget: tuple[tuple[str, str], tuple[int, int, str]],
) -> None:
    """What was asked until then is written and scored, the rest is counted, and the exit code is 4."""
    capitals(data, 5)
    model, (options, (asked, finished, spent)) = speaking("capital"), budget
    result = cli(*models(model.model, data, graph), "--json", "out.json", *options)
    assert (result.exit_code, model.asked, result.stderr) == (4, asked, "")
    shown = json.loads((data.parent / "out.json").read_text())
    assert [record["id"] for record in shown["records"]] == [str(number) for number in range(finished)]
    assert shown["records"][-1]["usage"]["spent"] == spent
    assert (shown["summary"]["questions"], shown["summary"]["unasked"]) == (finished, 5 - finished)
    assert dict(line.split() for line in result.stdout.splitlines())["unasked"] == str(5 - finished)


def test_a_budget_that_suffices_ends_nothing(cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any]) -> None:
    """Every question is asked, although the last one has taken the last call."""
    capitals(data, 2)
    model = speaking("capital")
    assert (cli(*models(model.model, data, graph), "--run-calls", "6").exit_code, model.asked) == (0, 6)


def test_kept_replies_cost_the_run_nothing(cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any]) -> None:
    """Questions that were asked before are answered from the cache, beyond what the run may spend now."""
    capitals(data, 4, alike=True)
    model = speaking("capital")
    result = cli(*models(model.model, data, graph), "--run-calls", "4", "--max-calls", "3", "--json", "-")
    assert (result.exit_code, model.asked) == (0, 3)
    usages = [record["usage"] for record in json.loads(result.stdout)["records"]]
    assert [(usage["model_calls"], round(usage["price"], 9)) for usage in usages] == [(3, 0.03)] * 4


def test_what_a_failed_question_cost(cli: Cli, data: Path, graph: Path, dead: str) -> None:
    """A question that a model's failure ends has its calls in its record, and its cost in the means."""
    capitals(data, 1)
    model = f"openai:m@{dead.removesuffix('/sparql')}/v1"
    shown = json.loads(cli(*models(model, data, graph), "--json", "-").stdout)
    [record] = shown["records"]
    assert record["error"].startswith("ModelUnreachableError: ")
    assert (record["usage"]["model_calls"], record["usage"]["price"], shown["summary"]["price"]) == (1, None, None)
