import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Cli = Callable[..., Result]


@pytest.fixture
def document(cli: Cli, graph: Path, tmp_path: Path) -> Path:
    """A saved answer: two kings, each proved by one edge of the kingdom's file, which lies in the working folder."""
    path = tmp_path / "answer.json"
    path.write_text(cli("ask", "Who is the king of Ruritania?", "-e", graph.name, "--json").stdout)
    assert [len(shown_path["edges"]) for shown_path in json.loads(path.read_text())["paths"]] == [1, 1]
    return path


def test_round_trip(cli: Cli, document: Path) -> None:
    """What `ask --json` prints, `verify` reads: every edge holds on the endpoint that the document names."""
    result = cli("verify", document)
    assert result.exit_code == 0
    *edges, last, query = result.stdout.splitlines()
    assert query == "Its query returns the same answers."
    assert sorted(edges) == [
        "holds  Ruritania → king → Michael  [kingdom.ttl]",
        "holds  Ruritania → king → Rudolf V  [kingdom.ttl]",
    ]
    assert last == "All 2 edges hold."


def test_from_standard_input(cli: Cli, document: Path) -> None:
    """`-` reads the document from stdin."""
    assert cli("verify", "-", stdin=document.read_bytes()).stdout.splitlines()[-2] == "All 2 edges hold."


def test_changed_graph(cli: Cli, document: Path, graph: Path) -> None:
    """An edge that the graph has dropped is named; the others still hold; exit code 1."""
    graph.write_text(graph.read_text().replace("ex:rudolf, ex:michael", "ex:rudolf"))
    result = cli("verify", document)
    assert result.exit_code == 1
    *edges, last, query = result.stdout.splitlines()
    assert query == "Its query does not return Michael."
    assert sorted(edges) == [
        "GONE   Ruritania → king → Michael  [kingdom.ttl]",
        "holds  Ruritania → king → Rudolf V  [kingdom.ttl]",
    ]
    assert last == "1 of 2 edges no longer holds."


def test_as_json(cli: Cli, document: Path, graph: Path) -> None:
    """`--json` gives every edge with its path and whether it holds, and the counts."""
    graph.write_text(graph.read_text().replace("ex:rudolf, ex:michael", "ex:michael"))
    result = cli("verify", document, "--json")
    shown = json.loads(result.stdout)
    assert (result.exit_code, shown["holds"], shown["gone"]) == (1, 1, 1)
    assert sorted(edge["path"] for edge in shown["edges"]) == [0, 1]
    assert {edge["edge"]["object"]: edge["holds"] for edge in shown["edges"]} == {
        "<http://ex.org/rudolf>": False,
        "<http://ex.org/michael>": True,
    }


def test_an_edge_that_cannot_be_asked_for(cli: Cli, document: Path) -> None:
    """It is told apart from one that is gone, and it is no proof either: exit code 1."""
    shown = json.loads(document.read_text())
    shown["paths"][0]["edges"][0]["object"] = "<http://ex.org/no query>"
    document.write_text(json.dumps(shown))
    result = cli("verify", document)
    assert result.exit_code == 1
    assert [line.split("  ")[0] for line in result.stdout.splitlines()[:2]] == ["not asked", "holds"]
    assert "1 of 2 edges could not be asked for" in result.stdout
    assert "GONE" not in result.stdout
    counts = json.loads(cli("verify", document, "--json").stdout)
    assert (counts["holds"], counts["gone"], counts["unasked"]) == (1, 0, 1)


def test_another_endpoint(cli: Cli, document: Path, tmp_path: Path, graph: Path) -> None:
    """-e asks another endpoint than the document's."""
    copy = tmp_path / "folder" / "copy.ttl"
    copy.parent.mkdir()
    graph.rename(copy)
    assert cli("verify", document, "-e", copy).exit_code == 0
    result = cli("verify", document)
    assert result.exit_code == 2
    assert "kingdom.ttl: No such file" in result.stderr
    assert "name its endpoints with -e" in result.stderr


def test_endpoint_that_the_document_does_not_know(cli: Cli, document: Path, tmp_path: Path) -> None:
    """Among several endpoints the one that said an edge must be there: an unknown one is not passed off as gone."""
    other = tmp_path / "other.ttl"
    other.write_text("<http://a/b> <http://a/c> <http://a/d> .")
    result = cli("verify", document, "-e", "sample", "-e", other)
    assert result.exit_code == 2
    assert "edges of kingdom.ttl, which is none of sample + " in result.stderr


@pytest.mark.parametrize("also", [(), ("sample",)])
def test_edge_of_an_endpoint_that_the_document_does_not_name(cli: Cli, document: Path, also: tuple[str, ...]) -> None:
    """Without -e the document must name the endpoint of each edge, be it one or several; with -e a person decides."""
    shown = json.loads(document.read_text())
    shown["settings"]["endpoints"] += also
    shown["paths"][0]["edges"][0]["endpoint"] = "elsewhere"
    document.write_text(json.dumps(shown))
    result = cli("verify", document)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: edges of elsewhere, which is none of kingdom.ttl")
    assert "hint: name it with -e" in result.stderr
    assert cli("verify", document, "-e", "kingdom.ttl").exit_code == 0


@pytest.mark.parametrize(
    ("left", "code", "verdict"), [(True, 0, "The one edge holds."), (False, 1, "1 of 1 edge no longer")]
)
def test_one_edge(cli: Cli, graph: Path, left: bool, code: int, verdict: str) -> None:
    """One edge is not spoken of in the plural."""
    document = cli("ask", "What is the capital of Ruritania?", "-e", graph.name, "--json").stdout
    if not left:
        graph.write_text(graph.read_text().replace("ex:capital ex:strelsau", "ex:capital ex:zenda"))
    result = cli("verify", "-", stdin=document)
    assert result.exit_code == code
    assert result.stdout.splitlines()[1].startswith(verdict)


def test_qualifiers_are_not_said_to_hold(cli: Cli, document: Path) -> None:
    """They are not asked for, so they do not stand beside the mark; the help says so."""
    shown = json.loads(document.read_text())
    shown["paths"][0]["edges"][0]["qualifiers"] = [{"relation": "<http://ex.org/since>", "value": '"1066"'}]
    document.write_text(json.dumps(shown))
    result = cli("verify", document)
    assert result.exit_code == 0
    assert "1066" not in result.stdout
    page = " ".join(cli("verify", "--help").stdout.split())
    assert "Labels and qualifiers are not verified" in page
    assert "who wrote the document decides whom this command asks" in page


def test_unreachable_endpoint(cli: Cli, document: Path, dead: str) -> None:
    """An endpoint that does not answer says nothing about the edges: exit code 3."""
    result = cli("verify", document, "-e", dead)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "tried: " in result.stderr


def test_model_of_the_document_is_not_needed(cli: Cli, document: Path) -> None:
    """An answer that a paid model gave can be verified without its key."""
    shown = json.loads(document.read_text())
    shown["settings"]["model"] = "anthropic:m"
    document.write_text(json.dumps(shown))
    assert cli("verify", document).exit_code == 0


def test_document_without_edges(cli: Cli) -> None:
    """A question that was not answered leaves nothing to verify."""
    document = cli("ask", "Wellington is a city.", "--kind", "claim", "-e", "sample", "--json").stdout
    result = cli("verify", "-", stdin=document)
    assert (result.exit_code, result.stdout) == (0, "The document shows no edges.\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "no fedkg answer document"),
        ("<html>", "no fedkg answer document"),
        ("{}", "missing required field `question`"),
        ("[" * 100_000, "no fedkg answer document"),
        ('{"version": 99}', "version 99 is not known"),
        ('{"question": "q", "kind": "entities", "status": "none"}', "names no endpoints"),
        (
            '{"question": "q", "kind": "entities", "status": "none", "settings": {"endpoints": [1]}}',
            "names no endpoints",
        ),
        ('{"question": "q", "kind": "entities", "status": "perhaps"}', "status"),
    ],
)
def test_files_that_are_no_document(cli: Cli, tmp_path: Path, data: str, message: str) -> None:
    """Anything else than an answer document is refused with a sentence and a hint."""
    file = tmp_path / "file.json"
    file.write_text(data)
    result = cli("verify", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr.splitlines()[0]
    assert "hint: " in result.stderr


def test_files_that_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    """A missing file and a folder are named."""
    for path in (tmp_path / "missing.json", tmp_path):
        result = cli("verify", path)
        assert result.exit_code == 2
        assert f"error: {path}: " in result.stderr


@pytest.fixture
def federated(cli: Cli, tmp_path: Path) -> Path:
    """A saved answer that needs two files, which an identifier joins."""
    same = "<http://www.geneontology.org/formats/oboInOwl#hasDbXref>"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    (tmp_path / "one.nt").write_text(f'<http://x/d> {same} "DOID:1" .\n<http://x/d> {label} "gout" .\n')
    copy = "<http://purl.obolibrary.org/obo/DOID_1>"
    other = "<http://purl.obolibrary.org/obo/DOID_2>"
    facts = f"{copy} <http://x/cure> <http://x/rest> .\n{other} <http://x/cure> <http://x/rest> .\n"
    (tmp_path / "two.nt").write_text(facts)
    path = tmp_path / "answer.json"
    path.write_text(cli("ask", "What is the cure of gout?", "-e", "one.nt", "-e", "two.nt", "--json").stdout)
    return path


def test_each_edge_is_asked_for_where_it_was_said(cli: Cli, federated: Path) -> None:
    """The identifier of one endpoint and the fact of the other hold."""
    result = cli("verify", federated)
    assert result.stdout.splitlines() == [
        "holds  gout → hasDbXref → DOID:1 = gout  [one.nt]",
        "holds  gout → cure → rest  [two.nt]",
        "All 2 edges hold.",
    ]
    assert result.exit_code == 0


def test_a_forged_identity_is_found(cli: Cli, federated: Path) -> None:
    """Both facts are there, but the identifier is of another entity: neither does it hold nor is anything proven."""
    document = federated.read_text().replace("DOID_1>", "DOID_2>")
    federated.write_text(document)
    result = cli("verify", federated)
    assert result.exit_code == 1
    assert "GONE   gout → hasDbXref → DOID:1 = gout  [one.nt]" in result.stdout
    assert "holds  gout → cure → rest  [two.nt]" in result.stdout
    assert "No path of the document leads to its answer rest." in result.stdout


@pytest.mark.parametrize(
    ("answer", "code"),
    [({"value": "yes"}, 0), ({"value": "perhaps"}, 1), ({"value": "yes", "iri": "http://ex.org/rudolf"}, 1)],
)
def test_a_verdict_is_verified_by_its_evidence(cli: Cli, document: Path, answer: dict[str, str], code: int) -> None:
    """Its edges are asked for; what is neither yes nor no, or passes for a node, nobody can have judged."""
    shown = json.loads(document.read_text())
    document.write_text(json.dumps(shown | {"kind": "yesno", "answers": [{"paths": [0, 1], **answer}]}))
    result = cli("verify", document)
    assert "All 2 edges hold." in result.stdout
    assert result.exit_code == code
    assert ("leads to its answer" in result.stdout) == bool(code)
