"""The scripted model of the measurements: it takes what leads on, says where nothing does, and errs as often as it is told to."""

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval.support.guide import Gold, golds, guide
from eval.support.report import markdown
from eval.support.walks import Bench, Walker, present, scores
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.data.questions import Gold as Named
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.llm.base import Message, Request
from fedkg.methods.registry import METHODS

GOLD = Gold(["→ father", "← child of", "→ job"], ["miner"])
OFFERS = "\n1. Ann → father → Bob\n2. Ann → mother → Eve\n3. Ann → father → Bob ← child of ← Joe → job → miner\n"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FAMILY = f"""
<http://x/ann> {LABEL} "Ann"@en .
<http://x/joe> {LABEL} "Joe"@en .
<http://x/miner> {LABEL} "miner"@en .
<http://x/father> {LABEL} "father"@en .
<http://x/job> {LABEL} "job"@en .
<http://x/ann> <http://x/father> <http://x/joe> .
<http://x/ann> <http://x/job> <http://x/nurse> .
<http://x/joe> <http://x/job> <http://x/miner> .
"""


async def told(call: str, said: str, gold: Gold = GOLD, rate: float = 0.0, seed: str = "") -> dict[str, object]:
    """The reply to one call."""
    completion = await guide(gold, rate, seed).complete(Request(call, (Message("user", said),), {}))
    return dict(json.loads(completion.text))


@pytest.mark.parametrize(
    ("call", "said", "reply"),
    [
        ("beam", f"At most 4 picks.{OFFERS}", {"picks": [1, 3]}),
        ("beam", f"At most 1 pick.{OFFERS}", {"picks": [1]}),
        ("beam", "At most 4 picks.\n1. Ann → mother → Eve", {"picks": []}),
        ("reasoning-paths", f"At most 4 picks.{OFFERS}", {"picks": [3]}),
        ("answer", OFFERS, {"paths": [{"path": 3, "ends": []}]}),
        ("inductive", f"{OFFERS}   Hypothesis: miner", {"paths": [{"path": 3, "ends": []}]}),
        ("adequacy", OFFERS, {"adequate": True}),
        ("adequacy", "1. Ann → father → Bob", {"adequate": False}),
        ("link", "1. Ann\n   1) Ann (nurse)\n   2) Ann (queen)", {"links": [{"mention": 1, "candidate": 1}]}),
        (
            "relation-paths",
            "At most 4 chains of at most 3 relations.\n1. → job →\n2. → father →\n3. ← child of ←",
            {"plans": [{"relations": [2, 3, 1], "weight": 1.0}]},
        ),
        ("relation-paths", "1. → father →\n2. → job →", {"plans": []}),
        (
            "score-relations",
            "Path so far: Ann → father → Bob\n1. ← child of ←\n2. → job →",
            {"scores": [{"relation": 1, "score": 1.0}, {"relation": 2, "score": 0.0}]},
        ),
        (
            "score-entities",
            "1. Ann → father → Bob [→ job → miner; ← friend ← Eve]\n2. Ann → job → nurse",
            {"scores": [{"entity": 1, "score": 1.0}, {"entity": 2, "score": 0.0}]},
        ),
        ("model-only", "Answer at once.", {"reasoning": "", "answers": ["miner"]}),
    ],
)
async def test_it_takes_what_the_gold_chain_begins_with(call: str, said: str, reply: dict[str, object]) -> None:
    """Offers on the way for steps, those that have arrived for answers, and nothing where nothing leads on."""
    assert await told(call, said) == reply


async def test_it_verifies_what_follows_and_what_is_deducible() -> None:
    """A path on the way follows, one that has arrived is the answer, another is neither."""
    verdicts = (await told("deductive", OFFERS))["verdicts"]
    assert verdicts == [
        {"path": 1, "follows": True, "deducible": False},
        {"path": 2, "follows": False, "deducible": False},
        {"path": 3, "follows": True, "deducible": True},
    ]


async def test_of_two_ends_of_the_chain_it_takes_the_one_that_shows_an_answer() -> None:
    """Where none shows one, it cannot tell them apart."""
    said, gold = "1. Ann → sister → Joe, (+9)\n2. Ann → sister → Ann", ["→ sister"]
    assert (await told("beam", said, Gold(gold, ["Joe"])))["picks"] == [1]
    assert (await told("beam", said, Gold(gold, ["Kim"])))["picks"] == [1, 2]


async def test_its_plan_tells_the_ranking_nothing_new() -> None:
    """The keywords are the question's own words."""
    plan = await told("plan", "<question>What was her job?</question>")
    assert plan["keywords"] == ["What", "was", "her", "job?"]


async def test_errors_come_as_often_as_told_and_again_with_the_same_seed() -> None:
    """Of single picks and of verdicts about the share is wrong that was asked for, another by another seed only."""
    said = "At most 1 pick.\n1. Ann → father → Bob\n2. Ann → mother → Eve"
    picks = [await told("beam", said, rate=0.3, seed=str(seed)) for seed in range(300)]
    assert picks == [await told("beam", said, rate=0.3, seed=str(seed)) for seed in range(300)]
    assert 60 < sum(reply == {"picks": [2]} for reply in picks) < 120
    verdicts = [await told("deductive", "1. Ann → father → Bob", rate=0.3, seed=str(seed)) for seed in range(300)]
    views = Counter(json.dumps(reply["verdicts"]) for reply in verdicts)
    assert len(views) == 3
    assert 180 < max(views.values()) < 240


async def test_a_model_that_always_errs_never_picks_a_right_step() -> None:
    """Each pick is one of the wrong offers, none twice."""
    assert await told("beam", f"At most 4 picks.{OFFERS}", rate=1.0) == {"picks": [2]}


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
    read = golds(file)
    assert read["1"] == Gold(["→ born in", "← author"], ["C"])
    assert read["2"] == Gold(["← starred actors"], ["C"], proven=False)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "kaping"])
async def test_every_method_finds_the_answer_with_it(method: str, tmp_path: Path) -> None:
    """All calls of all methods are served; the tokens of each call are counted, and an unknown topic is an error of its own."""
    graph = tmp_path / "family.nt"
    graph.write_text(FAMILY, encoding="utf-8")
    ann, bob = Named("Ann", "http://x/ann"), Named("Bob", "http://x/bob")
    asked = [
        BenchmarkQuestion("1", "What was the job of the father of Ann?", (ann,), (Named("miner", "http://x/miner"),)),
        BenchmarkQuestion("2", "What was the job of the father of Bob?", (bob,), (Named("smith", "http://x/smith"),)),
    ]
    known = {one.id: Gold(["→ father", "→ job"], [one.answers[0].label]) for one in asked}
    bench = Bench(Definition("Family", "", 2, graph.name), graph, asked, known)
    async with Walker(bench, Bm25Similarity(), method=method) as walker:
        found, unknown = await walker.all()
    assert found.score.hits_at_1 == 1.0
    assert len(found.sent) == len(found.answer.ledger if found.answer else ())
    assert all(one.tokens > 0 for one in found.sent)
    if METHODS[method].graph:
        assert unknown.error.startswith("TopicError")
        assert scores([found, unknown])["found"] == 0.5


def test_absent_data_ends_the_program(tmp_path: Path) -> None:
    """What is missing is named."""
    with pytest.raises(SystemExit, match=r"pathquestion-2h\.jsonl, freebase-pathquestion\.nt\.gz"):
        present(tmp_path, ["pathquestion-2h"])


def test_a_table_has_a_line_for_each_row() -> None:
    """The first row names the columns; None is nothing."""
    assert markdown([{"a": 1, "b": None}]) == "| a | b |\n| --- | --- |\n| 1 |  |\n"
