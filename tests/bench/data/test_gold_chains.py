"""Gold chains: those that a question set names, and the shortest ones of its graph."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from eval.quality import tables
from fedkg.bench.data import definitions
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.facts import Facts
from fedkg.bench.data.gold_chains import SETS, GoldChains, GoldWay, QuestionSet, listed, shortest, ways_to
from fedkg.bench.data.gold_conditions import GoldCondition
from fedkg.bench.data.gold_operations import GoldOperation, GoldSet
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.data.questions import Gold as Named
from fedkg.core.terms import DirectedRelation, Iri
from fedkg.testing import GoldChain

X = "http://x/"
FACTS = [
    ("ann", "father", "joe"),
    ("ann", "job", "nurse"),
    ("joe", "job", "miner"),
    ("bob", "father", "kim"),
    ("kim", "job", "nurse"),
]


@pytest.fixture
def facts() -> Facts:
    """A family whose members have jobs."""
    known = Facts()
    for names in FACTS:
        known.add(*(Iri(X + name) for name in names))
    return known


def rows(file: Path, listed: Sequence[dict[str, object]]) -> Path:
    """The rows as a file of questions."""
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, listed)).encode()))
    return file


def test_gold_is_read_from_relations_or_from_the_path(tmp_path: Path) -> None:
    """MetaQA names the relations and marks a missing path; PathQuestion shows the path, also against its direction."""
    topic, answer = [{"iri": "http://x/a", "label": "A"}], [{"iri": "http://x/c", "label": "C"}]
    path = [["http://x/a", "http://x/p.born_in", "http://x/b"], ["http://x/c", "http://x/p.author", "http://x/b"]]
    file = rows(
        tmp_path / "set.jsonl.gz",
        [
            {"id": "1", "topic_entities": topic, "answers": answer, "gold_path": path},
            {
                "id": "2",
                "topic_entities": topic,
                "answers": answer,
                "gold_path": [],
                "gold_relations": ["^http://x/relation/starred_actors"],
            },
        ],
    )
    read = listed(file)
    assert read["1"] == GoldChain((("born in", "out"), ("author", "in")), ("C",), id="1")
    assert read["2"] == GoldChain((("starred actors", "in"),), ("C",), proven=False, id="2")


def test_a_set_without_paths_lists_nothing(tmp_path: Path) -> None:
    """Its rows show no way."""
    assert listed(rows(tmp_path / "plain.jsonl.gz", [{"id": "1", "answers": []}])) == {}


def test_the_shortest_chain_fits_the_answers_best(facts: Facts) -> None:
    """One relation before two; of several those that lead to the answers and to little else; none where none does."""
    ann, nurse, miner = (Named(name, X + name) for name in ("ann", "nurse", "miner"))

    def steps(*answers: Named) -> list[tuple[str, str]]:
        chain = shortest(BenchmarkQuestion("1", "?", (ann,), answers), facts).chain
        return [(relation.relation.value.removeprefix(X), relation.direction) for relation in chain]

    assert steps(nurse) == [("job", "out")]
    assert steps(miner) == [("father", "out"), ("job", "out")]
    assert steps(Named("eve", f"{X}eve")) == []


def test_conditions_narrow_the_ends_as_far_as_answers_meet_them(facts: Facts) -> None:
    """Those that change nothing, that no answer meets, or that need a step beyond the depth, are left out."""
    job = DirectedRelation(Iri(f"{X}job"), "out")
    nurse, miner, smith = (GoldCondition(job, Iri(X + name)) for name in ("nurse", "miner", "smith"))
    for name in ("kim", "joe"):
        facts.add(Iri(f"{X}tom"), Iri(f"{X}child"), Iri(X + name))
    question = BenchmarkQuestion("1", "?", (Named("tom", f"{X}tom"),), (Named("joe", f"{X}joe"),))
    child, tom = (DirectedRelation(Iri(f"{X}child"), "out"),), Iri(f"{X}tom")
    assert shortest(question, facts, [nurse, smith, miner]) == GoldWay(child, (miner,), tom)
    assert shortest(question, facts, [miner], depth=1) == GoldWay(child, topic=tom)
    assert shortest(question, facts, [miner, miner]) == GoldWay(child, (miner,), tom)


def test_ways_to_the_same_answers_are_all_known(facts: Facts) -> None:
    """A graph may not be offered both ways: what leads as well to the answers, from whichever topic, stands beside."""
    facts.add(Iri(f"{X}tom"), Iri(f"{X}son"), Iri(f"{X}joe"))
    question = BenchmarkQuestion(
        "1", "?", (Named("ann", f"{X}ann"), Named("tom", f"{X}tom")), (Named("joe", f"{X}joe"),)
    )
    ways = [(way.topic, [step.relation.value for step in way.chain]) for way in ways_to(question, facts)]
    assert sorted(ways) == [(Iri(f"{X}ann"), [f"{X}father"]), (Iri(f"{X}tom"), [f"{X}son"])]


def test_where_rows_show_no_path_the_graph_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a set that is known to lead to its answers; a question without a way has an empty one."""
    monkeypatch.setitem(SETS, "family", QuestionSet("plain", "family.nt.gz", f"<{X}", "generic"))
    definition = Definition("Family", "plain.jsonl.gz", 2, "family.nt.gz", name="plain")
    rows(tmp_path / "plain.jsonl.gz", [{"id": "1", "answers": []}])
    edges = [f"<{X}{subject}> <{X}{relation}> <{X}{target}> ." for subject, relation, target in FACTS]
    (tmp_path / "family.nt.gz").write_bytes(gzip.compress("\n".join([*edges, ""]).encode()))
    ann, miner, eve = (Named(name, X + name) for name in ("ann", "miner", "eve"))
    chains = GoldChains(tmp_path)
    assert chains.known(definition)
    known = chains.of(definition, BenchmarkQuestion("1", "?", (ann,), (miner,)))
    assert known == GoldChain((("father", "out"), ("job", "out")), ("miner",), id="1")
    unknown = chains.of(definition, BenchmarkQuestion("2", "?", (ann,), (eve,)))
    assert unknown == GoldChain((), ("eve",), proven=False, id="2")
    assert not chains.known(msgspec.structs.replace(definition, graph="other.nt.gz"))


def test_a_stated_operation_has_chains_over_any_graph(tmp_path: Path) -> None:
    """Relations are named by their labels, or else by their local names; another question has none."""
    definition = Definition("Family", "plain.jsonl.gz", 2, "family.nt.gz", name="plain")
    rows(tmp_path / "plain.jsonl.gz", [{"id": "1", "answers": []}])
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    named = [f'<{X}ann> {label} "Ann" .', f'<{X}job> {label} "occupation" .', ""]
    (tmp_path / "family.nt.gz").write_bytes(gzip.compress("\n".join(named).encode()))
    operation = GoldOperation(sets=(GoldSet((X + "ann",), (X + "father", f"^{X}job")),), result="count")
    question = BenchmarkQuestion("1", "?", (), (), operation=operation)
    chains = GoldChains(tmp_path)
    chain = chains.of(definition, question)
    assert (chain.kind, chain.starts, chain.steps) == ("count", ("Ann",), (("father", "out"), ("occupation", "in")))
    assert not chains.of(definition, msgspec.structs.replace(question, operation=None)).proven


def test_the_known_sets_are_told_by_their_files(data: Path) -> None:
    """MetaQA's rows name relations, WebQSP on FB15k-237 has a set; of QALD and of ours nothing is known."""
    chains = GoldChains(data)
    ways = {name: chains.known(definitions.find(name)) for name in tables.with_graph(data)}
    unknown = {"crlt-claims", "crlt-qa", "medqa-usmle", "qald10-codex"}
    ours = {name for name in ways if name.startswith(("natural-", "operators-"))}
    assert {name for name, known in ways.items() if not known} == unknown | ours
