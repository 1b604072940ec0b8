"""The coverage benchmark: gold chains are derived rightly, and a led walk counts what the offers lead to."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from eval.quality import coverage
from eval.quality.coverage import OFFERED, VARIANTS, Kept, WalkStep, gains, leads, means, measured, plot, table, worth
from eval.support.gold import Case, Facts, Set, cases, facts
from fedkg.cache.memory import MemoryStore
from fedkg.core.path import PartialPath, Step
from fedkg.core.terms import DirectedRelation, Edge, Iri, Literal
from fedkg.embed.lazy import LazySimilarity
from fedkg.retrieval.base import Ranking
from fedkg.testing import HashingEmbedder

X = "http://x/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
DIRECTED = DirectedRelation(Iri(f"{X}r/directed"), "out")
STARRING = DirectedRelation(Iri(f"{X}r/starring"), "out")
GRAPH = """
<http://x/lee> <http://x/r/directed> <http://x/wave> .
<http://x/lee> <http://x/r/directed> <http://x/storm> .
<http://x/lee> <http://x/r/born> <http://x/york> .
<http://x/wave> <http://x/r/starring> <http://x/ann> .
<http://x/storm> <http://x/r/starring> <http://x/bob> .
<http://x/storm> <http://x/r/born> "1990" .
"""
NAMES = ("lee", "wave", "storm", "york", "ann", "bob")


@pytest.fixture
def films(tmp_path: Path) -> Set:
    """Two questions about a director whose two films have an actor each, and one about somebody unknown."""
    labels = "".join(f'<{X}{name}> <{LABEL}> "{name.title()}"@en .\n' for name in NAMES)
    (tmp_path / "films.nt.gz").write_bytes(gzip.compress((GRAPH.lstrip() + labels).encode()))
    chain = [f"{X}r/directed", f"{X}r/starring"]
    rows = [
        row("one", "who starred in films directed by lee", "lee", ["ann", "bob"], gold_relations=chain),
        row("two", "who directed wave", "wave", ["lee"], gold_relations=[f"^{X}r/directed"]),
        row("lost", "who directed rain", "rain", ["lee"], gold_relations=chain),
    ]
    lines = "\n".join(json.dumps(one) for one in rows)
    (tmp_path / "films.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return Set("films", "films.nt.gz", f"<{X}r/", "generic")


def row(name: str, question: str, topic: str, answers: list[str], **more: Any) -> dict[str, Any]:
    """A line of a question set."""
    topics = [{"iri": X + topic, "label": topic.title()}]
    found = [{"iri": X + answer, "label": answer.title()} for answer in answers]
    return {"id": name, "question": question, "topic_entities": topics, "answers": found, **more}


def test_facts_are_edges_between_entities_and_names(films: Set, tmp_path: Path) -> None:
    """They can be walked in both directions; a literal is no entity, and who has a name only is in no fact."""
    graph = facts(tmp_path / films.graph, films.relations)
    assert graph.walk([Iri(f"{X}lee")], [DIRECTED, STARRING]) == {Iri(f"{X}ann"), Iri(f"{X}bob")}
    assert graph.walk([Iri(f"{X}ann")], [STARRING.inverse]) == {Iri(f"{X}wave")}
    assert graph.walk([Iri(f"{X}storm")], [DirectedRelation(Iri(f"{X}r/born"), "out")]) == set()
    assert graph.named("LEE") == {Iri(f"{X}lee")}
    assert Literal("1990") not in graph


def test_freebase_identifiers_are_names(tmp_path: Path) -> None:
    """An entity of Wikidata is found by the IRI that it has in Freebase."""
    file = tmp_path / "items.nt.gz"
    wdt = "http://www.wikidata.org/prop/direct/"
    text = f'<{X}q1> <{wdt}P646> "/m/02_x" .\n<{X}q1> <{wdt}P31> <{X}q5> .\n'
    file.write_bytes(gzip.compress(text.encode()))
    graph = facts(file, f"<{wdt}")
    assert graph.named("http://rdf.freebase.com/ns/m.02_x") == {Iri(f"{X}q1")}


def test_a_case_has_topics_answers_and_chains_of_the_graph(films: Set, tmp_path: Path) -> None:
    """A question whose topic the graph does not know is left out, and no more are drawn than wanted."""
    graph = facts(tmp_path / films.graph, films.relations)
    found = {case.id: case for case in cases(tmp_path, films, graph, 10)}
    assert set(found) == {"one", "two"}
    assert found["one"].chains == ((Iri(f"{X}lee"), (DIRECTED, STARRING)),)
    assert found["two"].chains == ((Iri(f"{X}wave"), (DIRECTED.inverse,)),)
    assert (found["one"].hops, found["two"].hops) == (2, 1)
    assert len(cases(tmp_path, films, graph, 1)) == 1


def test_without_named_relations_every_edge_to_an_answer_is_gold(films: Set, tmp_path: Path) -> None:
    """WebQSP names answers by their labels only."""
    asked = row("three", "what did lee direct", "lee", []) | {"answers": [{"label": "wave"}, {"label": "Nowhere"}]}
    (tmp_path / "films.jsonl.gz").write_bytes(gzip.compress(json.dumps(asked).encode()))
    graph = facts(tmp_path / films.graph, films.relations)
    (case,) = cases(tmp_path, films, graph, 10)
    assert case.chains == ((Iri(f"{X}lee"), (DIRECTED,)),)
    assert case.answers == {Iri(f"{X}wave")}


def test_a_candidate_is_worth_the_answers_that_it_leads_to() -> None:
    """A pair those beyond its one tail, a group those beyond all of them; a step beside the chain none."""
    graph, lee = Facts(), Iri(f"{X}lee")
    wave, storm, ann, bob = (Iri(X + name) for name in ("wave", "storm", "ann", "bob"))
    for subject, walked, target in (
        (lee, DIRECTED, wave),
        (lee, DIRECTED, storm),
        (wave, STARRING, ann),
        (storm, STARRING, bob),
    ):
        graph.add(subject, walked.relation, target)
    case = Case("one", "?", {lee: "Lee"}, frozenset({ann, bob}), ((lee, (DIRECTED, STARRING)),))
    edges = tuple(Edge(lee, DIRECTED.relation, film, "out", "x") for film in (wave, storm))
    beams = [PartialPath(lee)]
    assert leads(case, graph, beams[0], [lee]) == {ann, bob}
    assert gains(case, graph, beams, Step(0, DIRECTED, edges[:1])) == {ann}
    assert gains(case, graph, beams, Step(0, DIRECTED, edges)) == {ann, bob}
    assert gains(case, graph, beams, Step(0, STARRING, edges)) == set()


def test_means_count_each_text_of_a_set_once() -> None:
    """A step with an empty cache reads all of its texts, the set each of them once."""
    kept = [Kept(1.0, 10, {"born", "Ann"}), Kept(0.5, 20, {"born", "Bob"})]
    assert means(kept) == {"coverage": 0.75, "tokens": 15, "embedded": 2, "embedded, set": 3}


async def test_a_set_is_measured_at_every_depth(films: Set, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is offered of so small a graph, by every retriever; the next hop is walked from the gold step."""
    graph = facts(tmp_path / films.graph, films.relations)
    similarity = LazySimilarity(HashingEmbedder(), MemoryStore())
    asked = cases(tmp_path, films, graph, 10)
    figures = await measured(f"generic@{tmp_path / films.graph}", asked, graph, similarity)
    similarity.close()
    assert (figures["questions"], figures["depth 1"]["steps"], figures["depth 2"]["steps"]) == (2, 2, 1)
    shown = [
        figures[depth][variant.name][str(n)]
        for depth in ("depth 1", "depth 2")
        for variant in VARIANTS
        for n in OFFERED
    ]
    assert {one["coverage"] for one in shown} == {1.0}
    groups, pairs = (figures["depth 1"][f"Path-RAG {form}"]["5"] for form in ("groups", "pairs"))
    assert groups["tokens"] < pairs["tokens"]
    monkeypatch.setattr(coverage, "VARIANTS", VARIANTS[:2])
    assert "| kaping | 100.0% |" in table({"films": figures})
    assert "Path-RAG groups" in plot({"WebQSP": figures})


def test_what_is_not_offered_is_not_counted() -> None:
    """Coverage is the share of the answers that the beams lead to; the page ends where no more is offered."""
    lee, wave, storm = (Iri(X + name) for name in ("lee", "wave", "storm"))
    graph = Facts()
    graph.add(lee, DIRECTED.relation, wave)
    graph.add(lee, DIRECTED.relation, storm)
    case = Case("one", "?", {lee: "Lee"}, frozenset({wave, storm}), ((lee, (DIRECTED,)),))
    step = WalkStep(1, (PartialPath(lee),), [[lee]], {wave, storm})
    pairs = [Step(0, DIRECTED, (Edge(lee, DIRECTED.relation, film, "out", "x"),)) for film in (wave, storm)]
    ranking = Ranking(tuple(pairs), {}, complete=True)
    one, both = (worth(case, step, ranking, offered, graph) for offered in (1, 2))
    assert (one[0], both[0]) == (0.5, 1.0)
    assert one[1] < both[1]
