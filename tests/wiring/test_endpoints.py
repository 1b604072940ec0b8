"""What -e takes, opened: shapes at another place, contacts that operators want, and what cannot be opened."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fedkg.cache.memory import MemoryStore
from fedkg.config import profiles
from fedkg.config.endpoint_spec import wants_contact
from fedkg.config.profiles import Profile
from fedkg.config.settings import Settings
from fedkg.core.meter import Meter
from fedkg.core.terms import BOTH, Iri
from fedkg.errors import InputError, OfflineError, ProfileError, SettingsError
from fedkg.session import Session
from fedkg.wiring.endpoints import ConnectedEndpoint, connect
from tests.support.served import ServedGraph, loopback

GENERIC = profiles.find("generic")
FACT = '<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .\n'


async def members(*specs: str, **options: Any) -> list[ConnectedEndpoint]:
    """What is connected for these; closed again."""
    settings = Settings(**{"contact": "me@example.org", **options})
    connected = await connect(specs, (), settings, Meter(), MemoryStore())
    for member in connected:
        await member.select.close()
        if member.lookup:
            await member.lookup.close()
    return connected


async def profile(spec: str, **options: Any) -> Profile:
    """The profile that is taken for it."""
    [member] = await members(spec, **options)
    return member.graph.profile


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """An RDF file with one fact."""
    path = tmp_path / "ann.nt"
    path.write_text(FACT, encoding="utf-8")
    return path


async def test_the_shape_moves_and_the_pace_stays(file: Path) -> None:
    """Freebase's shape on a file or on loopback is not slowed down to the public host's pace, alone or among others."""
    public = profiles.find("freebase")
    specs = (f"freebase@{file}", "freebase@http://127.0.0.1:9/sparql")
    for taken in ([await profile(spec) for spec in specs], [member.graph.profile for member in await members(*specs)]):
        assert all(here.shape == public.shape and here.limits == GENERIC.limits for here in taken)
        assert all(here.authorities == public.authorities for here in taken), (
            "they are about IRIs, wherever these are served"
        )


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("wikidata", True),
        ("https://query.wikidata.org/bigdata/namespace/wdq/sparql", True),
        ("http://QUERY.wikidata.org./other", True),
        ("freebase@https://commons-query.wikimedia.org/sparql", True),
        ("https://sparql.uniprot.org/other", True),
        ("https://query.wikidata.org.example/sparql", False),
        ("sample", False),
        ("dbpedia", False),
    ],
)
async def test_operators_that_want_a_contact(spec: str, wanted: bool) -> None:
    """Under any of their URLs; nobody else does, and offline nobody is asked."""
    assert bool(wants_contact(Settings(endpoints=(spec,)))) == wanted
    assert wants_contact(Settings(endpoints=(spec,), mode="offline")) == ""
    if wanted:
        with pytest.raises(SettingsError, match="whom to write to"):
            await members(spec, contact="")
    else:
        assert await members(spec, contact="")


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("wikidat", ProfileError, "known profiles"),
        ("identity", ProfileError, "known profiles"),
        ("nowhere@http://127.0.0.1:9/", ProfileError, "nowhere"),
        ("nowhere@http://user:secret@127.0.0.1:9/", ProfileError, "nowhere"),
        ("missing.nt", InputError, "missing.nt"),
        ("nowhere@missing.nt", InputError, "missing.nt"),
        ("", ProfileError, "known profiles"),
        ("generic@", ProfileError, "known profiles"),
        ("a/\0.nt", ProfileError, "known profiles"),
        ("x" * 300, ProfileError, "known profiles"),
        ("folder/" + "x" * 300 + ".nt", ProfileError, "known profiles"),
        ("http://[bad/sparql", InputError, "bad"),
        ("http://host:99999/sparql", InputError, "99999|port|URL"),
        ("generic", ProfileError, "no URL of its own"),
    ],
)
async def test_what_is_no_endpoint_is_said(spec: str, error: type[Exception], says: str) -> None:
    """Unknown names, missing files, URLs that are none, shapes without a place."""
    with pytest.raises(error, match=says) as caught:
        await members(spec)
    assert "secret" not in str(caught.value)


async def test_no_endpoint_at_all_is_said() -> None:
    """There has to be at least one."""
    with pytest.raises(ProfileError, match="no endpoint"):
        await members()


async def test_what_is_kept_is_asked_offline_only(file: Path, tmp_path: Path) -> None:
    """The graph of a file without the file: its neighbourhoods are those of the cache, and nobody can ask for more."""
    options: dict[str, Any] = {"embedder": "bm25", "cache_dir": str(tmp_path / "cache")}
    async with Session(f"sample@{file}", **options) as session:
        [kept] = await session.kept()
        _, warm, _ = await session.neighbours("<http://x/ann>")
    file.unlink()
    async with Session(kept, mode="offline", **options) as session:
        assert await session.kept() == [kept]
        assert (await session.neighbours("<http://x/ann>"))[1] == warm
        with pytest.raises(OfflineError, match=f"{kept.name} is not asked"):
            await session.neighbours("<http://x/elsewhere>")
    async with Session(kept, **options) as session:
        with pytest.raises(SettingsError, match="only what is kept"):
            await session.graph()


async def test_an_unknown_server_is_asked_for_many_at_once() -> None:
    """Its engine is found out before it is chosen how many entities share a request."""
    entities = [Iri(f"http://x/e{number}") for number in range(20)]
    triples = "".join(f"{entity.n3()} <http://x/p> <http://x/o> .\n" for entity in entities)
    async with loopback(ServedGraph(triples)) as url, Session(url, cache=False, embedder="bm25") as session:
        graph = await session.graph()
        await asyncio.gather(*(graph.neighbours(entities, way) for way in BOTH))
        assert session.usage().by_kind == {"engine": 1, "neighbours": 2}
