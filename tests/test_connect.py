"""What -e takes: profiles, URLs, files, a shape at another place; and what is no endpoint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedkg import profiles
from fedkg.connect import Member, connect, hosted, wants_contact
from fedkg.errors import InputError, ProfileError, SettingsError
from fedkg.meter import Meter
from fedkg.profiles import Profile
from fedkg.settings import Settings
from fedkg.store import MemoryStore

GENERIC = profiles.find("generic")
FACT = '<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .\n'


async def members(*specs: str, **options: Any) -> list[Member]:
    """What is connected for these; closed again."""
    settings = Settings(**{"contact": "me@example.org", **options})
    found = await connect(specs, (), settings, Meter(), MemoryStore())
    for member in found:
        await member.select.close()
        if member.lookup:
            await member.lookup.close()
    return found


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


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://qlever.dev/api/wikidata", "wikidata"),
        ("https://qlever.dev/api/freebase", "freebase"),
        ("https://query.wikidata.org/sparql", "wikidata-wdqs"),
        ("http://dbpedia.org/sparql", "dbpedia"),
        ("https://DBpedia.org:443/sparql/#top", "dbpedia"),
        ("https://user:secret@dbpedia.org./sparql", "dbpedia"),
    ],
)
async def test_the_url_of_a_profile_is_the_profile(url: str, name: str) -> None:
    """With its shape and its search, however the URL is written; of two on one host it is the one that is served there."""
    assert await profile(url) == profiles.find(name)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://qlever.dev/api/osm-planet", "freebase"),
        ("https://id.nlm.nih.gov/rxnorm/sparql", "mesh"),
        ("https://dbpedia.org/sparql?default-graph-uri=http://other.example/", "dbpedia"),
        ("https://query.wikidata.org/bigdata/namespace/wdq/sparql", "wikidata-wdqs"),
    ],
)
async def test_another_graph_of_a_known_server_is_asked_as_its_operator_wants(url: str, host: str) -> None:
    """Limits and engine are the operator's; the graph is another one, so shape, search and authorities are nobody's."""
    known, found = profiles.find(host), await profile(url)
    assert (found.limits, found.engine, found.contact_required) == (known.limits, known.engine, known.contact_required)
    assert (found.name, found.shape, found.lookup, found.authorities) == ("generic", GENERIC.shape, GENERIC.lookup, ())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:7879/query", "http://localhost:7878/query", "http://127.0.0.1/query"]
)
async def test_another_port_is_another_server(url: str, tmp_path: Path) -> None:
    """What is said of one server on this machine does not hold for the next one."""
    text = 'urls = ["http://127.0.0.1:7878/query"]\n[limits]\nconcurrency = 1\n'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    assert (await profile("http://127.0.0.1:7878/query/", profiles_dir=str(tmp_path))).name == "own"
    assert await profile(url, profiles_dir=str(tmp_path)) == GENERIC


async def test_the_shape_moves_and_the_pace_stays(file: Path) -> None:
    """Freebase's shape on a file or on loopback is not slowed down to the public host's pace, alone or among others."""
    public = profiles.find("freebase")
    specs = (f"freebase@{file}", "freebase@http://127.0.0.1:9/sparql")
    for found in ([await profile(spec) for spec in specs], [one.graph.profile for one in await members(*specs)]):
        assert all(here.shape == public.shape and here.limits == GENERIC.limits for here in found)
        assert all(here.authorities == public.authorities for here in found), (
            "they are about IRIs, wherever these are served"
        )


async def test_another_shape_keeps_the_manners_of_the_server() -> None:
    """PROFILE@URL says what the graph is like, and nothing of how it may be asked."""
    found = await profile("generic@https://query.wikidata.org/sparql")
    assert (found.limits, found.shape) == (profiles.find("wikidata-wdqs").limits, GENERIC.shape)


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


@pytest.mark.parametrize("asks", [wants_contact, hosted])
def test_reading_about_endpoints_opens_none(asks: Callable[[Settings], object]) -> None:
    """Neither a file that is not there nor a server that is gone matters; a name that is none does."""
    assert not asks(Settings(endpoints=("missing.nt", "sample")))
    with pytest.raises(ProfileError, match="nowhere"):
        asks(Settings(endpoints=("nowhere@http://127.0.0.1:9/",)))
