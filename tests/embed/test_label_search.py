"""Labels that walks have shown, searched by meaning: in the same session and in later ones."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.core.terms import Iri, Literal, Term
from fedkg.embed.base import Matrix
from fedkg.embed.lazy import LazySimilarity
from fedkg.embed.offline import OfflineEmbedder
from fedkg.embed.shown_labels import CLIP, ShownLabels, saved
from fedkg.errors import InputError, ModelUnreachableError
from fedkg.session import Session
from fedkg.testing import HashingEmbedder, ScriptedModel
from tests.support.extras import needs
from tests.support.pets import PETS, ask_about_pets, session_of


class Broken(HashingEmbedder):
    """An embedder that can be switched off, and whose vectors can change their length."""

    name = "broken"
    down = False

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Bag-of-words vectors, or ModelUnreachableError."""
        if self.down:
            raise ModelUnreachableError("the service is down")
        return super().embed(texts)


def hashing() -> LazySimilarity:
    """A similarity with vectors that needs no weights."""
    return LazySimilarity(HashingEmbedder(), MemoryStore())


@needs("embeddings", "onnxruntime")
async def test_labels_that_were_shown_are_found_by_meaning() -> None:
    """After a walk its labels can be searched; a lexical similarity has no meaning to search by."""
    async with session_of("sample") as lexical:
        with pytest.raises(InputError, match="no vectors"):
            await lexical.similar("physicist")
    options: dict[str, Any] = {"embedder": "minilm", "search.depth": 1}
    async with Session("sample", chat=ScriptedModel(["?"] * 20), **options) as session:
        await session.ask("Who is Marie Curie?", ["Marie Curie"])
        matches = await session.similar("where someone came into the world", 40)
    assert any("birth" in match.label for match in matches)


async def test_closing_embeds_nothing(pets: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An embedder that is down after the answer is not asked when the session closes; its labels are still there."""
    embedder = Broken()
    async with Session(pets, similarity=LazySimilarity(embedder, MemoryStore(), keep=0)) as session:
        assert await ask_about_pets(session) == ["Rex"]
        embedder.down = True
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []
    async with Session(pets, similarity=LazySimilarity(embedder, MemoryStore(), keep=0)) as session:
        with pytest.raises(ModelUnreachableError, match="the service is down"):
            await session.similar("Rex")
        embedder.down = False
        assert [match.label for match in await session.similar("Rex", 1)] == ["Rex"]


async def test_an_answer_stands_though_its_labels_cannot_be_kept(
    pets: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The labels are a convenience: a folder that cannot be written costs a line in the log."""
    folder = tmp_path / "own"
    async with Session(pets, similarity=hashing(), cache_dir=str(folder)) as session:
        assert await ask_about_pets(session) == ["Rex"]
        (folder / "labels").write_text("no folder", encoding="utf-8")
    assert "could not be kept" in caplog.text
    async with Session(pets, similarity=hashing(), cache_dir=str(folder)) as session:
        await ask_about_pets(session)
        assert [match.label for match in await session.similar("Rex", 1)] == ["Rex"]
    assert "the index of labels could not be kept" in caplog.text


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


async def test_an_interrupted_session_keeps_its_labels_too(pets: Path, tmp_path: Path) -> None:
    """Who presses Ctrl-C does not wait for an embedder: the labels are written down, not embedded."""
    similarity, options = hashing(), {"cache_dir": str(tmp_path / "own")}

    async def interrupted() -> None:
        async with Session(pets, similarity=similarity, **options) as session:  # type: ignore[arg-type]
            await ask_about_pets(session)
            similarity.close()  # from here on nothing can be embedded
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await interrupted()
    async with Session(pets, similarity=hashing(), **options) as session:  # type: ignore[arg-type]
        assert (await session.similar("Rex", 1))[0].label == "Rex"


async def test_what_was_embedded_once_is_not_embedded_again(pets: Path) -> None:
    """The first search embeds what earlier walks have shown, the next session finds it in the index."""
    async with Session(pets, similarity=hashing()) as session:
        await ask_about_pets(session)
    embedded = []
    for _ in range(2):
        similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
        async with Session(pets, similarity=similarity) as session:
            await session.similar("Rex")
        embedded.append(similarity.embedded)
    assert embedded[1] == 2 < embedded[0]  # the query, and one label that shows that the embedder is the same


async def test_offline_what_was_never_embedded_is_left_out(pets: Path, tmp_path: Path) -> None:
    """Nothing is added offline: labels whose vectors are not kept are not found, and nothing is raised for them."""
    folder, store = tmp_path / "own", MemoryStore()
    async with Session(pets, similarity=LazySimilarity(HashingEmbedder(), store), cache_dir=str(folder)) as session:
        await ask_about_pets(session)
        await session.similarity.scores("Rex", ["a dog"])
    kept = LazySimilarity(OfflineEmbedder("hashing"), store)
    options: dict[str, Any] = {"cache_dir": str(folder), "mode": "offline"}
    async with Session(pets, similarity=kept, **options) as session:
        before = sorted(path.name for path in (folder / "labels").iterdir())
        labels = {match.label for match in await session.similar("Rex")}
        assert labels <= {"Rex", "Ann", "has pet"}
    assert sorted(path.name for path in (folder / "labels").iterdir()) == before


def test_labels_are_written_down_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was shown longest ago makes room, in one session and over several."""
    monkeypatch.setattr("fedkg.embed.shown_labels.MOST_LABELS", 3)
    for start in (0, 2):
        shown = ShownLabels()
        shown.add({Iri(f"http://x/{number}"): f"name {number}" for number in range(start, start + 3)})
        shown.save(tmp_path, "g")
    assert list(saved(tmp_path, "g").values()) == ["name 2", "name 3", "name 4"]
    assert saved(tmp_path, "another graph") == {}


def test_what_is_written_down_is_read_as_it_was(tmp_path: Path) -> None:
    """Labels with line breaks and lone surrogates come back; a damaged line is left out, and a long one is cut."""
    shown = ShownLabels()
    labels: dict[Term, str] = {
        Iri("http://x/a"): "two\nlines",
        Iri("http://x/b"): "half \ud800",
        Iri("http://x/c"): "long " * 1000,
    }
    shown.add({**labels, Literal("no name"): "no name"})
    shown.save(tmp_path, "g")
    [file] = tmp_path.iterdir()
    file.write_text(file.read_text() + "\n{broken\n[1]\n", encoding="utf-8")
    read = saved(tmp_path, "g")
    assert [read[Iri("http://x/a")], read[Iri("http://x/b")]] == list(labels.values())[:2]
    assert (len(read), len(read[Iri("http://x/c")])) == (3, CLIP)


async def test_a_whole_graph_is_embedded_beforehand(pets: Path, tmp_path: Path) -> None:
    """Entities and relations are told apart; a later session embeds nothing anew, and one over no index is told how."""
    folder = str(tmp_path / "own")
    options: dict[str, Any] = {"cache_dir": folder, "retriever": "global", "top_m": 2}
    async with Session(pets, similarity=hashing(), **options) as session:
        with pytest.raises(InputError, match="not embedded"):
            await ask_about_pets(session)
        made = await session.index()
        assert (made.entities, made.new) == (2, made.entities + made.relations)
    similarity = hashing()
    async with Session(pets, similarity=similarity, **options) as session:
        assert (await session.index()).new == 0
        nearest = await session._top("has pet Rex", 1)
        assert [*nearest.entities, *nearest.relations] == [Iri("http://x/rex"), Iri("http://x/has_pet")]
        assert await ask_about_pets(session) == ["Rex"]


async def test_a_lexical_similarity_embeds_no_graph() -> None:
    """It has no vectors."""
    async with session_of("sample") as lexical:
        with pytest.raises(InputError, match="no vectors"):
            await lexical.index()
