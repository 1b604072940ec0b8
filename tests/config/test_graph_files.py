"""Which files hold a graph."""

from pathlib import Path

import pytest

from fedkg.config.graph_files import graph_suffix


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("g.nt", ".nt"), ("G.RDF.GZ", ".rdf"), ("v1.2.trig", ".trig"), ("g.csv", ""), ("g.gz", ""), ("ttl", "")],
)
def test_the_suffix_tells_the_format(name: str, suffix: str) -> None:
    """In any case, before a .gz."""
    assert graph_suffix(Path(name)) == suffix
