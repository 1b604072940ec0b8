import os
from pathlib import Path

import msgspec
import pytest

from fedkg.config import profiles
from fedkg.config.profiles import Shape, find, names, parse
from fedkg.config.resources import folder
from fedkg.core.terms import Iri
from fedkg.errors import ProfileError, SettingsError


@pytest.mark.parametrize("name", names())
def test_every_bundled_profile_loads(name: str) -> None:
    """A bundled profile fits its own schema and says what it is."""
    profile = find(name)
    assert profile.name == name
    assert profile.title
    assert profile.urls or profile.file or name in {"generic", "crlt"}  # shapes, put on a file
    assert profile.source.endswith(f"{name}.toml")


@pytest.mark.parametrize("name", names())
def test_bundled_limits_stay_below_known_caps(name: str) -> None:
    """Where an endpoint cuts silently, fewer rows are asked for: a full reply proves that nothing is missing."""
    limits = find(name).limits
    assert limits.known_cap == 0 or limits.rows < limits.known_cap


def test_markers_tell_bundled_shapes_apart() -> None:
    """No two shapes are given away by the same predicate."""
    markers = [find(name).shape.marker for name in names() if find(name).shape.marker]
    assert len(markers) == len(set(markers)) > 3
    assert all(Iri(marker).queryable for marker in markers)


def test_like_takes_the_shape_but_not_the_marker() -> None:
    """`like` copies another profile's shape; the marker stays with the model."""
    model, copy = find("wikidata"), find("wikidata-wdqs")
    assert copy.shape == msgspec.structs.replace(model.shape, marker="")
    assert copy.urls != model.urls


def test_profile_of_a_file_finds_it() -> None:
    """The sample's RDF file is named relative to the profile."""
    profile = find("sample")
    assert (Path(profile.source).parent / profile.file).is_file()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("titel = 'x'", "unknown field `titel`"),
        ("[limits]\nrow = 1", r"unknown field `row`.*limits"),
        ("[limits]\nrows = '1'", r"Expected `int`, got `str`.*limits\.rows"),
        ("[limits]\nrows = 0", r"limits\.rows"),
        ("[limits]\ntimeout = nan", r"limits\.timeout"),
        ("engine = 'jena'", "engine: no engine is called 'jena'; known: generic, blazegraph"),
        ("urls = 'http://a/'", "Expected `array`.*urls"),
        ("urls = ['http://a/ b']", "urls: not an http URL"),
        ("urls = ['file:///etc/passwd']", "urls: not an http URL"),
        ("[lookup]\nurl = 'ftp://a/'", "lookup.url: not an http URL"),
        ("[lookup]\nkind = 'wikidata'", "lookup.url: not an http URL: ''"),
        ("[lookup]\nkind = 'lucene'", "lookup.kind"),
        ("[shape.labels]\npredicates = ['http://a b']", r"shape\.labels\.predicates: not an IRI: 'http://a b'"),
        ("[shape.labels]\npredicates = ['']", r"shape\.labels\.predicates: not an IRI"),
        ("[shape.labels]\ndescription = 'label'", r"shape\.labels\.description: not an IRI"),
        ("[shape.edges]\nskip = ['http://a> } #']", r"shape\.edges\.skip: not an IRI"),
        ("[shape.mediators]\nclaim = 'x>y'", r"shape\.mediators\.claim: not an IRI"),
        ("[shape]\nmarker = 'a b'", r"shape\.marker: not an IRI"),
        ("like = 'nobody'", "like: no bundled profile is called 'nobody'"),
        ("like = '../endpoints/wikidata'", "like: no bundled profile"),
        ("like = 'wikidata'\n[shape.labels]\nproperty_of = 'no iri'", "shape.labels.property_of"),
        ("title = ", "Invalid value"),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    """A profile that does not fit is refused with its path and the key."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ProfileError, match=message) as caught:
        find("mine", str(tmp_path))
    assert str(path) in str(caught.value)


def test_a_wrong_key_points_to_where_keys_are_listed(tmp_path: Path) -> None:
    """The list of known profiles helps against a wrong name only."""
    (tmp_path / "mine.toml").write_text("limit = 3")
    with pytest.raises(ProfileError) as wrong:
        find("mine", str(tmp_path))
    with pytest.raises(ProfileError) as unknown:
        find("nobody")
    assert "docs/endpoints.md" in wrong.value.hint
    assert "endpoints list" in unknown.value.hint


@pytest.mark.parametrize("name", ["nobody", "", "../endpoints/wikidata", "/etc/passwd", "x" * 500])
def test_unknown_names_list_the_known(name: str) -> None:
    """A name without a profile, or one that would leave the folder, is refused with the names that exist."""
    with pytest.raises(ProfileError, match=r"known: .*wikidata"):
        find(name)


def test_own_folder_comes_first(tmp_path: Path) -> None:
    """A user's profile may replace a bundled one of the same name, and take over its shape."""
    (tmp_path / "wikidata.toml").write_text('urls = ["http://127.0.0.1:7001/sparql"]\nlike = "wikidata"')
    mine = find("wikidata", str(tmp_path))
    assert mine.urls == ("http://127.0.0.1:7001/sparql",)
    assert mine.shape.labels == find("wikidata").shape.labels
    assert names(str(tmp_path)) == names()


def test_like_may_be_changed_in_places() -> None:
    """Keys of its own take the place of the model's; the others of their table stay."""
    model, main = find("wikidata").shape, find("wikidata-scholarly").shape
    assert (main.labels.property_of, main.labels.predicates) == ("", model.labels.predicates)
    assert (main.mediators, main.edges, main.unknown) == (model.mediators, model.edges, model.unknown)
    changed = parse(
        "like = 'wikidata'\n[shape]\nmarker = 'http://a/'\n[shape.edges]\nskip = ['http://b/']", "x.toml", "x"
    ).shape
    assert (changed.marker, changed.edges.skip, changed.edges.only) == ("http://a/", ("http://b/",), model.edges.only)


def test_a_bundled_profile_cannot_be_like_itself() -> None:
    """`like` never goes in a circle."""
    source = folder("endpoints") / "wikidata.toml"
    with pytest.raises(ProfileError, match="like"):
        parse("like = 'wikidata'", str(source), "wikidata")


def test_unreadable_files(tmp_path: Path) -> None:
    """A file that is missing, a pipe or no text is a profile error."""
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError, match="not UTF-8"):
        find("bytes", str(tmp_path))
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ProfileError, match="not a regular file"):
        find("pipe", str(tmp_path))
    with pytest.raises(ProfileError, match="No such file"):
        profiles.load(tmp_path / "none.toml")


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A typing error in profiles_dir must not leave somebody with the bundled profiles only."""
    missing = str(tmp_path / "nowhere")
    for look in (lambda: profiles.names(missing), lambda: find("sample", missing)):
        with pytest.raises(SettingsError, match="nowhere: no such folder of profiles") as caught:
            look()
        assert "profiles_dir" in caught.value.hint


def test_an_empty_profile_is_the_default_shape() -> None:
    """Everything has a default, so a profile can be one line."""
    assert parse("", "here", "mine").shape == Shape()
