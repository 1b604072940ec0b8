"""What a profile hides, counted by real engines, and kept like neighbourhoods."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fedkg.config.profiles import Edges, Labels, Mediators, Shape
from fedkg.core.meter import Meter
from fedkg.core.terms import Iri
from fedkg.graph.endpoint import SparqlGraph
from fedkg.graph.hidden_edges import hides
from fedkg.session import Session

Wire = Callable[..., SparqlGraph]
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
Q1, Q2 = Iri("http://x/q1"), Iri("http://x/q2")
FACTS = f"""\
<http://x/q1> <{LABEL}> "One"@en .
<http://x/q1> <http://x/other/a> <http://x/q2> .
<http://x/q1> <http://x/other/a> <http://x/q3> .
<http://x/q1> <http://x/other/b> "5" .
<http://x/q1> <http://x/r/p> <http://x/q2> .
<http://x/q2> <http://x/other/c> <http://x/q1> .
"""
PROFILE = 'urls = ["{}"]\n[shape.edges]\nonly = "http://x/r/"\n'


@pytest.mark.parametrize("engine", ["oxigraph", "virtuoso"])
async def test_counts_of_real_engines(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Hidden edges by predicate, both ways; names are none; of a stranger the endpoint has nothing."""
    serve: Callable[..., AbstractContextManager[str]] = request.getfixturevalue(engine)
    (tmp_path / "facts.nt").write_text(FACTS)
    with serve([tmp_path / "facts.nt"]) as url:
        (tmp_path / "few.toml").write_text(PROFILE.format(url))
        async with Session("few", profiles_dir=str(tmp_path), cache=False, embedder="bm25") as session:
            [both] = await session.hidden(Q1)
            [out] = await session.hidden(Q1, ["out"])
            [stranger] = await session.hidden(Iri("http://x/stranger"))
    assert both.hidden == {"http://x/other/a": 2, "http://x/other/b": 1, "http://x/other/c": 1}
    assert (out.number, out.shown, out.held, out.profile) == (3, 1, True, "few")
    assert (stranger.number, stranger.shown, stranger.held) == (0, 0, False)


async def test_counts_are_kept(make: Wire, meter: Meter) -> None:
    """Each entity is asked for once, together with those that are asked for at the same time."""
    graph = make(":q1 r:p :q2 .")
    first = await graph.hidden([Q1, Q2])
    assert await graph.hidden([Q2, Q1]) == first[::-1]
    assert meter.usage().by_kind == {"hidden": 1}


async def test_a_profile_that_hides_nothing_is_not_asked(make: Wire, meter: Meter) -> None:
    """The generic profile leaves out names and links to copies only."""
    assert await make(":q1 r:p :q2 .").hidden([Q1], always=False) == []
    assert meter.usage().by_kind == {}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape(), False),
        (Shape(edges=Edges(only="http://x/")), True),
        (Shape(edges=Edges(skip=(LABEL,))), False),
        (Shape(edges=Edges(skip=("http://x/q",))), True),
        (Shape(edges=Edges(skip=("http://x/q",)), labels=Labels(aliases=("http://x/q",))), False),
        (Shape(edges=Edges(skip=("http://x/pq",)), mediators=Mediators(qualifier="http://x/p")), False),
        (Shape(edges=Edges(skip_prefixes=("http://x/",))), True),
    ],
)
def test_what_hides(shape: Shape, expected: bool) -> None:
    """Names and what stands beside plain edges may be skipped without hiding any."""
    assert hides(shape) is expected
