import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

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
    [found] = json.loads(cli("search", "Strelsau", "-e", graph, "--json").stdout)
    assert (found["iri"], found["label"], found["score"]) == ("<http://ex.org/strelsau>", "Strelsau", 1.0)
    [curie] = json.loads(cli("search", "Marie Curie", "-e", "sample", "--json").stdout)
    assert (curie["type"], curie["description"]) == ("human", "Polish-French physicist and chemist")


@pytest.mark.parametrize("command", ["search", "neighbours"])
def test_unreachable_endpoint(cli: Cli, dead: str, command: str) -> None:
    """An endpoint that nothing serves is exit code 3, with what was tried."""
    result = cli(command, "Strelsau", "-e", dead)
    assert result.exit_code == 3
    assert "tried: 4 requests in " in result.stderr


def test_neighbours_in_both_directions(cli: Cli, graph: Path) -> None:
    """Each edge is one line, walked from the entity, with its labels and its endpoint."""
    lines = cli("neighbours", "Rudolf V", "-e", graph.name).stdout.splitlines()
    assert lines[0] == "Rudolf V  <http://ex.org/rudolf>"
    assert sorted(lines[1:]) == [
        "  Rudolf V ← king ← Ruritania  [kingdom.ttl]",
        "  Rudolf V → spouse → Flavia  [kingdom.ttl]",
    ]


@pytest.mark.parametrize(("way", "relation"), [("out", "spouse"), ("in", "king")])
def test_neighbours_in_one_direction(cli: Cli, graph: Path, way: str, relation: str) -> None:
    """--direction asks for one side only."""
    shown = json.loads(cli("neighbours", "http://ex.org/rudolf", "-e", graph, "--direction", way, "--json").stdout)
    assert [edge["labels"][edge["relation"]] for edge in shown["edges"]] == [relation]
    assert [edge["direction"] for edge in shown["edges"]] == [way]


def test_neighbours_with_a_limit(cli: Cli) -> None:
    """--limit bounds what is printed and says how much is left."""
    lines = cli("neighbours", "Marie Curie", "-e", "sample", "--limit", "3").stdout.splitlines()
    assert len(lines) == 5
    assert lines[-1].endswith("more edges; --limit shows more")
    shown = json.loads(cli("neighbours", "Marie Curie", "-e", "sample", "--limit", "3", "--json").stdout)
    assert len(shown["edges"]) == 3
    assert lines[-1].startswith(f"… and {shown['more']} ")


def test_qualifiers_are_shown(cli: Cli) -> None:
    """What a statement says beside its value stands behind the edge, labelled, and is labelled in JSON too."""
    out = cli("neighbours", "Marie Curie", "-e", "sample", "--direction", "out").stdout
    assert "Marie Curie → spouse → Pierre Curie  (start time: 1895-07-26; end time: 1906-04-19)  [sample]" in out
    shown = json.loads(cli("neighbours", "Marie Curie", "-e", "sample", "--direction", "out", "--json").stdout)
    [spouse] = [edge for edge in shown["edges"] if edge["labels"][edge["relation"]] == "spouse"]
    assert [spouse["labels"][leg["relation"]] for leg in spouse["qualifiers"]] == ["start time", "end time"]


def test_entity_without_edges(cli: Cli, graph: Path) -> None:
    """An IRI that the graph says nothing of is exit code 1."""
    result = cli("neighbours", "http://ex.org/nobody", "-e", graph)
    assert result.exit_code == 1
    assert "No edges." in result.stdout


def test_neighbours_of_an_unreachable_endpoint(cli: Cli, dead: str) -> None:
    """By IRI nothing needs to be looked up: the failure is then a gap, and exit code 3."""
    result = cli("neighbours", "http://ex.org/rudolf", "-e", dead)
    assert result.exit_code == 3
    assert f"gap: {dead}: http://ex.org/rudolf (out): " in result.stdout


def test_no_model_is_needed(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is set up without its key does not stand in the way of looking."""
    monkeypatch.setenv("FEDKG_MODEL", "anthropic:m")
    assert cli("search", "Strelsau", "-e", graph).exit_code == 0
    assert cli("neighbours", "Strelsau", "-e", graph).exit_code == 0


def test_search_by_meaning_finds_what_walks_have_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a question its labels can be searched; before, and without vectors, there is nothing to search."""
    assert cli("search", "birthplace", "-e", "sample", "--meaning").exit_code == 2
    monkeypatch.setenv("FEDKG_EMBEDDER", "minilm")
    assert cli("search", "birthplace", "-e", "sample", "--meaning").exit_code == 1
    assert cli("ask", "Where was Niels Bohr born?", "-e", "sample", "--depth", "1").exit_code == 0
    found = cli("search", "birthplace", "-e", "sample", "--meaning")
    assert found.exit_code == 0
    assert "place of birth" in found.stdout
