"""Questions asked with the model that knows the way: every method is served, and what is sent is counted."""

from pathlib import Path

import pytest

from eval.support.gold import GoldBenchmark, answered, gold_session, present, scores
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.data.questions import Gold as Named
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.scoring.scores import score
from fedkg.config.settings import Settings
from fedkg.core.terms import Direction
from fedkg.embed.bm25 import Bm25Similarity
from fedkg.llm.base import Completion, Request
from fedkg.methods.registry import METHODS
from fedkg.reasoner.gold import prompt_tokens
from fedkg.testing import GoldChain

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


@pytest.mark.parametrize("method", [name for name in METHODS if name != "kaping"])
async def test_every_method_finds_the_answer_with_it(method: str, tmp_path: Path) -> None:
    """All calls of all methods are served; each call's tokens are counted; an unknown topic is an error of its own."""
    (tmp_path / "family.nt").write_text(FAMILY, encoding="utf-8")
    ann, bob = Named("Ann", "http://x/ann"), Named("Bob", "http://x/bob")
    questions = [
        BenchmarkQuestion("1", "What was the job of the father of Ann?", (ann,), (Named("miner", "http://x/miner"),)),
        BenchmarkQuestion("2", "What was the job of the father of Bob?", (bob,), (Named("smith", "http://x/smith"),)),
    ]
    steps: tuple[tuple[str, Direction], ...] = (("father", "out"), ("job", "out"))
    chains = {question.id: GoldChain(steps, (question.answers[0].label,)) for question in questions}
    definition = Definition("Family", "", 2, "family.nt")
    settings = runner.with_graph(Settings(method=method, cache=False), definition, tmp_path)
    benchmark = GoldBenchmark(AskingTask(settings, definition, verify=False), questions, chains)
    sent: list[tuple[Request, Completion]] = []
    async with gold_session(
        benchmark, Bm25Similarity(), on_call=lambda request, reply: sent.append((request, reply))
    ) as session:
        known = await answered(benchmark, session, questions[0])
        calls = list(sent)
        unknown = await answered(benchmark, session, questions[1])
    assert score(known).hits_at_1 == 1.0
    assert len(calls) == known.usage.model_calls > 0
    assert all(sum(prompt_tokens(request)) == reply.tokens_in > 0 < reply.tokens_out for request, reply in calls)
    assert known.usage.tokens_in == sum(reply.tokens_in for _, reply in calls)
    if METHODS[method].graph:
        assert unknown.error.startswith("TopicError")
        assert scores([known, unknown])["found"] == 0.5


def test_absent_data_ends_the_program(tmp_path: Path) -> None:
    """What is missing is named."""
    with pytest.raises(SystemExit, match=r"pathquestion-2h\.jsonl, freebase-pathquestion\.nt\.gz"):
        present(tmp_path, ["pathquestion-2h"])
