"""Benchmark definitions."""

import tomllib
from pathlib import Path

import pytest

from fedkg.bench.data import definitions
from fedkg.bench.data.files import present, sha256
from fedkg.config import profiles
from fedkg.config.resources import folder
from fedkg.errors import DatasetError


@pytest.mark.parametrize("name", definitions.names())
def test_every_definition_fits(name: str) -> None:
    """Each names a known profile, where it comes from, under which licence, and what to cite.

    Checksums only of its own files.
    """
    definition = definitions.find(name)
    assert definition.name == name
    assert definition.profile in profiles.names()
    assert definition.source.url.startswith("https://") or present(definition, definition.questions, None)
    assert all((definition.title, definition.source.licence, definition.source.cite))
    assert set(definition.sha256) <= set(definition.files)


@pytest.mark.parametrize("name", definitions.names())
def test_checksums_are_those_of_the_public_files(name: str, data: Path) -> None:
    """Whoever holds the data folder is told where it differs from what the committed results were made from."""
    definition = definitions.find(name)
    there = {name: file for name in definition.files if (file := present(definition, name, data))}
    assert {name: sha256(file) for name, file in there.items()} == definition.sha256


def test_an_unknown_benchmark_is_said_with_the_known_ones() -> None:
    """A typing error costs no search."""
    with pytest.raises(DatasetError, match="metaqa-1hop") as caught:
        definitions.find("metaqa")
    assert "custom:FILE" in caught.value.hint


def test_a_definition_of_ones_own(tmp_path: Path) -> None:
    """A TOML file is read as the bundled ones are, and is called as its file is."""
    file = tmp_path / "mine.toml"
    file.write_text('title = "mine"\nquestions = "q.jsonl"\ndepth = 2\nkind = "claim"\n')
    definition = definitions.find(str(file))
    assert (definition.name, definition.depth, definition.kind, definition.graph, definition.files) == (
        "mine",
        2,
        "claim",
        "",
        ("q.jsonl",),
    )


@pytest.mark.parametrize(
    "text",
    [
        "title = ",
        'title = "x"\nquestions = "q"\n',
        'title = "x"\nquestions = "q"\ndepth = 0\n',
        'title = "x"\nquestions = "q"\ndepth = 1\ncolour = "red"\n',
        'title = "x"\nquestions = "q"\ndepth = 1\nloader = "csv"\n',
        'title = "x"\nquestions = "q"\ndepth = 1\n[source]\nsha256 = "12"\n',
        'title = "x"\nquestions = "q"\ndepth = 1\nname = "../x"\n',
        'title = "x"\nquestions = "q"\ndepth = 1\nname = 7\n',
        "x = " + "[" * 5000,
        "\x00",
    ],
)
def test_a_definition_that_does_not_fit_is_named(tmp_path: Path, text: str) -> None:
    """With its file, since these are written by hand."""
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(DatasetError, match=r"mine\.toml"):
        definitions.find(str(file))


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("loader", "commonsenseqa, crlt, cwq, jsonl, medqa, qald"),
        ("topics", "gold, own"),
        ("kind", "choice, claim, count"),
    ],
)
def test_an_unknown_value_is_said_with_the_known_ones(tmp_path: Path, key: str, known: str) -> None:
    """Of a key that takes but a few."""
    file = tmp_path / "mine.toml"
    file.write_text(f'title = "x"\nquestions = "q"\ndepth = 1\n{key} = "csv"\n')
    with pytest.raises(DatasetError, match=f"known: {known}"):
        definitions.find(str(file))


def test_a_definition_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    """Both are said, and no traceback."""
    with pytest.raises(DatasetError, match="No such file"):
        definitions.find(str(tmp_path / "none.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetError, match=r"bytes\.toml"):
        definitions.find(str(tmp_path / "bytes.toml"))


def test_a_question_file_is_a_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named from where the command is given, whatever --data says, and has no graph."""
    monkeypatch.chdir(tmp_path)
    definition = definitions.find("custom:sets/mine.jsonl.gz")
    assert (definition.name, definition.graph, definition.questions) == (
        "custom-mine",
        "",
        str(tmp_path / "sets" / "mine.jsonl.gz"),
    )


def test_every_bundled_file_says_what_it_is() -> None:
    """A comment before the first key is for whoever opens it."""
    for name in definitions.names():
        text = (folder("eval") / "benchmarks" / f"{name}.toml").read_text()
        assert text.startswith("# ")
        assert "title" in tomllib.loads(text)
