import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.extras import needs

Cli = Callable[..., Result]


def test_search_by_label(cli: Cli) -> None:
    """An exact label gives that entity first: a table of label, type, description, IRI and score."""
    result = cli("search", "Marie Curie", "-e", "sample")
    assert result.exit_code == 0
    head, first = result.stdout.splitlines()[:2]
    assert head.split() == ["label", "type", "description", "IRI", "score"]
    assert first.startswith(
        "Marie Curie  human  Polish-French physicist and chemist  <http://www.wikidata.org/entity/Q7186>"
    )
    assert first.endswith("  1.00")


def test_search_shows_whole_iris_and_plain_text(cli: Cli, tmp_path: Path) -> None:
    """An IRI stays one word on any screen; markup and terminal sequences of a label do nothing."""
    long = f"http://ex.org/{'long/' * 40}end"
    label = '<http://www.w3.org/2000/01/rdf-schema#label> "[bold]red\u001b[31m"'
    (tmp_path / "odd.nt").write_text(f"<{long}> {label} .\n")
    (line,) = cli("search", "[bold]red\x1b[31m", "-e", tmp_path / "odd.nt").stdout.splitlines()[1:]
    assert (line.startswith("[bold]red  "), f"<{long}>" in line) == (True, True)


def test_search_for_something_similar(cli: Cli) -> None:
    """Where no label fits exactly, similar ones come with their likeness; --limit bounds them."""
    result = cli("search", "Marie Cury", "-e", "sample", "--limit", "2")
    assert result.exit_code == 0
    _, first, *others = result.stdout.splitlines()
    assert (first.startswith("Marie Curie  "), "<http://www.wikidata.org/entity/Q7186>" in first) == (True, True)
    assert 0.6 < float(first.split()[-1]) < 0.8
    assert len(others) <= 1


def test_search_that_finds_nothing(cli: Cli) -> None:
    """Nothing found is exit code 1, with a sentence or an empty list."""
    plain = cli("search", "qqqqqqqq", "-e", "sample")
    assert (plain.exit_code, "hint: --meaning" in plain.stdout) == (1, True)
    result = cli("search", "qqqqqqqq", "-e", "sample", "--json")
    assert (result.exit_code, result.stdout) == (1, "[]\n")


def test_search_as_json(cli: Cli, graph: Path) -> None:
    """`--json` gives the matches with IRI, label, score, and what they are."""
    [match] = json.loads(cli("search", "Strelsau", "-e", graph, "--json").stdout)
    assert (match["iri"], match["label"], match["score"]) == ("<http://ex.org/strelsau>", "Strelsau", 1.0)
    [curie] = json.loads(cli("search", "Marie Curie", "-e", "sample", "--json").stdout)
    assert (curie["type"], curie["description"]) == ("human", "Polish-French physicist and chemist")


@pytest.mark.parametrize("command", ["search", "neighbours"])
def test_unreachable_endpoint(cli: Cli, dead: str, command: str) -> None:
    """An endpoint that nothing serves is exit code 3, with what was tried."""
    result = cli(command, "Strelsau", "-e", dead)
    assert result.exit_code == 3
    assert "tried: 4 requests in " in result.stderr


@needs("embeddings", "onnxruntime")
def test_search_by_meaning_finds_what_walks_have_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a question its labels can be searched; before, and without vectors, there is nothing to search."""
    assert cli("search", "birthplace", "-e", "sample", "--meaning").exit_code == 2
    monkeypatch.setenv("FEDKG_EMBEDDER", "minilm")
    assert cli("search", "birthplace", "-e", "sample", "--meaning").exit_code == 1
    assert cli("ask", "Where was Niels Bohr born?", "-e", "sample", "--depth", "1").exit_code == 0
    result = cli("search", "birthplace", "-e", "sample", "--meaning")
    assert result.exit_code == 0
    assert "place of birth" in result.stdout
