"""`fedkg index`."""

import json
from collections.abc import Callable
from pathlib import Path

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
