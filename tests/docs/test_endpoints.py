"""docs/endpoints.md: an endpoint is added as told, and its tables are those of the code."""

import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fedkg.config import profiles
from fedkg.config.profiles import Profile
from fedkg.errors import EndpointError, UnreachableError
from fedkg.graph import identity
from tests.support.documents import blocks, check_shown, read, run, sections, transcripts

ENDPOINTS = read("endpoints")
URL = "http://127.0.0.1:7878/query"


def keys(prefix: str, kind: type[msgspec.Struct]) -> Iterator[tuple[str, Any]]:
    """Every key of a profile by its dotted name, with its default."""
    for field in msgspec.structs.fields(kind):
        default = field.default
        if isinstance(default, msgspec.Struct):
            yield from keys(f"{prefix}{field.name}.", type(default))
        elif field.name != "source":
            yield f"{prefix}{field.name}", list(default) if isinstance(default, tuple) else default


@pytest.fixture
def books(oxigraph: Callable[..., AbstractContextManager[str]], here: Path) -> Iterator[str]:
    """The document's graph on a real server, its profile in the folder `profiles`; the server's URL."""
    [graph], [profile, *_] = blocks(ENDPOINTS, "ntriples"), blocks(ENDPOINTS, "toml")
    (here / "books.nt").write_text(graph)
    (here / "profiles").mkdir()
    with oxigraph([here / "books.nt"]) as url:
        (here / "profiles" / "books.toml").write_text(profile.replace(URL, url))
        yield url


@pytest.mark.parametrize(("command", "shown"), transcripts(ENDPOINTS))
def test_an_endpoint_is_added_as_told(books: str, command: str, shown: list[str]) -> None:
    """Each command, as it stands there, prints the lines that the document shows, in their order."""
    code, output = run(command.replace(URL, books))
    assert code == 0, output
    check_shown([line.replace(URL, books) for line in shown], output)


def test_the_example_goes_from_an_examination_to_an_answer() -> None:
    """The document shows the check before and after the profile was written, and a question."""
    assert [command.split()[1] for command, _ in transcripts(ENDPOINTS)] == ["endpoints", "endpoints", "ask"]


def test_every_key_is_told_with_its_default() -> None:
    """The tables name every key of a profile, and nothing else, with the default that the code has."""
    documented = dict(re.findall(r"(?m)^\| `([\w.]+)` \| (`[^|]*`|the file's name) \|", ENDPOINTS))
    assert documented.pop("name") == "the file's name"
    known = dict(keys("", Profile))
    del known["name"]
    assert {
        key: tomllib.loads(f"value = {default.strip('`')}")["value"] for key, default in documented.items()
    } == known


def test_the_examples_in_toml_fit() -> None:
    """A profile and a table of identities, as they stand in the document, are accepted."""
    for block in blocks(ENDPOINTS, "toml"):
        assert profiles.parse(block, "docs/endpoints.md", "books").shape.labels.predicates
    assert [identity.parse(block, "docs/endpoints.md") for block in blocks(ENDPOINTS, "text")]


def test_every_error_of_an_endpoint_is_told() -> None:
    """The table of errors names each class that an endpoint's failure may become, and says what happens by itself."""
    table = sections(ENDPOINTS)["What errors mean"]
    documented = dict(re.findall(r"(?m)^\|[^|]*\| `(\w+)`[^|]*\| ([^|]*) \|", table))
    known = {*EndpointError.__subclasses__(), *UnreachableError.__subclasses__()}
    assert documented.keys() == {kind.__name__ for kind in known}
    for kind in known:
        assert ("reshape" in documented[kind.__name__]) == (kind.action.name == "RESHAPE")


def test_the_table_of_servers_is_that_of_the_result_file() -> None:
    """What the page shows was measured: `eval/measure/servers.py --write`."""
    root = Path(__file__).resolve().parents[2]
    table = (root / "eval" / "results" / "servers.md").read_text(encoding="utf-8")
    assert table in (root / "docs" / "endpoints.md").read_text(encoding="utf-8")
