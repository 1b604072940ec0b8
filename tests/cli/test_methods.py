"""`fedkg methods`, and `--method` where it is asked with."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fedkg.methods.registry import METHODS
from tests.support.extras import needs

Cli = Callable[..., Result]


def test_each_method_is_listed_with_its_paper(cli: Cli) -> None:
    """Two lines for each, in the order of the table."""
    lines = cli("methods", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines[::2]] == list(METHODS)
    for method, title, paper in zip(METHODS.values(), lines[::2], lines[1::2], strict=True):
        assert title.endswith(method.title)
        assert paper.strip().startswith(f"{method.paper}; asks")
        assert (" alone" in paper) == (not method.graph)


def test_the_list_as_json(cli: Cli) -> None:
    """One object for each method, with what it asks for."""
    listed = json.loads(cli("methods", "list", "--json").stdout)
    assert {method["name"]: method["graph"] for method in listed} == {
        name: method.graph for name, method in METHODS.items()
    }
    assert all(method["title"] and method["paper"] for method in listed)


@pytest.mark.parametrize("place", ["flag", "environment"])
def test_an_unknown_method_is_bad_input(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """The known ones are named, wherever the name came from."""
    if place == "environment":
        monkeypatch.setenv("FEDKG_METHOD", "guessing")
    flags = ("--method", "guessing") if place == "flag" else ()
    result = cli("ask", "What is the capital of Ruritania?", "-e", graph, *flags)
    assert (result.exit_code, "no method is called 'guessing'" in result.stderr) == (2, True)
    assert "known: fidelis" in result.stderr


def test_an_unknown_retriever_is_bad_input(cli: Cli, graph: Path) -> None:
    """The known ones are named, before anything is asked."""
    result = cli("ask", "What is the capital of Ruritania?", "-e", graph, "--retriever", "guessing")
    assert (result.exit_code, "no retriever is called 'guessing'" in result.stderr) == (2, True)
    assert "known: path-rag, vanilla, kaping, tog" in result.stderr


def test_the_document_names_the_method_and_the_retriever(cli: Cli, graph: Path) -> None:
    """As they were asked for."""
    asked = ("ask", "What is the capital of Ruritania?", "-e", graph, "--json")
    shown = json.loads(cli(*asked, "--method", "fidelis", "--retriever", "vanilla").stdout)
    assert (shown["method"], shown["settings"]["method"]) == ("fidelis", "fidelis")
    assert shown["settings"]["search"]["retriever"] == "vanilla"
    assert shown["measures"] == {}


@needs("hf", "transformers")
@pytest.mark.parametrize("flags", [("--model", "hf:/no/such"), ("--model", "hf:."), ("--door", "token")])
def test_a_model_that_cannot_write_paths_is_bad_input(
    cli: Cli, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, str]
) -> None:
    """A folder that is none, one without a model, a door that the model has not; the hint says what would do."""
    monkeypatch.chdir(tmp_path)
    result = cli("ask", "What is the capital of Ruritania?", "-e", graph, "--method", "gcr", *flags)
    assert result.exit_code == 2
    assert "hf:FOLDER" in result.stderr
