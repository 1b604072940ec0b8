"""Which files hold a graph: told by their suffix, packed with gzip or not, alone or in a folder."""

from collections.abc import Sequence
from pathlib import Path

from fedkg.errors import GraphFileError

__all__ = ["GRAPH_SUFFIXES", "graph_files", "graph_suffix"]

GRAPH_SUFFIXES = {
    ".nt": "nt",
    ".ttl": "ttl",
    ".n3": "n3",
    ".rdf": "rdf",
    ".owl": "rdf",
    ".jsonld": "jsonld",
    ".nq": "nq",
    ".trig": "trig",
    ".xml": "rdf",
    ".json": "jsonld",
}
"""Suffixes, each with the usual one of its format: N-Triples, Turtle, N3, RDF/XML, JSON-LD, N-Quads, TriG."""
VAGUE = {".xml", ".json"}
"""Most files that end so hold no graph: they are read where they are named, not where a folder is."""


def graph_suffix(path: Path) -> str:
    """The suffix that tells the format, lower case, without a ".gz" after it; "" where it tells none."""
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    return suffix if suffix in GRAPH_SUFFIXES else ""


def graph_files(path: Path) -> Sequence[Path]:
    """The file itself, or all graph files in a folder and those below it, sorted; what is hidden is left out.

    Raises GraphFileError where there is none.
    """
    if not path.is_dir():
        if not graph_suffix(path):
            raise GraphFileError(f"{path}: unknown file name extension")
        return [path]
    inside = (file for file in path.rglob("*") if not any(part[0] == "." for part in file.relative_to(path).parts))
    files = sorted(file for file in inside if graph_suffix(file) not in {"", *VAGUE} and file.is_file())
    if not files:
        raise GraphFileError(f"{path}: there is no RDF file in this folder")
    return files
