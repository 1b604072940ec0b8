"""The verifiers that are measured: who verifies, whose word counts, and how their judgements are counted."""

import json
from pathlib import Path

import pytest

from eval.quality.verifiers import Verifications, likelier, search, table, walked
from eval.support.gold import GoldBenchmark
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.data.questions import Gold as Named
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask
from fedkg.config.settings import Settings, Verifier
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.llm.base import Capability, Completion, Request, Token
from fedkg.reasoner.prompted import PromptedModel
from fedkg.testing import GoldChain

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
FAMILY = f"""
<http://x/ann> {LABEL} "Ann"@en .
<http://x/joe> {LABEL} "Joe"@en .
<http://x/miner> {LABEL} "miner"@en .
<http://x/father> {LABEL} "father"@en .
<http://x/job> {LABEL} "job"@en .
<http://x/ann> <http://x/father> <http://x/joe> .
<http://x/joe> <http://x/job> <http://x/miner> .
"""
BLIND: dict[Verifier, object] = {
    "deductive": {"verdicts": [{"path": 1, "follows": True, "deducible": True}]},
    "adequacy": {"adequate": True},
    "log-probability": {"deducible": True},
}


class Blind:
    """A chat model that calls every path enough, and is as sure of one as of the other."""

    name = "blind:yes"
    capability = Capability(logprobs=True)

    def __init__(self, reply: object) -> None:
        self._text = json.dumps(reply)

    async def complete(self, _request: Request) -> Completion:
        """The same reply to all."""
        return Completion(self._text, 1, 1, spelled=(Token(self._text, {"true": -0.1, "false": -2.0}),))

    async def close(self) -> None:
        """Nothing to free."""


def family(folder: Path, verifier: Verifier) -> GoldBenchmark:
    """One question of two steps."""
    (folder / "family.nt").write_text(FAMILY, encoding="utf-8")
    asked = BenchmarkQuestion(
        "1", "What was the job of the father of Ann?", (Named("Ann", "http://x/ann"),), (Named("m", "http://x/miner"),)
    )
    definition = Definition("Family", "", 2, "family.nt")
    settings = runner.with_graph(Settings(search=search(verifier), cache=False), definition, folder)
    chain = GoldChain((("father", "out"), ("job", "out")), ("miner",))
    return GoldBenchmark(AskingTask(settings, definition, verify=False), [asked], {"1": chain})


@pytest.mark.parametrize("verifier", BLIND)
async def test_a_verifier_that_calls_all_enough_ends_too_early_where_its_word_counts(
    verifier: Verifier, tmp_path: Path
) -> None:
    """It ends at the first step; beside the one that knows the way it sees both, and changes nothing."""
    benchmark, model = family(tmp_path, verifier), PromptedModel(Blind(BLIND[verifier]))
    decides = await walked(benchmark, Bm25Similarity(), Verifications(model))
    assert (decides["hits@1"], decides["calls"], decides["enough, others"]) == (0.0, 1, 1.0)
    beside = await walked(benchmark, Bm25Similarity(), Verifications(model, decides=False))
    assert (beside["hits@1"], beside["calls"]) == (1.0, 2)
    assert (beside["enough, arrived"], beside["enough, others"], beside["arrived is likelier"]) == (1.0, 1.0, 0.5)


@pytest.mark.parametrize("verifier", BLIND)
async def test_replies_of_no_use_are_counted_and_end_nothing(verifier: Verifier, tmp_path: Path) -> None:
    """The walk goes on as if nothing verified."""
    measured = await walked(
        family(tmp_path, verifier), Bm25Similarity(), Verifications(PromptedModel(Blind("no object")))
    )
    assert measured["unusable"] == 1.0
    assert measured["enough, others"] is None
    assert measured["found"] == 1.0


async def test_without_another_model_the_one_that_knows_the_way_verifies(tmp_path: Path) -> None:
    """It tells what has arrived from what has not."""
    measured = await walked(family(tmp_path, "deductive"), Bm25Similarity(), Verifications())
    assert (measured["hits@1"], measured["enough, arrived"], measured["enough, others"]) == (1.0, 1.0, 0.0)


def test_the_likelier_of_a_pair_is_counted_and_equal_ones_half() -> None:
    """Without a pair there is no figure."""
    assert likelier([0.9, 0.2], [0.2]) == 0.75
    assert likelier([], [0.2]) is None


def test_a_table_leaves_empty_what_was_not_measured() -> None:
    """A row for each verifier of a set."""
    assert "| nothing verifies | 0.5 |  |" in table({"a": [{"": "nothing verifies", "hits@1": 0.5, "calls": None}]})
