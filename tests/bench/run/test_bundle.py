"""Bundles: what a result is asked again from, and which are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.run import bundle as bundles
from fedkg.bench.run import executors, runner
from fedkg.bench.run.bundle import Bundle, bundled, packed, settings_of, unpacked
from fedkg.bench.run.results import BenchmarkResult
from fedkg.cache.disk import DiskStore
from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import Settings
from fedkg.core.encoding import encode, to_builtins
from fedkg.errors import DatasetError, FedkgError, PackError

GRAPH = """
<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .
<http://x/ann> <http://x/has_pet> <http://x/rex> .
<http://x/rex> <http://www.w3.org/2000/01/rdf-schema#label> "Rex"@en .
"""
ROW = (
    b'{"id": "1", "question": "Which pet has Ann?", "topic_entities": [{"iri": "http://x/ann"}], '
    b'"answers": [{"iri": "http://x/rex"}]}\n'
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings over a graph of one pet, with a password for a cache that nobody asks."""
    (tmp_path / "pets.nt").write_text(GRAPH)
    (tmp_path / "pets.jsonl").write_bytes(ROW)
    return Settings(endpoints=(str(tmp_path / "pets.nt"),), embedder="bm25", cache_dir=str(tmp_path / "cache"))


def custom(tmp_path: Path) -> Definition:
    """The benchmark of that question."""
    return definitions.find(f"custom:{tmp_path / 'pets.jsonl'}")


async def asked(settings: Settings, tmp_path: Path) -> BenchmarkResult:
    """A run of that question."""
    job = runner.prepared(settings, custom(tmp_path), None)
    return BenchmarkResult(job.header, await runner.run(job, executors.InProcess()))


async def made(settings: Settings, tmp_path: Path, result: BenchmarkResult | None = None) -> Bundle:
    """The bundle of that run."""
    run = result or await asked(settings, tmp_path)
    return await bundled(run, custom(tmp_path), None, settings, MemoryStore(), named={"endpoints": settings.endpoints})


async def test_a_bundle_comes_back_as_it_was(settings: Settings, tmp_path: Path) -> None:
    """With the graph as the cache knows it, the questions with their gold answers, and the licence beside it."""
    bundle = await made(settings, tmp_path)
    content = packed(msgspec.structs.replace(bundle, definition=definitions.find("metaqa-1hop")))
    assert content.licence == "CC BY 3.0"
    assert unpacked({"pets": packed(bundle).value}) == {"pets": bundle}
    [kept] = bundle.endpoints
    assert (kept.name, kept.identity[:7], bundle.embedder, bundle.model) == ("pets.nt", "sha256:", "bm25", None)
    assert [question.answers[0].iri for question in bundle.questions] == ["http://x/rex"]


async def test_a_bundle_names_nothing_of_this_machine(settings: Settings, tmp_path: Path) -> None:
    """No folder, neither of graph, questions, profile nor cache."""
    document = encode(await made(msgspec.structs.replace(settings, prompts_dir=str(tmp_path)), tmp_path)).decode()
    assert str(tmp_path) not in document
    assert str(Path(bundles.__file__).parents[3]) not in document


async def test_profiles_of_one_s_own_come_along(settings: Settings, tmp_path: Path) -> None:
    """The shape of a graph is in the bundle; where it is served and who wrote it down is not."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "zoo.toml").write_text('urls = ["http://127.0.0.1:9/"]\n[shape]\nmarker = "http://x/m"\n')
    settings = msgspec.structs.replace(
        settings, profiles_dir=str(tmp_path / "profiles"), endpoints=(f"zoo@{tmp_path / 'pets.nt'}",)
    )
    [kept] = (await made(settings, tmp_path)).endpoints
    assert (kept.name, kept.profile.shape.marker) == ("zoo@pets.nt", "http://x/m")
    assert (kept.profile.urls, kept.profile.source) == ((), "")


@pytest.mark.parametrize("fields", [{"questions": 2}, {"data": {}}, {"benchmark": "other"}])
async def test_another_run_than_the_one_here_is_refused(
    settings: Settings, tmp_path: Path, fields: dict[str, Any]
) -> None:
    """What differs is named."""
    result = await asked(settings, tmp_path)
    other = msgspec.structs.replace(result, header=msgspec.structs.replace(result.header, **fields))
    with pytest.raises(DatasetError, match=f"other {next(iter(fields))}"):
        await made(settings, tmp_path, other)


async def test_another_version_here_is_no_matter(settings: Settings, tmp_path: Path) -> None:
    """A replay says so; what was asked is the same."""
    result = await asked(settings, tmp_path)
    older = msgspec.structs.replace(result.header, fedkg="0.0.1", commit="", packages={})
    assert (await made(settings, tmp_path, msgspec.structs.replace(result, header=older))).header == older


async def test_a_run_of_an_ablation_has_a_depth_of_its_own(settings: Settings, tmp_path: Path) -> None:
    """The definition here has another one."""
    job = runner.prepared(settings, msgspec.structs.replace(custom(tmp_path), depth=2), None)
    result = BenchmarkResult(job.header, await runner.run(job, executors.InProcess()))
    assert (await made(settings, tmp_path, result)).header.settings["search"]["depth"] == 2


async def test_another_graph_or_other_questions_are_refused(settings: Settings, tmp_path: Path) -> None:
    """The files' checksums are in the header."""
    result = await asked(settings, tmp_path)
    (tmp_path / "pets.nt").write_text(GRAPH.replace("Rex", "Max"))
    with pytest.raises(DatasetError, match="other data"):
        await made(settings, tmp_path, result)


async def test_a_secret_in_a_url_is_not_packed(settings: Settings, tmp_path: Path) -> None:
    """The cache knows such an endpoint by its whole URL; the error does not show it."""
    settings = msgspec.structs.replace(settings, endpoints=("http://ann:geheim@127.0.0.1:9/sparql",))
    result = await asked(msgspec.structs.replace(settings, mode="offline"), tmp_path)
    with pytest.raises(PackError, match="cannot be packed") as caught:
        await made(settings, tmp_path, result)
    assert "geheim" not in str(caught.value)


async def test_only_recorded_questions_are_packed(settings: Settings, tmp_path: Path) -> None:
    """Of a run that was ended by its budget."""
    result = await asked(settings, tmp_path)
    assert (await made(settings, tmp_path, msgspec.structs.replace(result, records=()))).questions == ()


async def test_a_record_of_no_question_is_named(settings: Settings, tmp_path: Path) -> None:
    """As of a file that was edited: it could not be asked again."""
    result = await asked(settings, tmp_path)
    strange = msgspec.structs.replace(result.records[0], id="strange")
    with pytest.raises(DatasetError, match="no question with the id 'strange'"):
        await made(settings, tmp_path, msgspec.structs.replace(result, records=(*result.records, strange)))


async def test_settings_of_a_pack_are_those_of_the_run(settings: Settings, tmp_path: Path) -> None:
    """A header that brings folders or a server along is not listened to; mode is always offline."""
    header = (await asked(settings, tmp_path)).header
    planted = {**header.settings, "prompts_dir": "/planted", "cache_url": "redis://planted", "mode": "live"}
    restored = settings_of(msgspec.structs.replace(header, settings=planted), Settings(prompts_dir="mine"))
    assert (restored.prompts_dir, restored.cache_url, restored.mode) == ("mine", "", "offline")
    assert restored.search.depth == header.settings["search"]["depth"]
    with pytest.raises(FedkgError, match="settings of the result"):
        settings_of(msgspec.structs.replace(header, settings={"search": {"depth": -1}}), settings)


CHANGES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda held: held.pop("questions"), "missing required field `questions`"),
    (lambda held: held.update(folder="/etc"), "unknown field `folder`"),
    (lambda held: held["header"].update(schema=99), "schema 99 is not known"),
    (lambda held: held["questions"].clear(), "the questions are not those of the records"),
    (lambda held: held["questions"].append(held["questions"][0]), "the questions are not those of the records"),
    (lambda held: held["endpoints"][0].update(file="/etc/passwd"), "unknown field `file`"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
async def test_what_is_no_bundle_is_refused(
    settings: Settings, tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """With the document's name and what is wrong with it."""
    held = to_builtins(await made(settings, tmp_path))
    held["questions"] = list(held["questions"])
    change(held)
    with pytest.raises(PackError, match=message) as caught:
        unpacked({"pets": encode(held)})
    assert "'pets'" in str(caught.value)


@pytest.mark.parametrize("value", [b"", b"[]", b"\xff", b"[" * 200_000, b'{"header":'])
def test_what_is_no_document_is_refused(value: bytes) -> None:
    """Also what would nest for ever."""
    with pytest.raises(PackError, match="'x' is no result"):
        unpacked({"x": value})


def test_a_pack_of_other_questions_has_no_results() -> None:
    """The hint says what it is for."""
    with pytest.raises(PackError, match="holds no results"):
        unpacked({})


async def test_the_graph_is_not_asked(settings: Settings, tmp_path: Path) -> None:
    """What is kept of it is enough to name it: nothing is added to the cache."""
    result = await asked(settings, tmp_path)
    store = DiskStore(tmp_path / "other")
    await bundled(result, custom(tmp_path), None, settings, store, named={"endpoints": settings.endpoints})
    assert store.count() == {}
    store.close()
