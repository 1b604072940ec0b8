"""SPARQL over HTTP, played from tests/cassettes without any server; `make cassettes` records it anew."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from fedkg.config.resources import folder
from fedkg.errors import UnreachableError
from fedkg.session import Session

Recorded = Callable[..., AbstractContextManager[None]]
NOWHERE = "http://127.0.0.1:9/query"


@pytest.fixture
def url(request: pytest.FixtureRequest, recording: bool, tmp_path: Path) -> Iterator[str]:
    """Where the sample is served: by a real Oxigraph where the cassette is recorded, by nobody where it is played."""
    if not recording:
        yield NOWHERE
        return
    store, sample = pyoxigraph.Store(), tmp_path / "sample.nt"
    store.load(path=str(folder("sample") / "graph.ttl"))
    store.dump(str(sample), pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    with request.getfixturevalue("oxigraph")([sample]) as served:
        yield served


async def walked(endpoint: str, name: str = "King Kong") -> tuple[Any, ...]:
    """A name looked up, and the edges of what it means, with their labels; nothing comes from a cache."""
    async with Session(endpoint, cache=False, embedder="bm25") as session:
        match, near, names = await session.neighbours(name)
    edges = [
        sorted(f"{edge.relation} {edge.direction} {edge.object}" for edge in neighbourhood.edges)
        for neighbourhood in near
    ]
    return match, edges, names


async def test_a_hop_is_played(recorded: Recorded, url: str) -> None:
    """An entity and its edges over HTTP, as they are read from the same graph in process."""
    with recorded("sparql"):
        played = await walked(f"sample@{url}")
    here = await walked("sample")
    assert played == here
    assert any(played[1]), "there are edges"


async def test_another_query_is_not_played(recorded: Recorded, url: str, recording: bool) -> None:
    """Queries differ in nothing but their body: one that was not recorded finds no reply."""
    if recording:
        pytest.skip("cassettes are being recorded")
    with pytest.raises(UnreachableError, match="CannotOverwriteExistingCassette"), recorded("sparql"):
        await walked(f"sample@{url}", "Heavenly Creatures")
