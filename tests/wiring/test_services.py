"""What a session works with: models, embedders, endpoints and hosts, named by the settings or brought by the caller."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.errors import EndpointError, InputError, ModelNameError, SettingsError
from fedkg.llm.openai import OpenAIModel
from fedkg.session import Session
from fedkg.testing import HashingEmbedder, ScriptedModel
from tests.support.extras import needs
from tests.support.pets import PETS, ask_about_pets, session_of


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


@needs("openai", "openai")
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
        chats = [session._services.chat for session in (live, offline)]
    for chat in chats:
        assert chat is not None
        assert chat.name == "openai:m@http://127.0.0.1:1/v1"
        assert (chat.capability.context, chat.capability.output) == (5_000, 77)


@pytest.mark.parametrize(("clients", "slots"), [(1, 6), (2, 3), (100, 1)])
@needs("openai", "openai")
def test_the_requests_under_way_are_shared_by_processes(clients: int, slots: int) -> None:
    """`model_concurrency` holds for all `clients` together, with one request for each at least."""
    options: dict[str, Any] = {"model": "openai:m@http://127.0.0.1:1/v1", "model_concurrency": 6, "clients": clients}
    with Session("sample", **options) as session:
        chat = session._services.chat
    assert isinstance(chat, OpenAIModel)
    assert chat.concurrency == slots


@pytest.mark.parametrize(
    ("name", "model"), [("m", "m"), ("@cf/meta/llama-3", "@cf/meta/llama-3"), ("m@20260101", "m@20260101")]
)
@needs("openai", "openai")
def test_a_model_at_a_url_may_have_an_at_in_its_own_name(name: str, model: str) -> None:
    """What stands before the URL is the model."""
    with Session("sample", model=f"openai:{name}@http://127.0.0.1:1/v1") as session:
        chat = session._services.chat
    assert isinstance(chat, OpenAIModel)
    assert (chat.name, chat._model) == (f"openai:{model}@http://127.0.0.1:1/v1", model)


@needs("openai", "openai")
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


async def test_nothing_is_opened_before_its_first_use(tmp_path: Path) -> None:
    """A session that cannot be made or entered leaves no file open, for it opened none."""
    folder = tmp_path / "own"
    with pytest.raises(ModelNameError):
        Session("sample", model="openai:gpt", cache_dir=str(folder))
    session = session_of("sample", cache_dir=str(folder))
    with pytest.raises(InputError, match="running already"), session:
        raise AssertionError("not entered")
    assert not folder.exists()


class Closing(ScriptedModel):
    """A chat model that counts how often it is closed, and may fail at that."""

    closed = 0
    error: Exception | None = None

    async def close(self) -> None:
        """Counts."""
        self.closed += 1
        if self.error:
            raise self.error


async def test_what_the_caller_brought_stays_open(pets: Path) -> None:
    """A model and a similarity may serve several sessions."""
    chat, similarity = Closing(["?"] * 20), LazySimilarity(HashingEmbedder(), MemoryStore())
    async with Session(pets, chat=chat, similarity=similarity) as session:
        await session.graph()
        assert session.settings.embedder == "hashing"
    assert chat.closed == 0
    assert (await similarity.vectors(["Ann"])).shape == (1, 256)


async def test_one_that_cannot_be_closed_stops_no_other(pets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is raised, after the model, the connections and the cache have been closed."""
    chat, stores = Closing([]), []
    chat.error = RuntimeError("no way")
    monkeypatch.setattr("fedkg.wiring.services.chat_model", lambda *_: chat)
    monkeypatch.setattr(DiskStore, "close", lambda _: stores.append("closed"))
    session = session_of(pets, model="openai:some")
    await session.graph()
    with pytest.raises(RuntimeError, match="no way"):
        await session.aclose()
    assert (chat.closed, stores) == (1, ["closed"])
    await session.aclose()
    assert chat.closed == 1


async def test_a_second_try_leaves_nothing_of_the_first(pets: Path, tmp_path: Path) -> None:
    """An endpoint that could not be opened may be there later; the others are not there twice."""
    late = tmp_path / "late.nt"
    async with session_of(pets, late) as session:
        with pytest.raises(InputError, match=r"late\.nt"):
            await session.graph()
        shutil.copy(pets, late)
        assert (await session.graph()).name == "pets.nt + late.nt"
        assert [probe.endpoint for probe in await session.check()] == ["pets.nt", "late.nt"]


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
                    await session.host_registry.forget(str(server.make_url("/")))
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


async def test_files_have_no_host_registry(pets: Path, tmp_path: Path) -> None:
    """Where nothing is asked over the network nothing is remembered of hosts."""
    async with session_of(pets) as session:
        assert await ask_about_pets(session) == ["Rex"]
    assert not (tmp_path / "cache" / "manners").exists()


async def test_endpoints_that_are_called_alike_are_told_apart(pets: Path, tmp_path: Path) -> None:
    """Files of one name, and URLs that differ in their query only, are numbered; each edge is verified at its own."""
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


async def test_tasks_share_one_connection(pets: Path) -> None:
    """Concurrent first questions load each file once."""
    async with session_of(pets, "sample") as session:
        graphs = await asyncio.gather(*(session.graph() for _ in range(5)))
        assert len({id(graph) for graph in graphs}) == 1
        assert [probe.endpoint for probe in await session.check()] == ["pets.nt", "sample"]
