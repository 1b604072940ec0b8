import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]


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


def test_what_is_not_in_the_graph(cli: Cli, graph: Path) -> None:
    """An IRI that the graph says nothing of is exit code 1, and no entity without edges."""
    result = cli("neighbours", "http://ex.org/nobody", "-e", graph)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == ["http://ex.org/nobody is not in the graph."]


def test_entity_without_edges(cli: Cli, tmp_path: Path) -> None:
    """An entity that has nothing but a name is in the graph."""
    name = '<http://ex.org/a> <http://www.w3.org/2000/01/rdf-schema#label> "A" .\n'
    (tmp_path / "bare.nt").write_text(name)
    result = cli("neighbours", "http://ex.org/a", "-e", "bare.nt")
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (1, ["No edges."])


def test_what_the_profile_hides(cli: Cli, graph: Path, tmp_path: Path) -> None:
    """The number of edges that `only` leaves out is printed after the others, with their predicates."""
    edges = '[shape.edges]\nonly = "http://ex.org/k"\n'
    (tmp_path / "few.toml").write_text(f'like = "generic"\nfile = "{graph}"\n{edges}')
    asked = ("neighbours", "Ruritania", "-e", "few", "--profiles", tmp_path)
    lines = cli(*asked).stdout.splitlines()
    assert lines[-1] == "the profile few hides 1 edge at few: <http://ex.org/capital> 1"
    [hidden] = json.loads(cli(*asked, "--json").stdout)["hidden"]
    assert (hidden["hidden"], hidden["shown"], hidden["held"]) == ({"http://ex.org/capital": 1}, 2, True)


def test_neighbours_of_an_unreachable_endpoint(cli: Cli, dead: str) -> None:
    """By IRI nothing needs to be looked up: the failure is then a gap, and exit code 3."""
    result = cli("neighbours", "http://ex.org/rudolf", "-e", dead)
    assert result.exit_code == 3
    assert f"gap: {dead}: http://ex.org/rudolf (out): " in result.stdout
    assert "No edges." not in result.stdout
    assert "not in the graph" not in result.stdout


def test_no_model_is_needed(cli: Cli, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is set up without its key does not stand in the way of looking."""
    monkeypatch.setenv("FEDKG_MODEL", "anthropic:m")
    assert cli("search", "Strelsau", "-e", graph).exit_code == 0
    assert cli("neighbours", "Strelsau", "-e", graph).exit_code == 0


def test_relations_that_are_called_alike_are_told_apart(cli: Cli, tmp_path: Path) -> None:
    """Two predicates of one name have their IRIs beside it; one by itself has none."""
    graph = tmp_path / "two.ttl"
    graph.write_text('<http://x/a> <http://p/name> "Ann" ; <http://q/name> "Anna" ; <http://p/knows> <http://x/b> .')
    lines = cli("neighbours", "http://x/a", "-e", graph).stdout.splitlines()
    assert any("→ name <http://p/name> → Ann" in line for line in lines)
    assert any("→ name <http://q/name> → Anna" in line for line in lines)
    assert any("→ knows → b" in line for line in lines)
