"""A benchmark packed here and replayed there: endpoint, model, keys and data folder are gone by then."""

import json
import re
import shutil
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from fedkg.bench.run import results
from tests.support.extras import needs

Cli = Callable[..., Result]
ROWS = [
    {"id": "capital", "question": "What is the capital of Ruritania?", "answers": [{"iri": "http://ex.org/strelsau"}]},
    {"id": "queen", "question": "Who is the spouse of Rudolf V?", "answers": [{"iri": "http://ex.org/flavia"}]},
    {"id": "nobody", "question": "Who is the king of Utopia?", "answers": [{"label": "More"}]},
]
RUN = ("eval", "run", "custom:questions.jsonl", "--out", "res")
PACK = ("eval", "pack", "res", "--out", "run.pack", "--definition", "custom:questions.jsonl")
REPLAY = ("eval", "replay", "run.pack")
NAME = "custom-questions"


@pytest.fixture(autouse=True)
def questions(tmp_path: Path) -> Path:
    """Three questions on the kingdom, one of them about elsewhere."""
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture(scope="module")
def packed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs the pack leaves its working folder for the others."""
    return tmp_path_factory.mktemp("packed") / "folder"


@pytest.fixture
def packed(cli: Cli, graph: Path, questions: Path, tmp_path: Path, packed_once: Path) -> str:
    """A pack of a run whose graph, questions and cache are gone; what packing printed."""
    if not packed_once.exists():
        assert cli(*RUN, "-e", graph).exit_code == 0
        result = cli(*PACK, "-e", graph)
        assert result.exit_code == 0, result.output
        (tmp_path / "printed").write_text(result.stdout)
        shutil.rmtree(tmp_path / "home" / "cache")
        shutil.copytree(tmp_path, packed_once)
    shutil.copytree(packed_once, tmp_path, dirs_exist_ok=True)
    graph.unlink()
    questions.unlink()
    return (tmp_path / "printed").read_text()


def altered(path: Path) -> None:
    """Has the result say that another one was queen."""
    path.write_text(path.read_text().replace('"key":"http://ex.org/flavia"', '"key":"http://ex.org/antoinette"'))


def rewritten(path: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    """Writes the pack anew with other members."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    change(held)
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in held.items():
            archive.writestr(name, value)


def test_a_pack_replays_without_anything_else(cli: Cli, packed: str, home: Path) -> None:
    """No difference is exit code 0; the cache here is left alone; the pack's digest is in the replayed result."""
    assert f"{NAME}: 3 questions asked again, no difference" in packed
    result = cli(*REPLAY, "--out", "again", "--concurrency", "2")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{NAME}: 3 questions asked again, no difference\n"
    assert not (home / "cache" / "store").exists()
    before, after = (results.read(Path(place) / f"{NAME}.jsonl") for place in ("res", "again"))
    assert [record.id for record in after.records] == [record.id for record in before.records]
    assert (len(after.header.pack), after.header.verified, before.header.verified) == (64, False, True)
    assert cli("eval", "compare", f"res/{NAME}.jsonl", f"again/{NAME}.jsonl").exit_code == 0


def test_a_pack_lists_what_it_holds(packed: str) -> None:
    """Entries by kind, and the licence of the questions, which of one's own is not known."""
    assert re.search(r"(?m)^  neighbours +[1-9]", packed)
    assert f"{NAME}: licence of questions and graph: not known" in packed
    assert re.search(r"1 result and \d+ entries written to run.pack", packed)


def test_the_same_pack_twice(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """The same result and cache give the same bytes, at any concurrency."""
    assert cli(*RUN, "-e", graph).exit_code == 0
    assert cli(*PACK, "-e", graph).exit_code == 0
    first = (tmp_path / "run.pack").read_bytes()
    assert cli(*PACK, "-e", graph, "--concurrency", "3").exit_code == 0
    assert (tmp_path / "run.pack").read_bytes() == first


def test_a_changed_record_is_reported(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """When it is packed, and whenever the pack is replayed: question and field, exit code 1."""
    assert cli(*RUN, "-e", graph).exit_code == 0
    altered(tmp_path / "res" / f"{NAME}.jsonl")
    for command in ((*PACK, "-e", graph), REPLAY):
        result = cli(*command)
        assert result.exit_code == 1
        assert "1 question came out otherwise" in result.stdout
        line = next(line for line in result.stdout.splitlines() if line.startswith("  queen: answers: "))
        assert line.index("antoinette") < line.index("flavia")
    [report] = json.loads(cli(*REPLAY, "--json").stdout)
    [difference] = report["differences"]
    assert (report["name"], report["questions"], difference["id"], difference["field"]) == (NAME, 3, "queen", "answers")


def test_many_differences_are_counted(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """The first are shown, in one line each, without what could steer a terminal."""
    rows = [{**ROWS[0], "id": f"q{number}"} for number in range(30)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli(*RUN, "-e", graph).exit_code == 0
    file = tmp_path / "res" / f"{NAME}.jsonl"
    file.write_text(file.read_text().replace('"status":"answered"', '"status":"\\u001b[31mred"'))
    result = cli(*PACK, "-e", graph)
    assert result.exit_code == 1
    assert "… and 10 more" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_cache_that_has_lost_it_cannot_prove_it(cli: Cli, graph: Path) -> None:
    """Each question that cannot be asked again is said; the pack is written all the same."""
    assert cli(*RUN, "-e", graph).exit_code == 0
    assert cli("cache", "clear", "--yes").exit_code == 0
    result = cli(*PACK, "-e", graph)
    assert result.exit_code == 1
    assert '"OfflineError" now' in result.stdout
    assert cli(*REPLAY).exit_code == 1


class Model(BaseHTTPRequestHandler):
    """An OpenAI-wire model that picks the first offer, and says that it is the answer."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][-1]["content"]
        offers = re.findall(r"(?m)^(\d+)\. .*capital", asked)
        text = json.dumps(
            {
                "keywords": ["capital"],
                "planning_steps": ["find it"],
                "declarative_statement": "*placeholder* is the capital of Ruritania.",
                "kind": "entities",
                "mentions": ["Ruritania"],
                "options": [],
                "links": [],
                "picks": [{"offer": int(number), "ends": []} for number in offers[:1]],
                "decides": True,
                "paths": [{"path": 1, "ends": []}],
            }
        )
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def model(questions: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """The model's URL, and how it is stopped; there is one question that it can answer."""
    questions.write_text(json.dumps(ROWS[0]) + "\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()

        def stop() -> None:
            server.shutdown()
            server.server_close()

        yield f"http://127.0.0.1:{server.server_port}/v1", stop
        stop()
        thread.join()


@needs("openai", "openai")
def test_a_model_and_an_endpoint_that_are_gone(
    cli: Cli, served: Callable[..., Any], model: tuple[str, Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the model nor its SDK is there, nor the server of the graph: the same answers, with the same tokens."""
    url, stop = model
    endpoint = served()
    assert cli(*RUN, "-e", endpoint.url, "--model", f"openai:m@{url}").exit_code == 0
    stop()
    asked = endpoint.asked
    assert cli(*PACK).exit_code == 0, "the URL of an endpoint is in the result"
    for package in ("openai", "sentence_transformers", "torch"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setenv("FEDKG_CACHE_DIR", "elsewhere")
    result = cli(*REPLAY, "--out", "again")
    assert (result.exit_code, endpoint.asked) == (0, asked), result.output
    [before], [after] = (results.read(Path(place) / f"{NAME}.jsonl").records for place in ("res", "again"))
    assert (after.status, after.answers[0].key) == ("answered", "http://ex.org/strelsau")
    assert (after.usage.tokens_in, after.usage.requests) == (before.usage.tokens_in, 0)
    assert before.usage.tokens_in > 0


@needs("openai", "openai")
def test_other_wordings_are_noted(cli: Cli, graph: Path, model: tuple[str, Callable[[], None]], tmp_path: Path) -> None:
    """The model was not asked in these words: its replies are not there, and the note says why."""
    assert cli(*RUN, "-e", graph, "--model", f"openai:m@{model[0]}").exit_code == 0
    assert cli(*PACK, "-e", graph).exit_code == 0
    (tmp_path / "words" / "choose").mkdir(parents=True)
    (tmp_path / "words" / "choose" / "system.j2").write_text("Choose, please.\n")
    result = cli(*REPLAY, "--prompts", "words")
    assert result.exit_code == 1
    assert "note: templates choose: " in result.stderr
    assert "OfflineError" in result.stdout


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "no whole pack"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"Strelsau", b"Neverland"[:8])), "no whole pack"),
        (lambda path: path.write_bytes(b""), "no whole pack"),
        (lambda path: path.unlink(), "No such file"),
        (lambda path: rewritten(path, lambda held: held.update({"../../evil": b""})), "does not list the member"),
        (lambda path: rewritten(path, lambda held: held.pop("manifest.json")), "no manifest.json"),
    ],
)
@pytest.mark.usefixtures("packed")
def test_a_damaged_pack_is_refused(cli: Cli, tmp_path: Path, damage: Callable[[Path], object], message: str) -> None:
    """Before any question is asked, and nothing is written."""
    damage(tmp_path / "run.pack")
    result = cli(*REPLAY, "--out", "again")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "hint: `fedkg eval pack" in result.stderr
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", ".hidden", "a/b", "", "x\n"])
@pytest.mark.usefixtures("packed")
def test_a_name_that_leads_elsewhere_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    """The names of documents become those of files with --out."""

    def change(held: dict[str, bytes]) -> None:
        manifest = json.loads(held["manifest.json"])
        manifest["documents"][0]["name"] = name
        held["manifest.json"] = json.dumps(manifest).encode()

    rewritten(tmp_path / "run.pack", change)
    result = cli(*REPLAY, "--out", "again")
    assert (result.exit_code, result.stdout) == (2, "")
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "evil.jsonl").exists()


@pytest.mark.usefixtures("packed")
def test_a_pack_that_is_too_large_needs_a_word(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is kept."""
    monkeypatch.setattr("fedkg.cli.eval.replay.MEGABYTE", 0)
    result = cli(*REPLAY)
    assert result.exit_code == 2
    assert "--max-size" in result.stderr


def test_a_pack_of_other_questions_is_none_of_results(cli: Cli, graph: Path) -> None:
    """What `cache export` writes has no benchmark in it."""
    assert cli("neighbours", "http://ex.org/rudolf", "-e", graph).exit_code == 0
    assert cli("cache", "export", "run.pack").exit_code == 0
    result = cli(*REPLAY)
    assert (result.exit_code, "holds no results" in result.stderr) == (2, True)


@pytest.mark.usefixtures("packed")
def test_the_cache_takes_a_pack_of_results(cli: Cli) -> None:
    """It is a pack like any other: what endpoints said is then kept here."""
    assert cli("cache", "import", "run.pack").exit_code == 0
    assert json.loads(cli("cache", "stats", "--json").stdout)["entries"]["neighbours"] > 0


def test_what_cannot_be_packed(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """An empty folder, two results of one name, a benchmark that is not known, another graph: each is said."""
    (tmp_path / "empty").mkdir()
    assert cli(*RUN, "-e", graph).exit_code == 0
    out = ("--out", "run.pack")
    assert "there is no result" in cli("eval", "pack", "empty", *out).stderr
    results.save(results.read(tmp_path / "res" / f"{NAME}.jsonl"), tmp_path / "zipped" / f"{NAME}.jsonl.gz")
    assert f"two results are called {NAME}\n" in cli("eval", "pack", "res", "zipped", *out).stderr
    assert "two results are called" in cli("eval", "pack", "res", f"res/{NAME}.jsonl", *out).stderr
    unknown = cli("eval", "pack", "res", *out).stderr
    assert "no benchmark is called" in unknown
    assert "hint: --definition" in unknown
    graph.write_text(graph.read_text() + "\n")
    result = cli(*PACK, "-e", graph)
    assert (result.exit_code, "other data" in result.stderr) == (2, True)
    assert not (tmp_path / "run.pack").exists()
