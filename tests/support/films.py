"""A small graph of films: a director whose two films have an actor each."""

import gzip
from pathlib import Path

__all__ = ["X", "write"]

X = "http://x/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
GRAPH = """
<http://x/lee> <http://x/r/directed> <http://x/wave> .
<http://x/lee> <http://x/r/directed> <http://x/storm> .
<http://x/lee> <http://x/r/born> <http://x/york> .
<http://x/wave> <http://x/r/starring> <http://x/ann> .
<http://x/storm> <http://x/r/starring> <http://x/bob> .
<http://x/storm> <http://x/r/born> "1990" .
"""
NAMES = ("lee", "wave", "storm", "york", "ann", "bob")


def write(folder: Path) -> Path:
    """The graph as a file of that folder, with the labels of its entities."""
    labels = "".join(f'<{X}{name}> <{LABEL}> "{name.title()}"@en .\n' for name in NAMES)
    file = folder / "films.nt.gz"
    file.write_bytes(gzip.compress((GRAPH.lstrip() + labels).encode()))
    return file
