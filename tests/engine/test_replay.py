"""The law of packs: what was answered once is answered alike elsewhere, from the pack alone, with nobody asked."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from fedkg.bench.data import loaders
from fedkg.cache.disk import DiskStore
from fedkg.cache.journal import Journal
from fedkg.cache.pack import export_pack, import_pack
from fedkg.cli.main import main
from fedkg.config.resources import folder
from fedkg.config.settings import Settings
from fedkg.core.answer import Answer, Status, decode_answer
from fedkg.errors import MissingExtraError, OfflineError, SettingsError
from fedkg.session import Session
from fedkg.transport.offline import OfflineClient
from fedkg.wiring.adapters import open_store
from fedkg.wiring.endpoints import ConnectedEndpoint
from tests.support.extras import needs

ServeFiles = Callable[..., AbstractContextManager[str]]
KING = "Who is the spouse of the director of King Kong?"
NOBODY = "Who is the spouse of Zaphod Beeblebrox?"
PETS = """
<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .
<http://x/ann> <http://x/has_pet> <http://x/rex> .
<http://x/rex> <http://www.w3.org/2000/01/rdf-schema#label> "Rex"@en .
"""


async def asked(endpoint: Any, place: Path, question: str, topics: Any = (), **options: Any) -> Answer:
    """One question in a session of its own, with its cache in that folder."""
    async with Session(endpoint, cache_dir=str(place), **{"embedder": "bm25", **options}) as session:
        return await session.ask(question, topics)


def moved(here: Path, there: Path) -> Path:
    """Packs the latest run of one cache, puts it into the other one, which is empty; the pack."""
    pack = here.with_suffix(".pack")
    source, target = (open_store(Settings(cache_dir=str(place))) for place in (here, there))
    assert isinstance(source, DiskStore)
    assert isinstance(target, DiskStore)
    runs = Journal(source)
    export_pack(pack, source, runs.keys(runs.all()[-1].id))
    import_pack(pack, target)
    source.close()
    target.close()
    return pack


def document(answer: Answer) -> bytes:
    """The document as it is printed, apart from the time that it took and from where the model's replies came from."""
    usage = msgspec.structs.replace(answer.usage, seconds=0.0)
    ledger = tuple(msgspec.structs.replace(call, seconds=0.0, replayed=False) for call in answer.ledger)
    return msgspec.structs.replace(answer, usage=usage, ledger=ledger).to_json()


@pytest.mark.parametrize("embedder", ["bm25", "minilm"])
@pytest.mark.parametrize("warm_first", [True, False])
async def test_the_sample_offline(tmp_path: Path, embedder: str, warm_first: bool) -> None:
    """The document of a warm run, byte for byte, from the pack of a warm or of a cold run.

    Also the vectors come along.
    """
    here, there = tmp_path / "here", tmp_path / "there"
    try:
        cold = await asked("sample", here, KING, embedder=embedder)
    except MissingExtraError as error:
        pytest.skip(str(error))
    if not warm_first:
        moved(here, there)
    warm = await asked("sample", here, KING, embedder=embedder)
    if warm_first:
        moved(here, there)
    offline = await asked("sample", there, KING, embedder=embedder, mode="offline")
    assert (cold.usage.requests > 0, warm.usage.requests, offline.usage.labels_embedded) == (True, 0, 0)
    assert offline.status is Status.ANSWERED
    assert document(offline) == document(warm)


async def test_a_copy_of_the_file_is_the_same_graph(tmp_path: Path) -> None:
    """Where a file lies and when it was written is no matter; another content is another graph."""
    here, there = tmp_path / "a" / "pets.nt", tmp_path / "b" / "pets.nt"
    for file in (here, there):
        file.parent.mkdir()
        file.write_text(PETS)
    await asked(here, tmp_path / "cache", "Which pet has Ann?", ["Ann"])
    assert (await asked(there, tmp_path / "cache", "Which pet has Ann?", ["Ann"])).usage.requests == 0
    there.write_text(PETS.replace("Rex", "Max"))
    other = await asked(there, tmp_path / "cache", "Which pet has Ann?", ["Ann"])
    assert [value.value for value in other.answers] == ["Max"]


async def test_a_server_that_is_gone(data: Path, oxigraph: ServeFiles, tmp_path: Path) -> None:
    """Over HTTP from a real engine: the server is stopped, the cache is another one, the documents are the same."""
    questions = loaders.questions(data / "pathquestion-2h.jsonl", 5)
    options: dict[str, Any] = {"search.depth": 3, "cache_dir": str(tmp_path / "here"), "embedder": "bm25"}
    with oxigraph([data / "freebase-pathquestion.nt.gz"]) as url:
        endpoint = f"freebase@{url}"
        for _ in range(2):
            async with Session(endpoint, **options) as session:
                warm = [await session.ask(q.question, [topic.iri for topic in q.topic_entities]) for q in questions]
    moved(tmp_path / "here", tmp_path / "there")
    options |= {"cache_dir": str(tmp_path / "there"), "mode": "offline"}
    async with Session(endpoint, **options) as session:
        for question, known in zip(questions, warm, strict=True):
            answer = await session.ask(question.question, [topic.iri for topic in question.topic_entities])
            assert document(answer) == document(known)
        with pytest.raises(OfflineError, match="is not asked"):
            await session.ask("Who is the spouse of Peter Jackson?", ["Peter Jackson"])


async def test_linking_over_http_offline(oxigraph: ServeFiles, tmp_path: Path) -> None:
    """Topics that are looked for in the question, also those that nobody is called, are in the pack too."""
    sample = tmp_path / "sample.nt"
    sample.write_bytes(ntriples(folder("sample") / "graph.ttl"))
    for number, question in enumerate((KING, "What is the capital of New Zealand?")):
        here, there = tmp_path / f"here{number}", tmp_path / f"there{number}"
        with oxigraph([sample]) as url:
            endpoint = f"sample@{url}"
            await asked(endpoint, here, question)
            warm = await asked(endpoint, here, question)
        moved(here, there)
        assert document(await asked(endpoint, there, question, mode="offline")) == document(warm)
        with pytest.raises(OfflineError, match="search"):
            await asked(endpoint, there, NOBODY, mode="offline")


def ntriples(turtle: Path) -> bytes:
    """The file as N-Triples."""
    import pyoxigraph  # noqa: PLC0415  # only here

    store = pyoxigraph.Store()
    store.load(path=str(turtle))
    return store.dump(format=pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph()) or b""


async def test_what_failed_is_not_in_the_pack(tmp_path: Path) -> None:
    """An endpoint that was down left nothing: offline that is no gap and no "none", but said."""
    dead, topic = "http://127.0.0.1:9/sparql", "<http://x/ann>"
    failed = await asked(dead, tmp_path / "here", "Which pet has Ann?", [topic], **{"budget.seconds": 20.0})
    assert failed.status is Status.FAILED
    with pytest.raises(OfflineError, match=r"127\.0\.0\.1.* is not asked in offline mode") as caught:
        await asked(dead, tmp_path / "here", "Which pet has Ann?", [topic], mode="offline")
    assert "<http://x/ann>" in caught.value.asked


async def test_nothing_offline_can_ask(tmp_path: Path) -> None:
    """Each endpoint that is not a file is an Offline; no contact is wanted, since nobody is asked."""
    settings: dict[str, Any] = {"mode": "offline", "cache_dir": str(tmp_path), "embedder": "bm25"}
    async with Session("wikidata", "https://example.org/sparql", "sample", **settings) as session:
        await session.graph()
        members: list[ConnectedEndpoint] = list(session._services.members)
        assert [isinstance(member.select, OfflineClient) for member in members] == [True, True, False]
        assert all(isinstance(member.lookup, OfflineClient) for member in members if member.lookup)


@contextmanager
def model_server(asked: list[str]) -> Iterator[str]:
    """The base URL of an OpenAI-wire server on loopback that finds the spouse of a director; `asked` gets its prompts.

    One reply fits all calls: its parts are those that the calls read.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(body["messages"][-1]["content"])
            message = {"role": "assistant", "content": json.dumps(played(asked[-1]))}
            usage = {"prompt_tokens": 1_000 + len(asked), "completion_tokens": 7}
            reply = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}
            payload = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def played(prompt: str) -> dict[str, Any]:
    """What the model says to any of the calls: first the director, then the spouse, then that this is the answer."""
    offers = re.findall(r"(?m)^(\d+)\. (?:.*[→←] )?(director|spouse)(?: [→←]|:)", prompt)
    wanted = "spouse" if any(name == "spouse" for _, name in offers) and "director →" in prompt else "director"
    picks = [int(number) for number, name in offers if name == wanted][:1]
    return {
        "keywords": ["director", "spouse"],
        "planning_steps": ["find the director", "find the spouse"],
        "declarative_statement": "*placeholder* is the spouse of the director of King Kong.",
        "kind": "entities",
        "mentions": ["King Kong"],
        "options": [],
        "links": [{"mention": 1, "candidate": 1}],
        "picks": [{"offer": number, "ends": [0]} for number in picks],
        "decides": wanted == "spouse",
        "paths": [{"path": 1, "ends": []}],
    }


@pytest.mark.parametrize("served", [False, True])
@needs("openai", "openai")
async def test_a_run_with_a_model_replays_without_it(oxigraph: ServeFiles, tmp_path: Path, served: bool) -> None:
    """Model and engine are gone, there is no key: the same document, with the tokens that it cost at first."""
    sample, prompts, here = tmp_path / "sample.nt", list[str](), tmp_path / "here"
    sample.write_bytes(ntriples(folder("sample") / "graph.ttl"))
    with oxigraph([sample]) as url, model_server(prompts) as base:
        endpoint = f"sample@{url}" if served else "sample"
        options: dict[str, Any] = {"model": f"openai:m@{base}", "replies": True}
        cold = await asked(endpoint, here, KING, **options)
        calls = len(prompts)
        warm = await asked(endpoint, here, KING, **options)
    assert ([value.value for value in cold.answers], len(prompts)) == (["Fran Walsh"], calls)
    assert [call.replayed for call in warm.ledger] == [True] * calls
    assert (warm.usage.tokens_in, warm.usage.tokens_out) == (cold.usage.tokens_in, cold.usage.tokens_out)
    assert cold.usage.tokens_out == 7 * calls
    moved(here, tmp_path / "there")
    options = {"model": options["model"], "mode": "offline", "replies": False}
    offline = await asked(endpoint, tmp_path / "there", KING, **options)
    assert document(offline) == document(warm)
    with pytest.raises(OfflineError, match=r"openai:m.* is not asked in offline mode.*call `choose`"):
        await asked(endpoint, tmp_path / "there", "Who directed King Kong?", ["King Kong"], **options)


@needs("openai", "openai")
async def test_another_model_or_server_has_other_replies(tmp_path: Path) -> None:
    """A model of the same name at another URL is another one, also where the URL comes from the environment."""
    with model_server([]) as base:
        await asked("sample", tmp_path, KING, model=f"openai:m@{base}", replies=True)
    for other in ("openai:m@http://127.0.0.1:9/v1", f"openai:n@{base}", "openai:m"):
        with pytest.raises(OfflineError, match="is not asked in offline mode"):
            await asked("sample", tmp_path, KING, model=other, mode="offline")


@needs("openai", "openai")
async def test_replies_are_kept_where_that_is_wanted(tmp_path: Path) -> None:
    """Not by itself; where it is said, or in mode cached unless it is said otherwise; never on disk without a cache."""
    prompts: list[str] = []
    with model_server(prompts) as base:

        async def cost(**options: Any) -> int:
            before = len(prompts)
            await asked("sample", tmp_path, KING, model=f"openai:m@{base}", **options)
            return len(prompts) - before

        calls = await cost()
        assert calls > 1
        assert await cost(replies=True, cache=False) == calls
        assert [await cost(), await cost(replies=False, mode="cached")] == [calls, calls]
        assert [await cost(mode="cached"), await cost(replies=True), await cost(mode="cached")] == [calls, 0, 0]
        assert [await cost(), await cost(replies=False)] == [calls, calls]
        assert [await cost(replies=True, refresh=True), await cost(replies=True)] == [calls, 0]


@needs("openai", "openai")
async def test_a_run_without_its_replies_says_so(tmp_path: Path) -> None:
    """Its pack holds none, and offline the hint names what was left out."""
    with model_server([]) as base:
        await asked("sample", tmp_path / "here", KING, model=f"openai:m@{base}")
    moved(tmp_path / "here", tmp_path / "there")
    with pytest.raises(OfflineError) as caught:
        await asked("sample", tmp_path / "there", KING, model=f"openai:m@{base}", mode="offline")
    assert "only where it was asked with --replies" in caught.value.hint


@needs("openai", "openai")
def test_the_command_line_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ask --replies`, export, import, `ask --mode offline`: the same document; the export says what it holds."""
    monkeypatch.setenv("OPENAI_API_KEY", "k3y-s3cret")
    monkeypatch.setenv("FEDKG_EMBEDDER", "bm25")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(main, [*arguments], prog_name="fedkg")
        assert done.exit_code == 0, done.output
        return done.stdout

    pack, there = str(tmp_path / "p"), ("--cache-dir", str(tmp_path / "there"))
    with model_server([]) as base:
        ask = ("ask", KING, "-e", "sample", "--model", f"openai:m@{base}", "--json")
        run(*ask, "--replies")
        warm = decode_answer(run(*ask, "--replies").encode())
    export = run("cache", "export", pack)
    run("cache", "import", pack, *there)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert document(decode_answer(run(*ask, "--mode", "offline", *there).encode())) == document(warm)
    assert re.search(rf"  replies +{len(warm.ledger)}\n", export)
    assert b"k3y-s3cret" not in Path(pack).read_bytes()


def test_nothing_can_be_refreshed_offline() -> None:
    """That would be to ask nobody."""
    with pytest.raises(SettingsError, match="refreshed"):
        Session("sample", mode="offline", refresh=True)


async def test_a_pack_holds_no_secrets(oxigraph: ServeFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither contact, keys and passwords nor folders of this machine, in names or contents."""
    monkeypatch.setenv("OPENAI_API_KEY", "k3y-s3cret")
    monkeypatch.setenv("FEDKG_CONTACT", "c0ntact@example.org")
    graph = tmp_path / "f0lder" / "pets.nt"
    graph.parent.mkdir()
    graph.write_text(PETS)
    here = tmp_path / "f0lder" / "cache"
    with oxigraph([graph]) as url:
        endpoints = (graph, url.replace("http://", "http://us3r:pa55@") + "?token=t0ken")
        async with Session(*endpoints, cache_dir=str(here), embedder="bm25") as session:
            answer = await session.ask("Which pet has Ann?", ["Ann"])
    assert (answer.status, answer.gaps) == (Status.ANSWERED, ())
    pack = moved(here, tmp_path / "there").read_bytes()
    assert b"rex" in pack
    for secret in ("k3y-s3cret", "c0ntact", "f0lder", "us3r", "pa55", "t0ken", str(tmp_path)):
        assert secret.encode() not in pack


async def test_stale_entries_are_used_where_nobody_shall_be_bothered(tmp_path: Path) -> None:
    """Live asks again for what is stale, cached does not, refresh asks for everything, and the next one has it."""
    whole = (await asked("sample", tmp_path / "other", KING)).usage.requests
    ttl = {"ttl.neighbours": 1e-9, "ttl.labels": 1e-9, "ttl.searches": 1e-9, "ttl.nothing": 1e-9, "ttl.catalogue": 1e-9}
    cold = (await asked("sample", tmp_path, KING, **ttl)).usage.requests
    again = (await asked("sample", tmp_path, KING, **ttl)).usage.requests
    cached = (await asked("sample", tmp_path, KING, mode="cached", **ttl)).usage.requests
    refreshed = (await asked("sample", tmp_path, KING, mode="cached", refresh=True)).usage.requests
    after = (await asked("sample", tmp_path, KING)).usage.requests
    assert cold >= whole > 0
    assert (again, cached, refreshed, after) == (cold, 0, whole, 0)
