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
