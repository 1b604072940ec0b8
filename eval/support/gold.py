"""Questions of a benchmark, asked with a model that knows the gold chains: their records, and how good they are."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from eval.support.report import require
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.gold_chains import GoldChains
from fedkg.bench.data.questions import BenchmarkQuestion, drawn
from fedkg.bench.run import runner
from fedkg.bench.run.asking import AskingTask, asked
from fedkg.bench.run.gold import GoldSession, OnCall
from fedkg.bench.run.record import QuestionRecord
from fedkg.bench.scoring.scores import mean, score
from fedkg.config.settings import SearchSettings, Settings
from fedkg.embed.base import Similarity
from fedkg.testing import GoldChain

__all__ = ["GoldBenchmark", "answered", "gold_session", "present", "records", "scores"]


class GoldBenchmark(NamedTuple):
    """Questions of a benchmark with the chains of their ids, and how they are asked."""

    task: AskingTask
    questions: Sequence[BenchmarkQuestion]
    chains: dict[str, GoldChain]

    @classmethod
    def load(
        cls,
        name: str,
        data: Path,
        limit: int | None = None,
        search: SearchSettings | None = None,
        method: str = "fidelis",
    ) -> "GoldBenchmark":
        """All questions, or `limit` of them drawn by the seed 0; the kind of a question is left to the plan."""
        definition = msgspec.structs.replace(definitions.find(name), kind=None)
        settings = Settings(method=method, search=search or SearchSettings(), cache=False)
        settings = runner.with_graph(settings, definition, data)
        questions, _ = loaders.read(definition, data)
        sample, known = drawn(questions, limit, 0), GoldChains(data)
        chains = {question.id: known.of(definition, question) for question in sample}
        return cls(AskingTask(settings, definition, verify=False), sample, chains)


def present(data: Path, names: Iterable[str]) -> None:
    """Ends the program where questions or graph of one of these benchmarks are absent."""
    known = [definitions.find(name) for name in names]
    require(data, *(file for definition in known for file in (definition.questions, definition.graph)))


def gold_session(
    benchmark: GoldBenchmark,
    similarity: Similarity,
    *,
    rate: float = 0.0,
    seed: int = 0,
    on_call: OnCall = lambda _request, _completion: None,
) -> GoldSession:
    """A session over the benchmark's graph in process, whose model errs with the probability `rate`."""
    settings = benchmark.task.settings
    return GoldSession(settings=settings, similarity=similarity, rate=rate, seed=seed, on_call=on_call)


async def answered(benchmark: GoldBenchmark, opened: GoldSession, question: BenchmarkQuestion) -> QuestionRecord:
    """The record of one question, asked from its gold topics."""
    opened.tell(question.question, benchmark.chains[question.id])
    return await asked(opened, benchmark.task, question)


async def records(
    benchmark: GoldBenchmark, similarity: Similarity, *, rate: float = 0.0, seed: int = 0
) -> list[QuestionRecord]:
    """The records of all questions, one after the other."""
    async with gold_session(benchmark, similarity, rate=rate, seed=seed) as opened:
        return [await answered(benchmark, opened, question) for question in benchmark.questions]


def scores(walked: Sequence[QuestionRecord]) -> dict[str, float]:
    """The mean scores over these questions."""
    measured = [score(record) for record in walked]
    return {
        "found": mean(measure.hit for measure in measured),
        "hits@1": mean(measure.hits_at_1 for measure in measured),
        "f1": mean(measure.f1 for measure in measured),
    }
