"""Wiring: what -e takes, what the settings name, and one whole question over each kind of endpoint."""

import asyncio
import gzip
import json
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

import fedkg
from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.config.resources import folder
from fedkg.config.settings import Settings
from fedkg.core.answer import Status
from fedkg.core.events import Answered
from fedkg.embed.base import Matrix
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.errors import EndpointError, InputError, ModelNameError, ModelUnreachableError, SettingsError
from fedkg.llm.openai import OpenAIModel
from fedkg.session import Session
from fedkg.testing import HashingEmbedder, ScriptedModel
from fedkg.transport import embedded

PETS = """
<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .
<http://x/ann> <http://x/has_pet> <http://x/rex> .
<http://x/rex> <http://www.w3.org/2000/01/rdf-schema#label> "Rex"@en .
<http://x/has_pet> <http://www.w3.org/2000/01/rdf-schema#label> "has pet"@en .
"""


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """An RDF file with one fact."""
    file = tmp_path / "pets.nt"
    file.write_text(PETS, encoding="utf-8")
    return file


def session_of(*endpoints: Any, **options: Any) -> Session:
    """A session that needs no weights."""
    return Session(*endpoints, **{"embedder": "bm25", **options})


async def ask_about_pets(session: Session) -> list[str]:
    """Who is Ann's pet?"""
    answer = await session.ask("Which pet has Ann?", ["Ann"])
    return [value.value for value in answer.answers]


async def test_a_file_is_a_graph(pets: Path) -> None:
    """An RDF file, also packed, is served in process."""
    packed = pets.with_suffix(".nt.gz")
    packed.write_bytes(gzip.compress(pets.read_bytes()))
    for file in (pets, packed):
        async with session_of(file) as session:
            assert await ask_about_pets(session) == ["Rex"]


async def test_a_url_is_a_graph(pets: Path) -> None:
    """A SPARQL endpoint is asked by POST; the second run of a question makes no request."""
    transport = embedded.load(pets)
    queries: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        queries.append(str((await request.post())["query"]))
        reply = await transport.send(queries[-1])
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))

    app = web.Application()
    app.router.add_post("/sparql", answer)
    async with TestServer(app) as server:
        url = str(server.make_url("/sparql"))
        async with session_of(url) as session:
            assert await ask_about_pets(session) == ["Rex"]
        cold = len(queries)
        async with session_of(url) as session:
            warm = await session.ask("Which pet has Ann?", ["<http://x/ann>"])
    assert cold > 0
    assert (len(queries), warm.usage.requests, warm.status) == (cold, 0, Status.ANSWERED)
    assert warm.usage.cache_hits > 0


async def test_a_profile_s_shape_goes_with_another_place(pets: Path) -> None:
    """PROFILE@FILE takes the profile's shape and the file's facts."""
    async with session_of(f"freebase@{pets}") as session:
        graph = await session.graph()
        assert graph.name == "freebase@pets.nt"
        assert await ask_about_pets(session) == ["Rex"]


async def test_the_shape_of_a_file_is_found_by_its_marker() -> None:
    """Wikidata's shape is recognised: statements become qualifiers, property entities name relations."""
    async with session_of(folder("sample") / "graph.ttl") as session:
        _, near, names = await session.neighbours("Marie Curie", ["out"])
    relations = {names[edge.relation] for edge in near[0].edges}
    assert "place of birth" in relations
    assert "Freebase ID" not in relations


async def test_several_endpoints_are_one_graph(pets: Path, tmp_path: Path) -> None:
    """Facts of two files meet in one walk; each edge keeps its endpoint."""
    other = tmp_path / "places.nt"
    other.write_text(
        "<http://x/rex> <http://x/born_in> <http://x/oslo> .\n"
        '<http://x/oslo> <http://www.w3.org/2000/01/rdf-schema#label> "Oslo"@en .\n'
        '<http://x/born_in> <http://www.w3.org/2000/01/rdf-schema#label> "born in"@en .\n',
        encoding="utf-8",
    )
    async with session_of(pets, other, embedder="minilm") as session:
        answer = await session.ask("Where was the pet of Ann born?", ["Ann"])
        holds = [checked.holds for checked in await session.verify(answer)]
    assert [value.value for value in answer.answers] == ["Oslo"]
    assert [edge.endpoint for edge in answer.paths[0].edges] == ["pets.nt", "places.nt"]
    assert holds == [True, True]


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("gpt-9", "no model"),
        ("openai:", "no model"),
        ("openai:m@", "no URL"),
        ("openai:m@127.0.0.1:8000/v1", "must be a plain http or https URL"),
        ("openai:gpt", "OPENAI_API_KEY"),
        ("anthropic:x", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_model_without_name_or_key_is_said_at_once(model: str, says: str) -> None:
    """Before anything is fetched."""
    with pytest.raises(ModelNameError) as caught:
        Session("sample", model=model)
    assert says in f"{caught.value} {caught.value.hint}"


def test_the_model_has_its_record_with_what_the_user_says_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The own file's record holds, and `context` over that; live and offline the model has the same name and record."""
    monkeypatch.delenv("FEDKG_MODEL_KEY", raising=False)
    (tmp_path / "capabilities.toml").write_text('[[model]]\nnames = ["openai:m@*"]\noutput = 77\n', encoding="utf-8")
    options: dict[str, Any] = {
        "model": "openai:m@http://127.0.0.1:1/v1/",
        "models_dir": str(tmp_path),
        "context": 5_000,
    }
    with Session("sample", **options) as live, Session("sample", mode="offline", **options) as offline:
        chats = [session._chat for session in (live, offline)]
    for chat in chats:
        assert chat is not None
        assert chat.name == "openai:m@http://127.0.0.1:1/v1"
        assert (chat.capability.context, chat.capability.output) == (5_000, 77)


@pytest.mark.parametrize(
    ("name", "model"), [("m", "m"), ("@cf/meta/llama-3", "@cf/meta/llama-3"), ("m@20260101", "m@20260101")]
)
def test_a_model_at_a_url_may_have_an_at_in_its_own_name(name: str, model: str) -> None:
    """What stands before the URL is the model."""
    with Session("sample", model=f"openai:{name}@http://127.0.0.1:1/v1") as session:
        chat = session._chat
    assert isinstance(chat, OpenAIModel)
    assert (chat.name, chat._model) == (f"openai:{model}@http://127.0.0.1:1/v1", model)


def test_a_context_that_no_prompt_fits_is_said() -> None:
    """Before anything is asked."""
    with pytest.raises(SettingsError, match="no prompt fits"):
        Session("sample", model="openai:m@http://127.0.0.1:1/v1", context=2_048)


def test_a_folder_of_models_that_is_not_there_is_said(tmp_path: Path) -> None:
    """Prices and records of one's own would silently not be used."""
    with pytest.raises(SettingsError, match="no such folder"):
        Session("sample", model="openai:m@http://127.0.0.1:1/v1", models_dir=str(tmp_path / "gone"))


@pytest.mark.parametrize("name", ["word2vec", "st:"])
def test_an_unknown_embedder_is_said(name: str) -> None:
    """With the names that are known."""
    with pytest.raises(ModelNameError, match="no embedder"):
        _ = Session("sample", embedder=name).similarity


def test_embedders_by_name() -> None:
    """BM25 needs nothing; `auto` takes MiniLM where it is installed."""
    assert isinstance(Session("sample", embedder="bm25").similarity, Bm25Similarity)
    automatic = Session("sample", embedder="auto").similarity
    assert isinstance(automatic, Bm25Similarity | LazySimilarity)


def test_the_synchronous_twin(pets: Path) -> None:
    """The same coroutines, run by the session."""
    with session_of(pets) as session:
        assert session.run(ask_about_pets(session)) == ["Rex"]
        assert session.run(session.search("Rex"))[0].iri.value == "http://x/rex"


async def test_inside_a_loop_the_twin_says_what_to_do(pets: Path) -> None:
    """In a notebook a loop runs already."""
    async with session_of(pets) as session:
        with pytest.raises(InputError, match="event loop"):
            session.run(ask_about_pets(session))


async def test_a_user_s_own_sparqlwrapper_is_an_endpoint(pets: Path) -> None:
    """Its headers and authentication are kept; the query is ours."""
    wrapper_module = pytest.importorskip("SPARQLWrapper")
    transport = embedded.load(pets)
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        reply = await transport.send(str((await request.post())["query"]))
        return web.Response(status=reply.status, body=reply.body, headers=dict(reply.headers))

    app = web.Application()
    app.router.add_post("/sparql", answer)
    async with TestServer(app) as server:
        wrapper = wrapper_module.SPARQLWrapper(str(server.make_url("/sparql")))
        wrapper.setCredentials("ann", "secret")
        async with session_of(wrapper) as session:
            assert await ask_about_pets(session) == ["Rex"]
    assert set(seen) == {"Basic YW5uOnNlY3JldA=="}


async def test_verify_finds_the_edge_that_is_gone(pets: Path) -> None:
    """The proof is asked again; what the endpoint no longer says is named."""
    async with session_of(pets) as session:
        answer = await session.ask("Which pet has Ann?", ["Ann"])
    pets.write_text(PETS.replace("has_pet> <http://x/rex>", "has_pet> <http://x/tom>"), encoding="utf-8")
    async with session_of(pets) as session:
        checked = await session.verify(answer)
    assert [(check.path, check.holds) for check in checked] == [(0, False)]


async def test_a_changed_file_is_read_anew(pets: Path) -> None:
    """The cache knows a file by its state, so an edit is never answered from the old one."""
    async with session_of(pets) as session:
        assert await ask_about_pets(session) == ["Rex"]
    pets.write_text(PETS.replace("/rex", "/tom").replace("Rex", "Tom the cat"), encoding="utf-8")
    async with session_of(pets) as session:
        assert await ask_about_pets(session) == ["Tom the cat"]


async def test_suggestions_for_a_misspelled_name() -> None:
    """Search falls back on similar labels."""
    async with session_of("sample") as session:
        assert "Marie Curie" in [match.label for match in await session.search("Mary Curie")]


async def test_labels_that_were_shown_are_found_by_meaning() -> None:
    """After a walk its labels can be searched; a lexical similarity has no meaning to search by."""
    async with session_of("sample") as lexical:
        with pytest.raises(InputError, match="no vectors"):
            await lexical.similar("physicist")
    options: dict[str, Any] = {"embedder": "minilm", "search.depth": 1}
    async with Session("sample", chat=ScriptedModel(["?"] * 20), **options) as session:
        await session.ask("Who is Marie Curie?", ["Marie Curie"])
        found = await session.similar("where someone came into the world", 40)
    assert any("birth" in match.label for match in found)


async def test_events_end_with_the_answer() -> None:
    """Every door consumes the same stream."""
    async with session_of("sample") as session:
        events = [event async for event in session.events("What is the capital of New Zealand?")]
    assert isinstance(events[-1], Answered)
    document = json.loads(events[-1].answer.to_json())
    assert {
        "version",
        "question",
        "kind",
        "status",
        "answers",
        "paths",
        "gaps",
        "usage",
        "warnings",
        "settings",
        "ledger",
        "options",
        "method",
        "measures",
    } == set(document)


async def test_given_settings_are_taken_as_they_are(tmp_path: Path) -> None:
    """A Settings value is not mixed with files or environment."""
    settings = Settings(endpoints=("sample",), embedder="bm25", cache_dir=str(tmp_path))
    async with Session(settings=settings) as session:
        assert (await session.graph()).name == "sample"
        assert session.settings == settings


async def test_a_warm_question_costs_no_request_even_where_its_topic_was_searched(pets: Path) -> None:
    """Searches are kept like neighbourhoods and labels, those that found nothing included."""
    usages = []
    for _ in range(2):
        async with session_of(pets) as session:
            usages.append((await session.ask("Which pet does Ann have?")).usage)
    assert usages[0].by_kind["search"] > 0
    assert usages[1].requests == 0


class Broken(HashingEmbedder):
    """An embedder that can be switched off, and whose vectors can change their length."""

    name = "broken"
    down = False

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Bag-of-words vectors, or ModelUnreachableError."""
        if self.down:
            raise ModelUnreachableError("the service is down")
        return super().embed(texts)


class Closing(ScriptedModel):
    """A chat model that counts how often it is closed, and may fail at that."""

    closed = 0
    error: Exception | None = None

    async def close(self) -> None:
        """Counts."""
        self.closed += 1
        if self.error:
            raise self.error


async def test_an_answer_stands_though_its_labels_cannot_be_kept(pets: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The index is a convenience: an embedder that is down after the answer costs a line in the log."""
    embedder = Broken()
    async with Session(pets, similarity=LazySimilarity(embedder, MemoryStore(), keep=0)) as session:
        session.similarity._store = MemoryStore()  # type: ignore[attr-defined]  # one that has nothing at the end
        assert await ask_about_pets(session) == ["Rex"]
        session.similarity._store = MemoryStore()  # type: ignore[attr-defined]
        embedder.down = True
    assert "the service is down" in caplog.text


async def test_labels_survive_a_change_of_the_embedder(pets: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Vectors of another length behind the same name start a new index; nothing is raised."""
    for size in (64, 128):
        async with Session(pets, similarity=LazySimilarity(Broken(size), MemoryStore())) as session:
            assert await ask_about_pets(session) == ["Rex"]
        async with Session(pets, similarity=LazySimilarity(Broken(size), MemoryStore())) as session:
            assert "Rex" in [match.label for match in await session.similar("Rex")]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_without_a_cache_no_label_is_written_or_read(pets: Path, tmp_path: Path) -> None:
    """Neither is the labels' folder made, nor what another session left there found; this session's labels are."""

    def opened(*, cache: bool) -> Session:
        similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
        return Session(pets, similarity=similarity, cache=cache, cache_dir=str(tmp_path / "own"))

    async with opened(cache=False) as session:
        await ask_about_pets(session)
        assert [match.label for match in await session.similar("Rex", 1)] == ["Rex"]
    assert not (tmp_path / "own").exists()
    async with opened(cache=True) as session:
        await ask_about_pets(session)
    assert list((tmp_path / "own" / "labels").iterdir()) != []
    async with opened(cache=False) as session:
        assert await session.similar("Rex") == []


async def test_tasks_share_one_connection(pets: Path) -> None:
    """Concurrent first questions load each file once."""
    async with session_of(pets, "sample") as session:
        graphs = await asyncio.gather(*(session.graph() for _ in range(5)))
        assert len({id(graph) for graph in graphs}) == 1
        assert [probe.endpoint for probe in await session.check()] == ["pets.nt", "sample"]


async def test_a_second_try_leaves_nothing_of_the_first(pets: Path, tmp_path: Path) -> None:
    """An endpoint that could not be opened may be there later; the others are not there twice."""
    late = tmp_path / "late.nt"
    async with session_of(pets, late) as session:
        with pytest.raises(InputError, match=r"late\.nt"):
            await session.graph()
        shutil.copy(pets, late)
        assert (await session.graph()).name == "pets.nt + late.nt"
        assert [probe.endpoint for probe in await session.check()] == ["pets.nt", "late.nt"]


async def test_endpoints_that_are_called_alike_are_told_apart(pets: Path, tmp_path: Path) -> None:
    """Files of one name, and URLs that differ in their query only, are numbered; each edge is verified where it was said."""
    other = tmp_path / "more" / "pets.nt"
    other.parent.mkdir()
    other.write_text(PETS.replace("rex", "tom").replace("Rex", "Tom"), encoding="utf-8")
    async with session_of(pets, other, "http://127.0.0.1:9/s?a=1", "http://127.0.0.1:9/s?a=2") as session:
        names = (await session.graph()).name.split(" + ")
    assert names == ["pets.nt", "pets.nt #2", "http://127.0.0.1:9/s?…", "http://127.0.0.1:9/s?… #2"]
    async with session_of(pets, other) as session:
        answer = await session.ask("Which pet has Ann?", ["Ann"])
        assert all(checked.holds for checked in await session.verify(answer))
    assert {edge.endpoint for path in answer.paths for edge in path.edges} == {"pets.nt", "pets.nt #2"}


async def test_labels_belong_to_the_graph_and_not_to_its_name(pets: Path, tmp_path: Path) -> None:
    """What a file has shown is not found in another file of that name, only in a copy of it."""
    other, copy = tmp_path / "more" / "pets.nt", tmp_path / "copy.nt"
    other.parent.mkdir()
    other.write_text(PETS.replace("Rex", "Max"), encoding="utf-8")
    copy.write_text(PETS, encoding="utf-8")
    async with Session(pets, similarity=LazySimilarity(HashingEmbedder(), MemoryStore())) as session:
        await ask_about_pets(session)
    async with Session(other, similarity=LazySimilarity(HashingEmbedder(), MemoryStore())) as session:
        assert await session.similar("Rex") == []
    async with Session(copy, similarity=LazySimilarity(HashingEmbedder(), MemoryStore())) as session:
        assert (await session.similar("Rex"))[0].label == "Rex"


async def test_a_url_with_a_password_goes_with_a_profile() -> None:
    """An @ in the URL does not part it; the password is shown nowhere."""
    for spec in ("freebase@http://user:secret@127.0.0.1:9/sparql", "http://user:secret@127.0.0.1:9/sparql"):
        async with session_of(spec) as session:
            assert "secret" not in (await session.graph()).name
            with pytest.raises(EndpointError) as caught:
                await session.search("Ann")
            assert "secret" not in f"{caught.value} {caught.value.asked} {caught.value.hint}"


def test_settings_and_options_exclude_each_other() -> None:
    """An option beside ready settings would be lost; endpoints are fine."""
    with pytest.raises(SettingsError, match=r"besides: model$"):
        Session("sample", settings=Settings(embedder="bm25"), model="local")
    assert Session("sample", settings=Settings(embedder="bm25")).settings.endpoints == ("sample",)


@pytest.mark.parametrize("endpoint", [None, 7, b"sample", ["sample"], {}])
def test_what_can_be_no_endpoint_is_said_at_once(endpoint: Any) -> None:
    """With what is expected, and the type that came instead."""
    expected = rf"expected a profile name, URL, file or SPARQLWrapper object, got {type(endpoint).__name__}"
    with pytest.raises(InputError, match=expected):
        Session(endpoint)
    with pytest.raises(InputError, match="got NoneType"):
        fedkg.ask("Who?", None)  # type: ignore[arg-type]  # what a type checker would have said


async def test_nothing_is_opened_before_its_first_use(tmp_path: Path) -> None:
    """A session that cannot be made or entered leaves no file open, for it opened none."""
    folder = tmp_path / "own"
    with pytest.raises(ModelNameError):
        Session("sample", model="openai:gpt", cache_dir=str(folder))
    session = session_of("sample", cache_dir=str(folder))
    with pytest.raises(InputError, match="running already"), session:
        raise AssertionError("not entered")
    assert not folder.exists()


def test_a_closed_session_says_so(pets: Path) -> None:
    """Closing twice is fine; asking afterwards is an InputError, not one of the event loop."""
    session = session_of(pets)
    assert session.run(ask_about_pets(session)) == ["Rex"]
    session.close()
    session.close()
    with pytest.raises(InputError, match="session is closed"):
        session.run(ask_about_pets(session))
    with pytest.raises(InputError, match="session is closed"):
        asyncio.run(ask_about_pets(session))


async def test_closing_inside_a_loop_frees_what_needs_none(pets: Path) -> None:
    """The cache's file is closed at once, connections with `aclose`."""
    session = session_of(pets)
    await ask_about_pets(session)
    with pytest.raises(InputError, match="running already") as caught:
        session.close()
    assert "aclose" in caught.value.hint
    with pytest.raises(InputError, match="session is closed"):
        await session.graph()
    await session.aclose()


async def test_the_document_names_the_model_that_the_caller_brought(pets: Path) -> None:
    """And not the one that the settings would have taken."""
    async with Session(pets, chat=ScriptedModel(["?"] * 20), embedder="bm25", cache=False) as session:
        answer = await session.ask("Whom does Ann know?", ["Ann"])
    assert answer.settings["model"] == "scripted"


async def test_what_the_caller_brought_stays_open(pets: Path) -> None:
    """A model and a similarity may serve several sessions."""
    chat, similarity = Closing(["?"] * 20), LazySimilarity(HashingEmbedder(), MemoryStore())
    async with Session(pets, chat=chat, similarity=similarity) as session:
        await session.graph()
    assert chat.closed == 0
    assert (await similarity.vectors(["Ann"])).shape == (1, 256)


async def test_one_that_cannot_be_closed_stops_no_other(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is raised, after the model, the connections and the cache have been closed."""
    chat, stores = Closing([]), []
    chat.error = RuntimeError("no way")
    monkeypatch.setattr("fedkg.session.chat_model", lambda *_: chat)
    monkeypatch.setattr(DiskStore, "close", lambda _: stores.append("closed"))
    session = session_of(pets, model="openai:some")
    await session.graph()
    with pytest.raises(RuntimeError, match="no way"):
        await session.aclose()
    assert (chat.closed, stores) == (1, ["closed"])
    await session.aclose()
    assert chat.closed == 1


async def test_an_interrupted_session_keeps_no_labels(pets: Path, tmp_path: Path) -> None:
    """Who presses Ctrl-C does not wait for an embedder."""
    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())

    async def interrupted() -> None:
        async with Session(pets, similarity=similarity, cache_dir=str(tmp_path / "own")) as session:
            await ask_about_pets(session)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await interrupted()
    assert not (tmp_path / "own" / "labels").exists()


async def test_labels_are_kept_as_long_as_there_is_time(
    pets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the time is over after the first part, that part is kept, and closing is not held up by the rest."""
    monkeypatch.setattr("fedkg.session.KEEP_LABELS", 1)
    kept = {}
    for seconds in (0.0, 60.0):
        monkeypatch.setattr("fedkg.session.KEEP_SECONDS", seconds)
        options: dict[str, Any] = {"cache_dir": str(tmp_path / f"{seconds}")}
        async with Session(pets, similarity=LazySimilarity(HashingEmbedder(), MemoryStore()), **options) as session:
            await ask_about_pets(session)
        async with Session(pets, similarity=LazySimilarity(HashingEmbedder(), MemoryStore()), **options) as session:
            kept[seconds] = len(await session.similar("Rex"))
    assert kept[0.0] == 1 < kept[60.0]


async def test_a_topic_may_be_given_as_text(pets: Path) -> None:
    """One label is one topic, not one for each of its letters."""
    async with session_of(pets) as session:
        answer = await session.ask("Which pet has Ann?", "Ann")
        events = [event async for event in session.events("Which pet has Ann?", "Ann")]
    assert [value.value for value in answer.answers] == ["Rex"]
    assert isinstance(events[-1], Answered)


# ---- manners ----


async def test_questions_at_once_have_counts_of_their_own(pets: Path) -> None:
    """A question that is answered from the cache costs nothing, whatever another one asks for meanwhile."""
    bob = PETS.replace("x/ann", "x/bob").replace('"Ann"', '"Bob"').replace("x/rex", "x/tom").replace('"Rex"', '"Tom"')
    pets.write_text(PETS + bob, encoding="utf-8")
    async with session_of(pets) as session:
        await session.ask("Which pet has Ann?", ["http://x/ann"])
        before = session.meter.usage().requests
        ann, other = await asyncio.gather(
            session.ask("Which pet has Ann?", ["http://x/ann"]), session.ask("Which pet has Bob?", ["http://x/bob"])
        )
        asked = session.meter.usage().requests - before
    assert [answer.answers[0].value for answer in (ann, other)] == ["Rex", "Tom"]
    assert (ann.usage.requests, ann.usage.round_trips, other.usage.requests) == (0, 0, asked)
    assert asked > 0
    assert ann.usage.cache_hits > 0


async def test_a_ban_holds_for_the_next_session_without_a_cache(tmp_path: Path) -> None:
    """Who keeps no replies is not asked again by whom it has banned; forgetting the ban asks again."""
    asked: list[str] = []

    async def ban(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(status=403, text="You have been banned until 2999-01-01T00:00:00Z.")

    app = web.Application()
    app.router.add_post("/sparql", ban)
    async with TestServer(app) as server:
        for forgets, requests in ((False, 1), (False, 1), (True, 2)):
            async with session_of(str(server.make_url("/sparql")), cache=False) as session:
                if forgets:
                    await session.manners.forget(str(server.make_url("/")))
                with pytest.raises(EndpointError, match="banned"):
                    await session.search("Ann")
            assert len(asked) == requests
    assert not (tmp_path / "cache" / "store").exists()


async def test_manners_that_cannot_be_kept_hold_for_the_session(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that cannot be used is a warning, not an error."""
    (tmp_path / "file").write_text("")
    async with session_of("http://127.0.0.1:9/sparql", cache=False, cache_dir=str(tmp_path / "file")) as session:
        await session.graph()
    assert "are not kept" in caplog.text


async def test_files_have_no_manners(pets: Path, tmp_path: Path) -> None:
    """Where nothing is asked over the network nothing is remembered of hosts."""
    async with session_of(pets) as session:
        assert await ask_about_pets(session) == ["Rex"]
    assert not (tmp_path / "cache" / "manners").exists()


async def test_an_endpoint_that_stalls_leaves_a_gap(pets: Path) -> None:
    """One never replies, the other answers; the question ends within its time, and the gap is told."""

    async def stall(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    app = web.Application()
    app.router.add_post("/sparql", stall)
    async with TestServer(app) as server:
        url = str(server.make_url("/sparql"))
        async with session_of(pets, url, **{"budget.seconds": 2.0}) as session:
            answer = await session.ask("Which pet has Ann?", ["http://x/ann"])
    assert [value.value for value in answer.answers] == ["Rex"]
    assert any(gap.endpoint == url and "no whole reply" in gap.reason for gap in answer.gaps)
    assert answer.usage.spent == ""


async def test_a_search_shows_candidates_of_both_kinds(pets: Path, tmp_path: Path) -> None:
    """Exact names come first, then what the profile's own search finds; offline what was found is found again."""
    asked: list[Any] = []

    async def play(request: web.Request) -> web.Response:
        asked.append(dict(await request.post()))
        found = [
            {"id": name, "concepturi": f"http://x/{name}", "label": name, "match": {"text": name}}
            for name in ("rexy", "rex")
        ]
        return web.json_response({"search": found, "success": 1})

    app = web.Application()
    app.router.add_post("/w/api.php", play)
    async with TestServer(app) as server:
        lookup = f'[lookup]\nkind = "wikidata"\nurl = "{server.make_url("/w/api.php")}"\n'
        text = f'file = "{pets}"\nauthorities = ["http://x/"]\n{lookup}'
        (tmp_path / "petshop.toml").write_text(text, encoding="utf-8")
        for mode in ("live", "offline"):
            options = {"profiles_dir": str(tmp_path), "cache_dir": str(tmp_path / "kept"), "mode": mode}
            async with session_of("petshop", **options) as session:
                found = [(match.iri.value, match.score) for match in await session.search("Rex")]
                assert found == [("http://x/rex", 1.0), ("http://x/rexy", pytest.approx(0.8 * 6 / 7))]
        assert [form["search"] for form in asked] == ["Rex"]
