"""What the documents in docs/ say is so: their examples are followed, their tables are those of the code."""

import ast
import asyncio
import contextlib
import itertools
import json
import os
import re
import shlex
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from click.testing import CliRunner

import fedkg
from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.formats import JsonLinesRow
from fedkg.bench.run.ablation import Grid
from fedkg.bench.scoring.error_classes import FAULTS
from fedkg.bench.scoring.summary import MEASURES
from fedkg.cli.main import main
from fedkg.common.retry import LONGEST
from fedkg.config import profiles
from fedkg.config.profiles import Profile
from fedkg.config.settings import Budget, SearchSettings, Settings
from fedkg.core.choice import PromptCandidate
from fedkg.core.events import Event
from fedkg.core.question import Kind, Mention, Plan
from fedkg.core.usage import ModelCall
from fedkg.engine.estimate import Asked, estimate
from fedkg.engine.handlers.base import UNUSABLE
from fedkg.errors import EndpointError, FedkgError, ModelError, ModelReplyError
from fedkg.graph import identity
from fedkg.llm import capability, prices, sdk
from fedkg.llm.base import Capability
from fedkg.llm.hf import VENDOR
from fedkg.llm.prices import Price
from fedkg.llm.sdk import MODEL_KEY, WireModel
from fedkg.methods.registry import METHODS
from fedkg.reasoner.base import call_kinds
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall, InductiveCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.calls.link import LinkCall
from fedkg.reasoner.calls.model_only import ModelOnlyCall
from fedkg.reasoner.calls.plan import PlanCall
from fedkg.reasoner.calls.reasoning_paths import ReasoningPathsCall
from fedkg.reasoner.calls.relation_paths import RelationPathsCall
from fedkg.reasoner.calls.scores import ScoreEntitiesCall, ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts import library, template
from fedkg.reasoner.prompts.library import PromptLibrary
from fedkg.reasoner.prompts.template import PromptTemplate
from fedkg.retrieval import registry as retrievers
from fedkg.testing import ScriptedModel
from fedkg.wiring.adapters import CHAT_MODELS
from tests import signatures

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ENDPOINTS, MODELS, PROMPTS, WAYS, BENCHMARKS, PYTHON = (
    (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for name in ("endpoints", "models", "prompts", "methods", "benchmarks", "python")
)
URL, MODEL_URL, OLLAMA = "http://127.0.0.1:7878/query", "http://127.0.0.1:8000", "http://127.0.0.1:11434"

PARTS = ["Paper", "What differs", "Cost", "When to use it", "Models"]
"""What the page of a method consists of."""


def blocks(text: str, language: str) -> list[str]:
    """The code blocks in that language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def transcripts(text: str) -> list[tuple[str, list[str]]]:
    """Each command that is shown, with the lines that it is shown to print."""
    found = (re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", block) for block in blocks(text, "console"))
    return [(command, shown.splitlines()) for block in found for command, shown in block]


def sections(text: str) -> dict[str, str]:
    """The document's sections by their headings; a line of a console that looks like one has no empty line before it."""
    return dict(part.split("\n", 1) for part in text.split("\n\n## ")[1:])


def rows(text: str) -> dict[str, list[str]]:
    """The rows of the tables in a text, by what stands in code marks in the first cell."""
    cells = ([cell.strip() for cell in row.split(" | ")] for row in re.findall(r"(?m)^\| (`.*) \|$", text))
    return {first.strip("`"): rest for first, *rest in cells}


def run(command: str) -> tuple[int, str]:
    """The exit code of a command and what it prints; what stands before it is its environment."""
    words = shlex.split(command)
    place = words.index("fedkg")
    variables = dict(word.split("=", 1) for word in words[:place])
    result = CliRunner().invoke(main, words[place + 1 :], env=variables)
    assert isinstance(result.exception, SystemExit | None), result.exc_info
    return result.exit_code, result.output


def follow(text: str, change: Callable[[str], str]) -> None:
    """Saves the files of a text, and types its commands: each ends as it is shown, and prints the lines that are shown."""
    for name, content in re.findall(r"[Ss]ave\s+this\s+as\s+`([\w./-]+)`[^`]*```\w+\n(.*?)```", text, re.DOTALL):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    steps = [*transcripts(text), ("", [])]
    for (command, shown), (then, code) in itertools.pairwise(steps):
        if command == "echo $?":
            continue
        ended, printed = run(change(command))
        assert ended == int(code[0] if then == "echo $?" else 0), (command, printed)
        check_shown([change(line) for line in shown], printed)


def check_shown(lines: list[str], printed: str) -> None:
    """The lines stand in what was printed, in their order; `…` is anything, and so is what is printed after a line's end."""
    said = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in filter(None, lines):
        pattern = re.escape(" ".join(line.split())).replace("…", ".*").replace("\\ .*", ".*")
        assert any(re.match(pattern, one) for one in said), (line, printed)


def programs(text: str) -> list[tuple[str, str]]:
    """Each Python program of a text, with what the block behind it says that it prints."""
    return re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)


def keys(prefix: str, kind: type[msgspec.Struct]) -> Iterator[tuple[str, Any]]:
    """Every key of a profile by its dotted name, with its default."""
    for field in msgspec.structs.fields(kind):
        default = field.default
        if isinstance(default, msgspec.Struct):
            yield from keys(f"{prefix}{field.name}.", type(default))
        elif field.name != "source":
            yield f"{prefix}{field.name}", list(default) if isinstance(default, tuple) else default


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to follow a document in, without proxies; BM25 needs no weights."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FEDKG_EMBEDDER", "bm25")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def books(oxigraph: Callable[..., AbstractContextManager[str]], here: Path) -> Iterator[str]:
    """The document's graph on a real server, its profile in the folder `profiles`; the server's URL."""
    [graph], [profile, *_] = blocks(ENDPOINTS, "ntriples"), blocks(ENDPOINTS, "toml")
    (here / "books.nt").write_text(graph)
    (here / "profiles").mkdir()
    with oxigraph([here / "books.nt"]) as url:
        (here / "profiles" / "books.toml").write_text(profile.replace(URL, url))
        yield url


@contextlib.contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The handler on a free port of this machine; its URL."""
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def trick() -> dict[str, Any]:
    """What the program `trick.py` defines, as it stands in the document."""
    [program] = (code for code, _ in programs(MODELS) if "class Wire" in code)
    names: dict[str, Any] = {"__name__": "trick"}
    exec(program, names)
    return names


@pytest.fixture
def model(here: Path, trick: dict[str, Any]) -> Iterator[str]:
    """The document's model on a free port; its URL without /v1."""
    pytest.importorskip("openai", reason="needs fedkg[openai]")
    with served(trick["Wire"]) as url:
        yield url


@pytest.fixture
def ollama(trick: dict[str, Any]) -> Iterator[str]:
    """The same trick on Ollama's own wire."""

    class Chat(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            assert (self.path, asked["stream"], asked["options"]["num_ctx"]) == ("/api/chat", False, 8192)
            text = json.dumps(trick["reply"](asked["format"], asked["messages"][-1]["content"]))
            said = {"message": {"content": text}, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3}
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

    with served(Chat) as url:
        yield url


@pytest.mark.parametrize(("command", "shown"), transcripts(ENDPOINTS))
def test_an_endpoint_is_added_as_told(books: str, command: str, shown: list[str]) -> None:
    """Each command, as it stands there, prints the lines that the document shows, in their order."""
    code, output = run(command.replace(URL, books))
    assert code == 0, output
    check_shown([line.replace(URL, books) for line in shown], output)


def test_the_example_goes_from_an_examination_to_an_answer() -> None:
    """The document shows the doctor before and after the profile was written, and a question."""
    assert [command.split()[1] for command, _ in transcripts(ENDPOINTS)] == ["endpoints", "endpoints", "ask"]


def test_every_key_is_told_with_its_default() -> None:
    """The tables name every key of a profile, and nothing else, with the default that the code has."""
    told = dict(re.findall(r"(?m)^\| `([\w.]+)` \| (`[^|]*`|the file's name) \|", ENDPOINTS))
    assert told.pop("name") == "the file's name"
    known = dict(keys("", Profile))
    del known["name"]
    assert {key: tomllib.loads(f"value = {default.strip('`')}")["value"] for key, default in told.items()} == known


def test_the_examples_in_toml_fit() -> None:
    """A profile and a table of identities, as they stand in the document, are accepted."""
    for block in blocks(ENDPOINTS, "toml"):
        assert profiles.parse(block, "docs/endpoints.md", "books").shape.labels.predicates
    assert [identity.parse(block, "docs/endpoints.md") for block in blocks(ENDPOINTS, "text")]


def test_every_error_of_an_endpoint_is_told() -> None:
    """The table of errors names each class that an endpoint's failure may become, and says what happens by itself."""
    table = sections(ENDPOINTS)["What errors mean"]
    told = dict(re.findall(r"(?m)^\|[^|]*\| `(\w+)`[^|]*\| ([^|]*) \|", table))
    assert told.keys() == {kind.__name__ for kind in EndpointError.__subclasses__()}
    for kind in EndpointError.__subclasses__():
        assert ("reshape" in told[kind.__name__]) == (kind.action.name == "RESHAPE")


@pytest.mark.parametrize("heading", [name for name, text in sections(MODELS).items() if transcripts(text)])
def test_the_commands_about_models_do_what_is_shown(model: str, heading: str) -> None:
    """Section by section, with the files that it has the reader save."""
    follow(sections(MODELS)[heading], lambda text: text.replace(MODEL_URL, model))


@pytest.mark.parametrize(("program", "printed"), [pair for pair in programs(MODELS) if pair[1]])
def test_the_programs_about_models_print_what_is_shown(model: str, ollama: str, program: str, printed: str) -> None:
    """A run with a budget, and a vendor of one's own, on servers of this machine."""
    out = StringIO()
    with contextlib.redirect_stdout(out):
        exec(program.replace(MODEL_URL, model).replace(OLLAMA, ollama), {"__name__": "__main__"})
    assert [line.rstrip() for line in out.getvalue().splitlines()] == printed.splitlines()


def test_every_name_of_a_model_is_told_with_its_variables() -> None:
    """Each vendor of the command line, with the variables of its key and its URL."""
    told = rows(sections(MODELS)["Choose a model"])
    assert {name.partition(":")[0] for name in told} == {"local", VENDOR, *CHAT_MODELS}
    for name, kind in CHAT_MODELS.items():
        assert told[f"{name}:MODEL"][1:] == [f"`{kind.vendor.key}`", f"`{kind.vendor.url}`"]
        assert MODEL_KEY in told[f"{name}:MODEL@URL"][1]


def test_every_part_of_a_budget_is_told_with_its_flags() -> None:
    """For a question and for a run."""
    told = rows(sections(MODELS)["Set a budget"])
    assert tuple(told) == Budget.__struct_fields__
    helps = {name: run(f"fedkg {name} --help")[1] for name in ("ask", "eval run")}
    for part, (question, whole, _) in told.items():
        for text, prefix, command in ((question, "budget", "ask"), (whole, "run", "eval run")):
            flag, setting = re.findall(r"`([^`]*)`", text)[:2]
            assert setting == f"{prefix}.{part}"
            assert flag in helps[command]


def test_every_field_of_the_ledger_is_told() -> None:
    """The table has the fields of a line, and the example is one; its tokens are priced as the table has them."""
    text = sections(MODELS)["Read the ledger"]
    [example] = blocks(text, "json")
    call = msgspec.json.decode(example, type=ModelCall)
    assert set(rows(text)) == set(ModelCall.__struct_fields__) == set(json.loads(example))
    assert prices.price(call, prices.load()) == pytest.approx(call.price)


def test_every_key_of_a_price_is_told() -> None:
    """As TOML has them."""
    assert set(rows(sections(MODELS)["The price table"])) == set(Price.__struct_encode_fields__)


def test_every_key_of_a_capability_record_is_told_with_its_default() -> None:
    """The table says what is expected of an unknown model."""
    told = {
        key: json.loads(default.strip("`"))
        for key, (default, _) in rows(sections(MODELS)["What a model can do"]).items()
    }
    assert told == msgspec.to_builtins(Capability())


def test_the_own_record_counts(tmp_path: Path) -> None:
    """The file of the document is accepted and laid over the bundled record."""
    [own] = blocks(sections(MODELS)["What a model can do"], "toml")
    (tmp_path / capability.FILE).write_text(own)
    name = "openai:qwen3-8b@http://127.0.0.1:8000/v1"
    before, after = capability.find(name), capability.find(name, str(tmp_path))
    assert (after.context, after.output) == (32_768, 4_096)
    assert after.structured == before.structured == "native"


def test_every_error_of_a_model_is_told() -> None:
    """Each class below ModelError: whether it is tried again, whether the question goes on, what a person can do."""
    told = rows(sections(MODELS)["What errors mean"])
    known = {kind.__name__: kind for kind in _below(ModelError)}
    assert told.keys() == known.keys()
    for name, (_, again, question, hint) in told.items():
        assert again == ("yes" if known[name].retryable else "no")
        assert question.startswith("goes on") == (known[name] in UNUSABLE)
        assert hint == known[name].default_hint


def _below(kind: type[ModelError]) -> Iterator[type[ModelError]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _below(sub)


def test_how_patient_a_wire_is_stands_in_the_document() -> None:
    """Seconds of a try and of a wait, tries, and requests at once."""
    text = sections(MODELS)["Retries, timeouts, concurrency"]
    numbers = {"three": sdk.TRIES, "four": sdk.CONCURRENCY}
    assert numbers == {"three": 3, "four": 4}
    assert all(word in text for word in numbers)
    assert {float(number) for number in re.findall(r"(\d+) s\b", text)} == {sdk.TIMEOUT, LONGEST, sdk.PATIENCE}


def test_what_a_vendor_has_to_write_is_told() -> None:
    """The steps to a vendor of the command line name what a WireModel leaves open."""
    text = sections(MODELS)["Add a vendor"]
    assert WireModel.__abstractmethods__ | {"vendor", "reply"} <= set(re.findall(r"`(\w+)`", text))


@pytest.mark.parametrize("heading", [name for name, text in sections(PROMPTS).items() if transcripts(text)])
def test_a_prompt_is_edited_as_told(model: str, heading: str) -> None:
    """Section by section: a sentence is changed, compared, rendered and used; labels are neutralised; mistakes are named."""
    follow(sections(PROMPTS)[heading], lambda text: text.replace(MODEL_URL, model))


def test_every_call_is_told() -> None:
    """With what `meta.toml` says of it, and the values that its template asks for."""
    told, given = (rows(sections(PROMPTS)[name]) for name in ("The calls", "What a template is given"))
    assert set(told) == set(given) == set(library.names())
    for call, (_, returns, paper) in told.items():
        meta = library.load(call).meta
        assert (returns, paper) == (meta.returns, meta.paper)
        assert call in call_kinds()


def test_who_asks_a_call_is_told() -> None:
    """Each method that walks a graph is named with the calls that it makes."""
    told = rows(sections(PROMPTS)["The calls"])
    searches = [
        SearchSettings(),
        SearchSettings(call_plan="paper"),
        SearchSettings(verifier="adequacy"),
        SearchSettings(retriever="tog"),
    ]
    for method in (method for method in METHODS.values() if method.graph):
        most = [method.most_calls(search, 1, retrievers.find(search.retriever)) for search in searches]
        made = {call for calls in most for call in calls} - {"answer"}
        assert all(method.title.partition(":")[0] in told[call][0] for call in made), method.title


async def test_every_value_of_a_template_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What each call gives its template is what the table says, and nothing else."""
    seen: dict[str, set[str]] = {}

    def render(self: PromptTemplate, **values: object) -> tuple[str, str]:
        seen[self.call] = set(values) - {"left_out"}
        return "", ""

    monkeypatch.setattr(PromptTemplate, "render", render)
    offers, plan = [PromptCandidate(1, "A → r → B")], Plan(())
    model = PromptedModel(ScriptedModel(lambda *_: ""))
    for call in (
        model.ask(PlanCall("q")),
        model.ask(LinkCall("q", [Mention("A", ())])),
        model.ask(ChooseCall("q", plan, offers, 1)),
        model.ask(BeamCall("q", plan, None, offers, 1)),
        model.ask(DeductiveCall("q", plan, offers)),
        model.ask(DeducibleCall("q", plan, offers[0])),
        model.ask(AnswerCall("q", plan, offers)),
        model.ask(AdequacyCall("q", plan, offers)),
        model.ask(ScoreRelationsCall("q", plan, None, offers)),
        model.ask(ScoreEntitiesCall("q", plan, offers)),
        model.ask(RelationPathsCall("q", plan, offers, 1, 1)),
        model.ask(ReasoningPathsCall("q", plan, offers, 1)),
        model.ask(InductiveCall("q", plan, offers, [""])),
        model.ask(ModelOnlyCall("q", "entities")),
    ):
        with pytest.raises(ModelReplyError):
            await call
    told = rows(sections(PROMPTS)["What a template is given"])
    assert {call: set(re.findall(r"`(\w+)`", values)) for call, [values] in told.items()} == seen


def test_every_kind_and_file_is_told() -> None:
    """The kinds of question; and only names of files that a prompt folder takes, with all that it needs."""
    told = rows(sections(PROMPTS)["What a folder holds"])
    assert set(get_args(Kind)) == {name for name in told if "." not in name}
    files = {name for row in told if "." in row for name in row.split("`, `")}
    assert set(library.NEEDED) <= files
    assert all(library.FILE.fullmatch(name.replace("KIND", "yesno").replace("VENDOR", "openai")) for name in files)


def test_the_example_of_an_example_fits(tmp_path: Path) -> None:
    """It is shown with the system text of the call."""
    example = next(block for block in blocks(PROMPTS, "toml") if "[[examples]]" in block)
    (tmp_path / "choose").mkdir()
    (tmp_path / "choose" / "examples.toml").write_text(example, encoding="utf-8")
    system, _ = library.load("choose", str(tmp_path), kind="literal").render(
        **template.values(tomllib.loads(example)["examples"][0]["shown"])
    )
    assert "2. Momo → author → Michael Ende\n" in system


def test_every_method_has_a_page() -> None:
    """In the order of the table, each with the same parts; its links and its row are there."""
    pages = sections(WAYS)
    assert [name for name in pages if name in METHODS] == list(METHODS)
    assert list(rows(pages["Choose a method"])) == list(METHODS)
    links = re.findall(r"\[([\w-]+)\]\(#([\w-]+)\)", WAYS.partition("\n## ")[0])
    assert [anchor for name, anchor in links if name == anchor and name in METHODS] == list(METHODS)
    for name, method in METHODS.items():
        parts = re.findall(r"(?m)^\*\*(.*?)\.\*\*", pages[name])
        assert [part for part in parts if part != "Switches"] == PARTS
        assert all(word in pages[name] for word in re.findall(r"[A-Z]\w+ et al|FiDeLiS|section \d[.\d]*", method.paper))
        assert ("A language model." in pages[name]) == method.prompts


async def test_what_a_typical_question_costs_is_told() -> None:
    """Per method: its calls and requests as the estimate has them, its tokens within a tenth."""
    told = rows(sections(WAYS)["What a question costs"])
    assert list(told) == list(METHODS)
    asked = Asked("Who is the spouse of the director of King Kong?", named=True)
    for method, (calls, sent, requests) in told.items():
        cost = (await estimate(asked, Settings(method=method), ScriptedModel([]), PromptLibrary())).typical
        assert (int(calls), int(requests)) == (cost.calls, cost.requests)
        assert int(sent.replace(",", "")) == pytest.approx(cost.tokens_in, rel=0.1)


def test_the_table_of_methods_says_whom_they_ask() -> None:
    """The graph, and a language model or any."""
    told = rows(sections(WAYS)["Choose a method"])
    for name, method in METHODS.items():
        assert told[name][1:] == ["yes" if method.graph else "no", "no" if method.prompts else "yes"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("heading", [name for name, text in sections(WAYS).items() if transcripts(text)])
def test_the_methods_answer_as_shown(heading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page; the method that the document adds is added as told."""
    program, _ = programs(WAYS)[0]
    names: dict[str, Any] = {}
    exec(program, names)
    [entry] = re.findall(r'"([\w-]+)": first_hop\.METHOD', WAYS)
    monkeypatch.setitem(METHODS, entry, names["METHOD"])
    for command, shown in transcripts(sections(WAYS)[heading]):
        code, output = run(command)
        assert code == (2 if "error:" in output else 0), output
        check_shown(shown, output)


@pytest.mark.usefixtures("here")
def test_a_benchmark_goes_from_questions_to_a_proof() -> None:
    """Run, scored, compared, packed and replayed as shown, then reported."""
    for heading in ("From questions to a proof", "Report and ablate"):
        follow(sections(BENCHMARKS)[heading], lambda text: text)


def test_every_measure_and_class_of_error_is_told() -> None:
    """In the order in which they are printed."""
    assert tuple(rows(sections(BENCHMARKS)["Read the scores"])) == MEASURES
    told = rows(sections(BENCHMARKS)["Why an answer is wrong"])
    assert set(told) == set(FAULTS)


def test_every_key_of_a_definition_is_told_with_its_default() -> None:
    """As TOML has them; the example is a definition."""
    text = sections(BENCHMARKS)["Add a benchmark"]
    told = rows(text.partition("A definition is a TOML file")[2])
    fields = {field.name: field for field in msgspec.structs.fields(Definition)}
    assert set(told) == set(fields)
    for name, (default, _) in told.items():
        if default.startswith("`"):
            assert json.loads(default.strip("`")) == fields[name].default
        else:
            assert (default == "needed") == (fields[name].required)
    [example] = blocks(text, "toml")
    assert msgspec.convert(tomllib.loads(example), Definition).source.licence


def test_every_key_of_an_ablation_is_told() -> None:
    """The example is one, and its benchmarks are known or those of the document."""
    text = sections(BENCHMARKS)["Report and ablate"]
    told = {name.strip("[]") for name in rows(text)}
    assert told == {field.name for field in msgspec.structs.fields(Grid)}
    [example] = blocks(text, "toml")
    grid = msgspec.convert(tomllib.loads(example), Grid)
    assert set(grid.benchmarks) <= {*definitions.names(), "zoo.toml"}
    assert len(grid.changes) == 6


def test_every_benchmark_is_told_with_its_licence() -> None:
    """The table is that of the definitions; our tables are made from some of them."""
    told = rows(sections(BENCHMARKS)["The benchmarks, and their licences"])
    assert told == {name: [definitions.find(name).source.licence] for name in definitions.names()}
    _, command = blocks(sections(BENCHMARKS)["Reproduce our tables"], "sh")
    asked = shlex.split(command.replace("\\\n", " "))
    assert set(asked[3 : asked.index("--data")]) <= set(told)


def test_every_key_of_a_question_is_told() -> None:
    """Of a JSON Lines file."""
    text = sections(BENCHMARKS)["Add a benchmark"].partition("A definition is a TOML file")[0]
    told = {name for key in rows(text) for name in key.split("`, `")}
    assert told == {field.encode_name for field in msgspec.structs.fields(JsonLinesRow)}


@pytest.mark.parametrize(("program", "printed"), programs(PYTHON))
def test_the_programs_print_what_is_shown(here: Path, program: str, printed: str) -> None:
    """Each by itself, as in a script or, where it awaits, in a cell of a notebook; typed names are all there."""
    code = compile(program, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    out = StringIO()
    with contextlib.redirect_stdout(out):
        waiting = eval(code, {"__name__": "__main__"})
        if waiting is not None:
            asyncio.run(waiting)
    assert printed, "a program shows what it prints"
    check_shown(printed.splitlines(), out.getvalue())


def test_the_signatures_are_those_of_the_source() -> None:
    """`python tests/signatures.py` writes them anew."""
    assert signatures.regenerated(PYTHON) == PYTHON


def test_every_error_is_told_with_its_exit_code() -> None:
    """Each class directly below FedkgError."""
    told = rows(sections(PYTHON)["Errors"])
    assert {name: int(cells[-1]) for name, cells in told.items()} == {
        kind.__name__: kind.exit_code for kind in FedkgError.__subclasses__()
    }


def test_every_event_is_told() -> None:
    """By the name that it has in `fedkg`."""
    told = set(re.findall(r"`(\w+)`", sections(PYTHON)["Watch a walk"]))
    assert {kind.__name__ for kind in get_args(Event)} <= told & set(fedkg.__all__)


@pytest.mark.parametrize("document", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_what_a_document_names_exists(document: Path) -> None:
    """Sections that links lead to, and files and folders of the project."""
    text = document.read_text(encoding="utf-8")
    for name, anchor in re.findall(r"\]\(([\w./]*)#([\w-]+)\)", text):
        assert anchor in _anchors((document.parent / name if name else document).read_text(encoding="utf-8"))
    for name in re.findall(r"\]\(([\w./]+)(?:#[\w-]+)?\)", text):
        assert (document.parent / name).exists()
    for path in re.findall(r"`((?:endpoints|models|prompts|fedkg|tests|eval|cache)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path


def _anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"(?m)^##+ (.*)", text)}
