"""`fedkg eval run`: benchmarks from their files to result files and scores."""

import gzip
import json
import math
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Metric
from fedkg.bench.data.questions import Gold
from fedkg.bench.run import results
from fedkg.bench.run.record import GivenAnswer, QuestionRecord
from fedkg.cli.eval.run import _progress
from fedkg.core.usage import Usage
from tests.support.extras import needs

Cli = Callable[..., Result]
NAME = "metaqa-1hop"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The benchmark's files, with one film, one question that can be answered and one that cannot."""
    place = tmp_path / "data"
    place.mkdir()
    ask = {"topic_entities": [{"iri": "http://ex.org/momo", "label": "Momo"}], "question": "who directed Momo"}
    rows = [
        ask | {"id": "1", "answers": [{"iri": "http://ex.org/schaaf"}]},
        ask | {"id": "2", "answers": [{"iri": "http://ex.org/nobody"}]},
    ]
    asked(place, *rows)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    triples = [
        "<http://ex.org/momo> <http://ex.org/directed_by> <http://ex.org/schaaf> .",
        f'<http://ex.org/directed_by> {label} "directed by" .',
        f'<http://ex.org/momo> {label} "Momo" .',
    ]
    (place / definitions.find(NAME).graph).write_bytes(gzip.compress("\n".join([*triples, ""]).encode()))
    return place


def asked(data: Path, *rows: dict[str, Any]) -> None:
    """Replaces the questions."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (data / definitions.find(NAME).questions).write_bytes(gzip.compress(text.encode()))


def kingdom(data: Path, *topics: str) -> None:
    """Replaces the questions by one about the served kingdom for each of these topics."""
    right = [{"iri": "http://ex.org/rudolf"}]
    rows = [
        {
            "id": topic,
            "question": "who is king",
            "topic_entities": [{"iri": f"http://ex.org/{topic}"}],
            "answers": right,
        }
        for topic in topics
    ]
    asked(data, *rows)


def capitals(data: Path, number: int, *, alike: bool = False) -> None:
    """Replaces the questions by so many about the kingdom's capital, which are not the same unless they are `alike`."""
    gold = {"topic_entities": [{"iri": "http://ex.org/ruritania"}], "answers": [{"iri": "http://ex.org/strelsau"}]}
    questions = ["What is the capital of Ruritania" + (f", number {place}?" * (not alike)) for place in range(number)]
    asked(data, *(gold | {"id": str(place), "question": question} for place, question in enumerate(questions)))


def models(model: str, data: Path, graph: Path) -> tuple[str | Path, ...]:
    """The command that asks this model these questions of the kingdom."""
    return ("eval", "run", NAME, "--data", data, "-e", graph, "--model", model)


def figures(text: str) -> dict[str, str]:
    """The first figure of each line of the printed tables."""
    return {figure[1]: figure[2] for figure in re.finditer(r"(?m)^(\w+) +(-|[\d.]+)(?= |$)", text)}


def lines(file: Path) -> list[dict[str, Any]]:
    """The records of a result file."""
    return [json.loads(line) for line in file.read_text().splitlines()][1:]


def test_run_prints_the_scores(cli: Cli, data: Path) -> None:
    """Scores and how the questions ended; files that are not the published ones are named on stderr."""
    result = cli("eval", "run", NAME, "--data", data)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == [f"{NAME}: fidelis, local", "2 questions: 2 answered"]
    shown = figures(result.stdout)
    assert (shown["hits_at_1"], shown["path_validity"], shown["calls"]) == ("0.5000", "1.0000", "0.0000")
    assert all(line.startswith("note: ") for line in result.stderr.splitlines())


def test_the_result_file_holds_settings_and_records_and_no_path(cli: Cli, data: Path, tmp_path: Path) -> None:
    """Seed, limit and options reach it; nothing says where anything lay."""
    options = ("--limit", "1", "--seed", "7", "--beam", "2", "--out", tmp_path / "new" / "out")
    result = cli("eval", "run", NAME, "--data", data, *options)
    file = tmp_path / "new" / "out" / f"{NAME}.jsonl"
    stored = results.read(file)
    assert result.stderr.splitlines()[-1] == f"results: {file}"
    assert (stored.header.limit, stored.header.seed, stored.header.settings["search"]["beam"]) == (1, 7, 2)
    assert len(stored.records) == 1
    assert str(tmp_path) not in file.read_text()


def test_json_is_one_document(cli: Cli, data: Path, tmp_path: Path) -> None:
    """`--json` prints the summaries of all benchmarks, each once however often it is named."""
    result = cli("eval", "run", NAME, NAME, "--data", data, "--json", "--out", tmp_path / "out")
    (shown,) = json.loads(result.stdout)
    assert (shown["benchmark"], shown["counts"]["questions"], shown["overall"]["measures"]["hit"]["mean"]) == (
        NAME,
        2,
        0.5,
    )
    assert len(lines(tmp_path / "out" / f"{NAME}.jsonl")) == 2


def test_own_endpoint(cli: Cli, data: Path, dead: str) -> None:
    """-e replaces the benchmark's graph; where every question fails, the exit code is 3."""
    result = cli("eval", "run", NAME, "--data", data, "-e", dead, "--limit", "1")
    assert (result.exit_code, figures(result.stdout)["hits_at_1"]) == (3, "0.0000")


def test_own_questions(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """A JSON Lines file with an endpoint is a benchmark; no more are drawn than there are, bad rows are left out."""
    rows = [{"question": "capital?", "topics": ["Ruritania"], "answers": ["Strelsau"]}, {"question": "who?"}]
    file = tmp_path / "own.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("eval", "run", f"custom:{file}", "-e", graph, "--limit", "99", "--json")
    refused = cli(*command)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "own.jsonl, line 2" in refused.stderr
    assert "--skip-bad" in refused.stderr
    result = cli(*command, "--skip-bad")
    (shown,) = json.loads(result.stdout)
    assert (shown["counts"]["questions"], shown["counts"]["left_out"], shown["overall"]["measures"]["hit"]["mean"]) == (
        1,
        1,
        1.0,
    )
    assert "left out: own.jsonl, line 2" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("metaqa-9hop", "--data", "data"), "no benchmark is called 'metaqa-9hop'"),
        ((NAME, "--data", "."), "--data names the folder"),
        ((NAME, "--data", "gone"), "Directory 'gone' does not exist"),
        ((NAME,), "--data names the folder"),
        ((NAME, "--data", "data", "--limit", "0"), "--limit"),
        ((NAME, "--data", "data", "--out", "file"), "is a file"),
        ((NAME, "--data", "data", "--out", "file/out"), "cannot write"),
        ((NAME, "--data", "data", "--out", "x" * 300), "cannot write"),
        ((NAME, "--data", "data", "--model", "nonsense:m"), "no model is called"),
        (
            (NAME, "--data", "data", "--executor", "ray", "--workers", "4", "--run-calls", "3"),
            "too small for 4 workers",
        ),
        ((NAME, "--data", "data", "--executor", "ray", "--transcript", "calls"), "written by this process only"),
    ],
)
def test_bad_input(cli: Cli, data: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """What cannot be run ends with 2 before anything is asked."""
    if "ray" in arguments:
        pytest.importorskip("ray", reason="ray is not installed")
    (tmp_path / "file").write_text("")
    result = cli("eval", "run", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_two_benchmarks_of_one_name_are_refused(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """They would write to one file."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.jsonl").write_text('{"question": "who?", "answers": ["x"]}\n')
    result = cli("eval", "run", "custom:a/own.jsonl", "custom:b/own.jsonl", "-e", graph, "--out", "out")
    assert (result.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert "the same name" in result.stderr


def test_another_run_is_not_mixed_in(cli: Cli, data: Path, served: Callable[..., Any]) -> None:
    """The file of other settings is refused before the endpoint is asked anything, and stays as it is."""
    kingdom(data, "ruritania")
    command = ("eval", "run", NAME, "--data", data, "--out", "out", "-e", served().url)
    assert cli(*command).exit_code == 0
    before = (data.parent / "out" / f"{NAME}.jsonl").read_bytes()
    endpoint = served()
    result = cli(*command[:-1], endpoint.url)
    assert (result.exit_code, endpoint.asked) == (2, 0)
    assert "holds another run (other endpoints)" in result.stderr
    assert "hint: name another folder with --out" in result.stderr
    assert (data.parent / "out" / f"{NAME}.jsonl").read_bytes() == before


def test_a_disk_that_is_full_is_said(cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was finished stays, and the same command goes on once there is room."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("fedkg.common.line_file.os.fsync", full)
        result = cli("eval", "run", NAME, "--data", data, "--out", "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"cannot write out/{NAME}.jsonl: No space left on device" in result.stderr
    assert cli("eval", "run", NAME, "--data", data, "--out", "out").exit_code == 0


def test_interrupt_keeps_the_finished_records(
    cli: Cli,
    data: Path,
    tmp_path: Path,
    served: Callable[..., Any],
    start: Callable[..., "subprocess.Popen[str]"],
) -> None:
    """Ctrl-C in the second question leaves the first one's record, and says so; the same command asks the second."""
    command = ("eval", "run", NAME, "--data", data, "--no-cache", "--out", "out", "-e")
    kingdom(data, "ruritania")
    first = served()
    assert cli(*command, first.url).exit_code == 0
    (tmp_path / "out" / f"{NAME}.jsonl").unlink()
    kingdom(data, "ruritania", "strelsau")
    endpoint = served(hold=first.asked + 1)
    running = start(*command, endpoint.url)
    assert endpoint.reached.wait(60)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    message = f"the finished questions are in out/{NAME}.jsonl; the same command asks the others"
    assert err.splitlines()[-2:] == ["interrupted", message]
    assert [record["id"] for record in lines(tmp_path / "out" / f"{NAME}.jsonl")] == ["ruritania"]
    endpoint.release.set()
    assert cli(*command, endpoint.url).exit_code == 0
    assert [record["id"] for record in lines(tmp_path / "out" / f"{NAME}.jsonl")] == ["ruritania", "strelsau"]


def test_answer_that_cannot_be_verified_counts_as_wrong(
    cli: Cli, data: Path, tmp_path: Path, served: Callable[..., Any]
) -> None:
    """An endpoint that fails after the answer makes an error of the record, whatever it had answered."""
    kingdom(data, "ruritania")

    def run(url: str, out: str) -> tuple[dict[str, Any], dict[str, Any]]:
        result = cli("eval", "run", NAME, "--data", data, "--no-cache", "--json", "--out", out, "-e", url)
        (record,) = lines(tmp_path / out / f"{NAME}.jsonl")
        return record, json.loads(result.stdout)[0]

    good, summary = run(served().url, "good")
    assert (good["status"], summary["overall"]["measures"]["path_validity"]["mean"]) == ("answered", 1.0)
    bad, summary = run(served(fail=good["usage"]["requests"] + 1).url, "bad")
    assert bad["error"].startswith("UnreachableError: ")
    assert bad["usage"]["requests"] == good["usage"]["requests"]
    assert (summary["counts"]["error"], summary["overall"]["measures"]["hit"]["mean"]) == (1, 0.0)
    assert "path_validity" not in summary["overall"]["measures"]


@needs("openai", "openai")
def test_why_questions_failed_is_said_once(cli: Cli, data: Path) -> None:
    """On stderr, each reason with how many questions it ended; the scores stay on stdout."""
    model = "openai:m@http://127.0.0.1:1/v1"
    result = cli("eval", "run", NAME, "--data", data, "--model", model)
    assert (result.exit_code, result.stdout.splitlines()[1]) == (
        3,
        "2 questions: 2 ended in an error, 2 of unknown price",
    )
    (message,) = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    assert message.startswith(f"2 questions failed: ModelUnreachableError: {model}: answer: Connection error")


def test_the_summary_has_tokens_and_price(
    cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means of a question; a price that is not known is said to be so."""
    capitals(data, 2)
    model = speaking("capital").model

    shown = figures(cli(*models(model, data, graph)).stdout)
    assert (shown["hits_at_1"], shown["calls"], shown["tokens"]) == ("1.0000", "3.0000", "3000.0000")
    assert shown["price"] == "0.0300"
    monkeypatch.delenv("FEDKG_MODELS_DIR")
    unknown = cli(*models(model, data, graph)).stdout
    assert unknown.splitlines()[1] == "2 questions: 2 answered, 2 of unknown price"
    assert re.search(r"(?m)^price +0 *$", unknown)


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
    model, (options, (calls, finished, spent)) = speaking("capital"), budget
    result = cli(*models(model.model, data, graph), "--json", "--out", "out", *options)
    assert (result.exit_code, model.asked) == (4, calls)
    records = lines(data.parent / "out" / f"{NAME}.jsonl")
    assert [record["id"] for record in records] == [str(number) for number in range(finished)]
    assert records[-1]["usage"].get("spent", "") == spent
    (shown,) = json.loads(result.stdout)
    assert (shown["counts"]["questions"], shown["counts"]["unasked"]) == (finished, 5 - finished)


def test_a_run_goes_on_with_more_to_spend(cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any]) -> None:
    """A larger budget is no other run: only the question that the smaller one ended is asked again."""
    capitals(data, 3)
    model = speaking("capital")
    command = (*models(model.model, data, graph), "--out", "out", "--json")
    assert cli(*command, "--run-calls", "4").exit_code == 4
    result = cli(*command, "--run-calls", "50")
    (shown,) = json.loads(result.stdout)
    assert (result.exit_code, shown["counts"]["answered"], shown["counts"]["spent"]) == (0, 3, {})
    assert model.asked == 9, "each question takes three calls, and those that were paid for are kept"


@pytest.fixture
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an executor; workers find the package where this process does."""
    name = str(request.param)
    if name == "ray":
        pytest.importorskip("ray", reason="ray is not installed")
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    return name


@pytest.mark.parametrize(
    ("where", "money", "counts"),
    [
        ("here", "0.095", [(2, 0), (2, 1), (0, 3)]),
        pytest.param("ray", "0.055", [(2, 0), (0, 3), (0, 3)], marks=pytest.mark.exhaustive),
    ],
    indirect=["where"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # what Ray leaves open when it ends
def test_a_budget_is_that_of_all_benchmarks(
    cli: Cli,
    data: Path,
    graph: Path,
    speaking: Callable[[str], Any],
    *,
    where: str,
    money: str,
    counts: list[tuple[int, int]],
) -> None:
    """A cent a call, three calls a question: what the first benchmark has spent the second cannot spend again."""
    capitals(data, 2)
    model, rows = speaking("capital"), [{"topics": ["Ruritania"], "answers": ["Strelsau"]}] * 3
    text = "".join(json.dumps(row | {"question": f"Which capital, number {at}?"}) + "\n" for at, row in enumerate(rows))
    for name in ("own", "last"):
        (data / f"{name}.jsonl").write_text(text)
    command = ("eval", "run", NAME, f"custom:{data / 'own.jsonl'}", f"custom:{data / 'last.jsonl'}", "--data", data)
    how = ("-e", graph, "--model", model.model, "--executor", where, "--workers", "1", "--json", "--run-money", money)
    result = cli(*command, *how)
    shown = json.loads(result.stdout)
    assert (result.exit_code, model.asked) == (4, math.ceil(float(money) / 0.01))
    assert [(summary["counts"]["questions"], summary["counts"]["unasked"]) for summary in shown] == counts


def test_errors_are_asked_again_where_that_is_wanted(
    cli: Cli, data: Path, tmp_path: Path, served: Callable[..., Any]
) -> None:
    """An endpoint that was down ends no run: the same command leaves the error, `--retry-errors` asks its question."""
    file, endpoint = tmp_path / "out" / f"{NAME}.jsonl", served()
    command = ("eval", "run", NAME, "--data", data, "--no-cache", "--json", "--out", "out", "-e", endpoint.url)
    kingdom(data, "ruritania")
    assert cli(*command).exit_code == 0
    file.unlink()
    kingdom(data, "ruritania", "strelsau")
    endpoint.fail = 2 * endpoint.asked + 1
    ends = []
    for options in ((), (), ("--retry-errors",)):
        (shown,) = json.loads(cli(*command, *options).stdout)
        ends.append((len(lines(file)), shown["counts"]["error"] + shown["counts"]["failed"]))
        endpoint.fail = 0
        assert cli("endpoints", "forget", endpoint.url).exit_code == 0, "it would be left alone for a while"
    assert ends == [(2, 1), (2, 1), (3, 0)]
    assert [record.id for record in results.read(file).records] == ["ruritania", "strelsau"]


@pytest.mark.parametrize(("metric", "label"), [("hits_at_1", "hits_at_1 1.000"), ("f1", "f1 0.667")])
def test_the_bar_has_the_measure_of_the_benchmark(metric: Metric, label: str) -> None:
    """The one that its papers lead with, as a mean so far, and what was spent."""
    shown: list[tuple[int, str]] = []
    gold = (Gold("A", "http://x/a"), Gold("B", "http://x/b"))
    answered = QuestionRecord(
        id="1",
        question="who?",
        kind="entities",
        status="answered",
        gold=gold,
        answers=(GivenAnswer("http://x/a", "A"),),
        usage=Usage(price=0.5),
    )
    _progress(lambda *progress: shown.append(progress), metric)([answered])
    assert shown == [(1, f"{label}, $0.5000")]


def test_a_budget_that_suffices_ends_nothing(cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any]) -> None:
    """Every question is asked, although the last one has taken the last call."""
    capitals(data, 2)
    model = speaking("capital")
    assert (cli(*models(model.model, data, graph), "--run-calls", "6").exit_code, model.asked) == (0, 6)


def test_kept_replies_cost_the_run_nothing(cli: Cli, data: Path, graph: Path, speaking: Callable[[str], Any]) -> None:
    """Questions that were asked before are answered from the cache, beyond what the run may spend now."""
    capitals(data, 4, alike=True)
    model = speaking("capital")
    result = cli(*models(model.model, data, graph), "--run-calls", "4", "--max-calls", "3", "--out", "out")
    assert (result.exit_code, model.asked) == (0, 3)
    usages = [record["usage"] for record in lines(data.parent / "out" / f"{NAME}.jsonl")]
    assert [(usage["model_calls"], round(usage["price"], 9)) for usage in usages] == [(3, 0.03)] * 4


@needs("openai", "openai")
def test_what_a_failed_question_cost(cli: Cli, data: Path, graph: Path, dead: str) -> None:
    """A question that a model's failure ends has its calls in its record, and its cost in the means."""
    capitals(data, 1)
    model = f"openai:m@{dead.removesuffix('/sparql')}/v1"
    (shown,) = json.loads(cli(*models(model, data, graph), "--json", "--out", "out").stdout)
    (record,) = lines(data.parent / "out" / f"{NAME}.jsonl")
    assert record["error"].startswith("ModelUnreachableError: ")
    assert (record["usage"]["model_calls"], record["usage"].get("price")) == (1, None)
    measures = shown["overall"]["measures"]
    assert (measures["calls"]["mean"], "price" in measures) == (1.0, False)


def test_money_is_not_spent_unasked(cli: Cli, data: Path, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can be asked whether a vendor's price is all right, nothing is run; --yes says it."""
    capitals(data, 2)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    result = cli(*models("anthropic:claude-opus-4-5", data, graph), "--out", "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.search(r"error: metaqa-1hop: about \d+ calls, [\d,]+ tokens, .*this was not confirmed", result.stderr)
    assert "hint: say it with --yes" in result.stderr
    assert not (data.parent / "out").exists()
