"""The profile that a check recommends: it can be read, and the endpoint is ready with it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from fedkg.config import profiles
from fedkg.session import Session
from fedkg.wiring.check.proposal import proposed
from fedkg.wiring.check.report import EndpointReport, Finding, Grade, Proposal
from tests.support.served import ServedGraph, loopback

EX = "http://ex.org/"
NAME = "http://www.geonames.org/ontology#name"
FACTS = "".join(f'<{EX}{n}> <{NAME}> "Place {n}"@en .\n<{EX}{n}> <{EX}near> <{EX}{n + 1}> .\n' for n in range(20))


async def checked(spec: str, folder: Path) -> EndpointReport:
    """The report of an endpoint."""
    async with Session(spec, profiles_dir=str(folder), cache_dir=str(folder / "cache"), embedder="bm25") as session:
        [report] = await session.check()
    return report


async def test_the_endpoint_is_ready_with_what_is_proposed(tmp_path: Path) -> None:
    """A graph that names its things otherwise: the predicate that it uses is in the profile, and no edge."""
    async with loopback(ServedGraph(f'{FACTS}<{EX}near> <{NAME}> "near"@en .\n')) as url:
        first = await checked(url, tmp_path)
        (tmp_path / "places.toml").write_text(proposed(url, "places", first))
        second = await checked("places", tmp_path)
    assert first.verdict.startswith("usable, but look at: labels")
    assert second.verdict == "ready"
    profile = profiles.find("places", str(tmp_path))
    assert profile.urls == (url,)
    assert profile.shape.labels.predicates == (NAME,)
    assert NAME in profile.shape.edges.skip


async def test_a_known_shape_is_named(oxigraph: Callable[..., AbstractContextManager[str]], tmp_path: Path) -> None:
    """A graph of Wikidata's shape takes all of that, and no labels and edges of its own."""
    claim = "<http://www.wikidata.org/entity/P31> <http://wikiba.se/ontology#directClaim> <http://ex.org/near> .\n"
    (tmp_path / "facts.nt").write_text(FACTS + claim)
    with oxigraph([tmp_path / "facts.nt"]) as url:
        text = proposed(url, "mine", await checked(url, tmp_path))
    profile = profiles.parse(text, "mine", "mine")
    assert (profile.like, profile.engine) == ("wikidata", "oxigraph")
    assert profile.shape.edges.only == "http://www.wikidata.org/prop/direct/"
    assert "predicates =" not in text


@pytest.mark.parametrize("hostile", ['a"\n[limits]\nrows = 1', "x\u2028y\x1b[31m", "'''"])
def test_what_a_server_returns_stays_in_a_comment(hostile: str) -> None:
    """What an endpoint writes into its errors is no part of the profile."""
    finding = Finding("labels", Grade.WARNING, hostile, hostile)
    report = EndpointReport("e", "generic", Grade.WARNING, hostile, (finding,), None, None, (), 1, 1.0)
    text = proposed("http://127.0.0.1/sparql", "mine", report)
    assert profiles.parse(text, "mine", "mine").limits == profiles.find("generic").limits.__class__()
    assert "\x1b" not in text
    assert [line.startswith("#") for line in text.splitlines()[:2]] == [True, True]


def test_all_that_findings_recommend_is_written() -> None:
    """Each key stands in its table."""
    proposal: Proposal = {"limits.rows": 8, "limits.known_cap": 10, "engine": "plain", "detects": False}
    finding = Finding("limits", Grade.FAILED, "cut", "do", proposal)
    report = EndpointReport("e", "generic", Grade.WARNING, "so so", (finding,), None, None, (), 1, 1.0)
    profile = profiles.parse(proposed("http://127.0.0.1/sparql", "mine", report), "mine", "mine")
    assert (profile.limits.rows, profile.limits.known_cap, profile.engine, profile.detects) == (8, 10, "plain", False)
