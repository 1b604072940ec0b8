"""What -e names: profiles under any of their URLs, shapes at another place, files; and what is none of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedkg.config import profiles
from fedkg.config.endpoint_spec import EndpointResolver, EndpointSpec, hosted, wants_contact
from fedkg.config.profiles import Profile
from fedkg.config.settings import Settings
from fedkg.errors import ProfileError

GENERIC = profiles.find("generic")


def resolved(spec: str, **options: Any) -> EndpointSpec:
    """What the spec names."""
    return EndpointResolver(Settings(**options)).find(spec)


def profile(spec: str, **options: Any) -> Profile:
    """The profile that is taken for it."""
    taken = resolved(spec, **options).profile
    assert taken
    return taken


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
def test_the_url_of_a_profile_is_the_profile(url: str, name: str) -> None:
    """With its shape and search, however the URL is written; of two on one host the one that is served there."""
    assert profile(url) == profiles.find(name)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://qlever.dev/api/osm-planet", "freebase"),
        ("https://id.nlm.nih.gov/rxnorm/sparql", "mesh"),
        ("https://dbpedia.org/sparql?default-graph-uri=http://other.example/", "dbpedia"),
        ("https://query.wikidata.org/bigdata/namespace/wdq/sparql", "wikidata-wdqs"),
    ],
)
def test_another_graph_of_a_known_server_is_asked_as_its_operator_wants(url: str, host: str) -> None:
    """Limits and engine are the operator's; the graph is another one, so shape, search and authorities are nobody's."""
    known, taken = profiles.find(host), profile(url)
    assert (taken.limits, taken.engine, taken.contact_required) == (known.limits, known.engine, known.contact_required)
    assert (taken.name, taken.shape, taken.lookup, taken.authorities) == ("generic", GENERIC.shape, GENERIC.lookup, ())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:7879/query", "http://localhost:7878/query", "http://127.0.0.1/query"]
)
def test_another_port_is_another_server(url: str, tmp_path: Path) -> None:
    """What is said of one server on this machine does not hold for the next one."""
    text = 'urls = ["http://127.0.0.1:7878/query"]\n[limits]\nconcurrency = 1\n'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    assert profile("http://127.0.0.1:7878/query/", profiles_dir=str(tmp_path)).name == "own"
    assert profile(url, profiles_dir=str(tmp_path)) == GENERIC


def test_another_shape_keeps_the_limits_of_the_server() -> None:
    """PROFILE@URL says what the graph is like, and nothing of how it may be asked."""
    taken = profile("generic@https://query.wikidata.org/sparql")
    assert (taken.limits, taken.shape) == (profiles.find("wikidata-wdqs").limits, GENERIC.shape)


@pytest.mark.parametrize("asks", [wants_contact, hosted])
def test_reading_about_endpoints_opens_none(asks: Callable[[Settings], object]) -> None:
    """Neither a file that is not there nor a server that is gone matters; a name that is none does."""
    assert not asks(Settings(endpoints=("missing.nt", "sample")))
    with pytest.raises(ProfileError, match="nowhere"):
        asks(Settings(endpoints=("nowhere@http://127.0.0.1:9/",)))


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ("sample", (profiles.find("sample").name, (), "graph.ttl")),
        ("/a/b/graph.nt.gz", ("graph.nt.gz", (), "graph.nt.gz")),
        ("freebase@/a/graph.nt", ("freebase@graph.nt", (), "graph.nt")),
        ("http://u:p@h/s?key=k", ("http://h/s?…", ("http://u:p@h/s?key=k",), "")),
        ("freebase@http://u:p@h/s", ("freebase@http://h/s", ("http://u:p@h/s",), "")),
        ("generic", ("generic", (), "")),
    ],
)
def test_where_it_is_and_what_it_is_called(spec: str, where: tuple[str, tuple[str, ...], str]) -> None:
    """URLs as given, or a file; the name shows neither folders nor passwords."""
    place = resolved(spec)
    assert (place.name, place.urls, place.file.name if place.file else "") == where


def test_who_is_asked_for_names_may_want_a_contact(tmp_path: Path) -> None:
    """A file of one's own whose names are looked up at Wikidata's API."""
    text = 'file = "own.nt"\n[lookup]\nkind = "wikidata"\nurl = "https://www.wikidata.org/w/api.php"\n'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    assert wants_contact(Settings(endpoints=("sample", "own"), profiles_dir=str(tmp_path))) == "own"
