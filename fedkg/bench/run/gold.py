"""Who asks for upper bounds: sessions whose model knows the gold chains, and the executor of our tables and ablations.

The same command gives the same answers: one question is asked after the other.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fedkg.bench.data.gold_chains import GoldChains
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.executors import together
from fedkg.bench.run.record import QuestionRecord
from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import Settings
from fedkg.embed.base import Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.llm.base import Completion, Request
from fedkg.reasoner.base import ReasoningModel
from fedkg.reasoner.local.model import LocalModel
from fedkg.session import Session
from fedkg.testing import GoldChain, GoldChat, GoldReasoner
from fedkg.wiring.adapters import text_similarity

__all__ = ["GoldExecutor", "GoldSession"]

OnCall = Callable[[Request, Completion], None]
ReasonerMaker = Callable[[Mapping[str, GoldChain], float, int, ReasoningModel], GoldReasoner]


class GoldSession(Session):
    """A Session whose model is told the gold chain of each question before it is asked: one question at a time.

    The model errs with the probability `rate`, by `seed` and the id of the chain. `on_call` gets what it is sent, with
    its reply; `made` makes its reasoner; the other arguments are a Session's.
    """

    def __init__(
        self,
        *endpoints: Any,
        rate: float = 0.0,
        seed: int = 0,
        on_call: OnCall = lambda _request, _completion: None,
        made: ReasonerMaker = GoldReasoner,
        **options: Any,
    ) -> None:
        self._golds: dict[str, GoldChain] = {}
        reasoner = partial(_gold_reasoner, made, self._golds, rate, seed)
        super().__init__(*endpoints, reasoner=reasoner, **{"chat": GoldChat(on_call), **options})

    def tell(self, question: str, chain: GoldChain) -> None:
        """What is asked next, and what is known of it.

        No question before it is known any more: some have the same text.
        """
        self._golds.clear()
        self._golds[question] = chain


def _gold_reasoner(
    made: ReasonerMaker,
    golds: Mapping[str, GoldChain],
    rate: float,
    seed: int,
    model: ReasoningModel,
    *_accounts: object,
) -> GoldReasoner:
    """The reasoner of one question, which replies through the session's model, and so into its ledger."""
    return made(golds, rate, seed, model)


class GoldExecutor:
    """An Executor over a folder of data: without a language model, or with one that knows the gold chains.

    Each run has a session of its own, so that its requests are its own; what is embedded is shared by all. A context
    manager.
    """

    def __init__(self, data: Path) -> None:
        self.chains = GoldChains(data)
        self._similarities: dict[tuple[str, str], Similarity] = {}

    async def records(
        self, work: AskingTask, questions: Sequence[BenchmarkQuestion]
    ) -> AsyncGenerator[QuestionRecord, None]:
        """The records in the order of the questions. Raises InputError where the session cannot be opened."""
        async with self._session(work.settings) as session:
            for question in questions:
                if isinstance(session, GoldSession):
                    session.tell(question.question, self.chains.of(work.definition, question))
                async for record in together(session, work, [question], 1):
                    yield record

    def _session(self, settings: Settings) -> Session:
        opened = Session if settings.model == LocalModel.name else GoldSession
        return opened(settings=settings, similarity=self._similarity(settings))

    def _similarity(self, settings: Settings) -> Similarity:
        key = (settings.embedder, settings.prefixes)
        if key not in self._similarities:
            self._similarities[key] = text_similarity(settings, MemoryStore())
        return self._similarities[key]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for similarity in self._similarities.values():
            if isinstance(similarity, LazySimilarity):
                similarity.close()
