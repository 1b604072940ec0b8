"""The coverage benchmark: a led walk counts what the offers lead to."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="needs fedkg[report]")

from eval.quality import coverage
from eval.quality.coverage import (
    GROUPED,
    OFFERED,
    VARIANTS,
    Kept,
    WalkStep,
    gains,
    leads,
    means,
    measured,
    plot,
    table,
    worth,
)
from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_cases import GoldCase
from fedkg.cache.memory import MemoryStore
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri
from fedkg.embed.lazy import LazySimilarity
from fedkg.retrieval.base import Ranking
from fedkg.testing import HashingEmbedder
from tests.support.films import X, write

DIRECTED = DirectedRelation(Iri(f"{X}r/directed"), "out")
STARRING = DirectedRelation(Iri(f"{X}r/starring"), "out")
TWO_HOPS = ((Iri(f"{X}lee"), (DIRECTED, STARRING)),)


@pytest.fixture
def films(tmp_path: Path) -> Path:
    """The file of a graph of a director whose two films have an actor each."""
    return write(tmp_path)


def test_a_candidate_is_worth_the_answers_that_it_leads_to() -> None:
    """A pair those beyond its one tail, a group those beyond all of them; a step beside the chain none."""
    facts, lee = Facts(), Iri(f"{X}lee")
    wave, storm, ann, bob = (Iri(X + name) for name in ("wave", "storm", "ann", "bob"))
    for subject, walked, target in (
        (lee, DIRECTED, wave),
        (lee, DIRECTED, storm),
        (wave, STARRING, ann),
        (storm, STARRING, bob),
    ):
        facts.add(subject, walked.relation, target)
    case = GoldCase("one", "?", {lee: "Lee"}, frozenset({ann, bob}), TWO_HOPS)
    edges = tuple(Edge(lee, DIRECTED.relation, film, "out", "x") for film in (wave, storm))
    beams = [PartialPath(lee)]
    assert leads(case, facts, beams[0], [lee]) == {ann, bob}
    assert gains(case, facts, beams, Step(0, DIRECTED, edges[:1])) == {ann}
    assert gains(case, facts, beams, Step(0, DIRECTED, edges)) == {ann, bob}
    assert gains(case, facts, beams, Step(0, STARRING, edges)) == set()


def test_means_count_each_text_of_a_set_once() -> None:
    """A step with an empty cache reads all of its texts, the set each of them once."""
    kept = [Kept(1.0, 10, {"born", "Ann"}), Kept(0.5, 20, {"born", "Bob"})]
    assert means(kept) == {"coverage": 0.75, "tokens": 15, "embedded": 2, "embedded, set": 3}


async def test_a_set_is_measured_at_every_depth(films: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is offered of so small a graph, by every retriever; the next hop is walked from the gold step."""
    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
    lee, wave, ann, bob = (Iri(X + name) for name in ("lee", "wave", "ann", "bob"))
    cases = [
        GoldCase("1", "who starred in films directed by lee", {lee: "Lee"}, frozenset({ann, bob}), TWO_HOPS),
        GoldCase("2", "who directed wave", {wave: "Wave"}, frozenset({lee}), ((wave, (DIRECTED.inverse,)),)),
    ]
    variants = (*VARIANTS, *GROUPED)
    figures = await measured(f"generic@{films}", cases, Facts.read(films, f"<{X}r/"), similarity, variants)
    similarity.close()
    assert (figures["questions"], figures["depth 1"]["steps"], figures["depth 2"]["steps"]) == (2, 2, 1)
    shown = [
        figures[depth][variant.name][str(n)]
        for depth in ("depth 1", "depth 2")
        for variant in variants
        for n in OFFERED
    ]
    assert {"vanilla groups", "kaping groups"} < figures["depth 1"].keys()
    assert {measure["coverage"] for measure in shown} == {1.0}
    groups, pairs = (figures["depth 1"][f"Path-RAG {form}"]["5"] for form in ("groups", "pairs"))
    assert groups["tokens"] < pairs["tokens"]
    monkeypatch.setattr(coverage, "VARIANTS", VARIANTS[:2])
    assert "| kaping | 100.0% |" in table({"films": figures})
    assert "Path-RAG groups" in plot({"WebQSP": figures})


def test_what_is_not_offered_is_not_counted() -> None:
    """Coverage is the share of the answers that the beams lead to; the page ends where no more is offered."""
    lee, wave, storm = (Iri(X + name) for name in ("lee", "wave", "storm"))
    facts = Facts()
    facts.add(lee, DIRECTED.relation, wave)
    facts.add(lee, DIRECTED.relation, storm)
    case = GoldCase("one", "?", {lee: "Lee"}, frozenset({wave, storm}), ((lee, (DIRECTED,)),))
    step = WalkStep(1, (PartialPath(lee),), [[lee]], {wave, storm})
    pairs = [Step(0, DIRECTED, (Edge(lee, DIRECTED.relation, film, "out", "x"),)) for film in (wave, storm)]
    ranking = Ranking(tuple(pairs), {}, complete=True)
    first, both = (worth(case, step, ranking, offered, facts) for offered in (1, 2))
    assert (first[0], both[0]) == (0.5, 1.0)
    assert first[1] < both[1]
