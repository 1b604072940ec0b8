"""`fedkg index`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import Result

Cli = Callable[..., Result]


def test_the_labels_of_a_graph_are_embedded(cli: Cli, graph: Path) -> None:
    """Each once; then the retriever `global` has candidates, and without that it says what to do."""
    arguments = ("-e", graph, "--embedder", "hashing")
    asked = ("ask", "What is the capital of Ruritania?", *arguments, "--retriever", "global")
    refused = cli(*asked)
    assert (refused.exit_code, "`fedkg index`" in refused.stderr) == (2, True)
    made = json.loads(cli("index", *arguments, "--json").stdout)
    assert made["new"] == made["entities"] + made["relations"] > 0
    assert cli("index", *arguments).stdout.endswith("; 0 labels are new\n")
    assert "Strelsau" in cli(*asked).stdout


def test_what_an_endpoint_cannot_list_is_left_out(cli: Cli, served: Callable[..., Any]) -> None:
    """It is told, with what needs it; where nothing can be listed the exit code is 3."""
    arguments = ("-e", served(refused="DISTINCT ?p").url, "--embedder", "hashing")
    made = cli("index", *arguments)
    assert (made.exit_code, " and 0 relations; " in made.stdout) == (0, True)
    assert "cannot list its relations: " in made.stderr
    assert "--retriever global needs relations" in made.stderr
    [gap] = json.loads(cli("index", *arguments, "--json").stdout)["missing"]
    assert gap["asked"] == "its relations"
    nothing = cli("index", "-e", served(refused="SELECT").url, "--embedder", "hashing")
    assert (nothing.exit_code, nothing.stdout) == (3, "")
