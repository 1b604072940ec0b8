"""What docs/endpoints.md says is so: its example is followed on a real server, its tables are those of the code."""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from fedkg import identity, profiles
from fedkg.cli.main import main
from fedkg.errors import EndpointError
from fedkg.profiles import Profile

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = (ROOT / "docs" / "endpoints.md").read_text(encoding="utf-8")
URL = "http://127.0.0.1:7878/query"


def blocks(language: str) -> list[str]:
    """The document's code blocks in that language, in their order."""
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)


def transcripts() -> list[tuple[str, list[str]]]:
    """Each command of the document, with the lines that it is shown to print."""
    found = (re.findall(r"(?m)^\$ fedkg (.*)\n((?:(?!\$ ).*\n)*)", block) for block in blocks("console"))
    return [(command, shown.splitlines()) for block in found for command, shown in block]


def keys(prefix: str, kind: type[msgspec.Struct]) -> Iterator[tuple[str, Any]]:
    """Every key of a profile by its dotted name, with its default."""
    for field in msgspec.structs.fields(kind):
        default = field.default
        if isinstance(default, msgspec.Struct):
            yield from keys(f"{prefix}{field.name}.", type(default))
        elif field.name != "source":
            yield f"{prefix}{field.name}", list(default) if isinstance(default, tuple) else default


@pytest.fixture
def books(
    oxigraph: Callable[..., AbstractContextManager[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The document's graph on a real server, its profile in the folder `profiles`; the server's URL."""
    monkeypatch.chdir(tmp_path)
    [graph], [profile, *_] = blocks("ntriples"), blocks("toml")
    (tmp_path / "books.nt").write_text(graph)
    (tmp_path / "profiles").mkdir()
    with oxigraph([tmp_path / "books.nt"]) as url:
        (tmp_path / "profiles" / "books.toml").write_text(profile.replace(URL, url))
        yield url


@pytest.mark.parametrize(("command", "shown"), transcripts())
def test_the_example_is_followed(books: str, command: str, shown: list[str]) -> None:
    """Each command, as it stands there, prints the lines that the document shows, in their order."""
    result = CliRunner().invoke(main, shlex.split(command.replace(URL, books)))
    assert result.exit_code == 0, result.output
    printed = iter(result.stdout.splitlines())
    for line in filter(None, shown):
        assert any(said.startswith(line.replace(URL, books)) for said in printed), (line, result.stdout)


def test_the_example_goes_from_an_examination_to_an_answer() -> None:
    """The document shows the doctor before and after the profile was written, and a question."""
    assert [command.split()[0] for command, _ in transcripts()] == ["endpoints", "endpoints", "ask"]


def test_every_key_is_told_with_its_default() -> None:
    """The tables name every key of a profile, and nothing else, with the default that the code has."""
    told = dict(re.findall(r"(?m)^\| `([\w.]+)` \| (`[^|]*`|the file's name) \|", DOCUMENT))
    assert told.pop("name") == "the file's name"
    known = dict(keys("", Profile))
    del known["name"]
    assert {key: tomllib.loads(f"value = {default.strip('`')}")["value"] for key, default in told.items()} == known


def test_the_examples_in_toml_fit() -> None:
    """A profile and a table of identities, as they stand in the document, are accepted."""
    for block in blocks("toml"):
        assert profiles.parse(block, "docs/endpoints.md", "books").shape.labels.predicates
    assert [identity.parse(block, "docs/endpoints.md") for block in blocks("text")]


def test_every_error_is_told() -> None:
    """The table of errors names each class that an endpoint's failure may become, and says what happens by itself."""
    table = DOCUMENT.partition("## What errors mean")[2]
    told = dict(re.findall(r"(?m)^\|[^|]*\| `(\w+)`[^|]*\| ([^|]*) \|", table))
    assert told.keys() == {kind.__name__ for kind in EndpointError.__subclasses__()}
    for kind in EndpointError.__subclasses__():
        assert ("reshape" in told[kind.__name__]) == (kind.action.name == "RESHAPE")


def test_what_the_document_names_exists() -> None:
    """Sections that the contents lead to, and files of the project."""
    headings = {
        re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"(?m)^##+ (.*)", DOCUMENT)
    }
    assert set(re.findall(r"\(#([\w-]+)\)", DOCUMENT)) <= headings
    for path in re.findall(r"`(endpoints/[\w.]+)`", DOCUMENT):
        assert (ROOT / path).exists()
