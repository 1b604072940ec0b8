"""Who asks the questions of the tables: one after the other, each run in a session of its own, so that its requests are its own.

What is embedded is shared by all runs: labels are read by the embedder once. The model is `local`, or one that knows the way
(`eval/support/guide.py`): from the gold path of the question set or, where it has none, from the shortest relations of the graph that lead
to the answers. So the same command gives the same answers.
"""

import gc
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from eval.support.gold import SETS, Facts, Set, facts, way
from eval.support.guide import Gold, golds, guide, relation_name
from eval.support.walks import Tally
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.asking import AskingTask
from fedkg.bench.run.executors import together
from fedkg.bench.run.record import QuestionRecord
from fedkg.cache.memory import MemoryStore
from fedkg.config.settings import Settings
from fedkg.core.terms import DirectedRelation
from fedkg.embed.base import Similarity
from fedkg.embed.lazy import LazySimilarity
from fedkg.session import Session
from fedkg.wiring.adapters import text_similarity

__all__ = ["LOCAL", "Asker"]

LOCAL = "local"


class Asker:
    """An Executor over the questions of the data folder. A context manager."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._similarities: dict[str, Similarity] = {}
        self._golds: dict[str, Mapping[str, Gold]] = {}
        self._facts: dict[Set, Facts] = {}

    async def records(
        self, work: AskingTask, questions: Sequence[BenchmarkQuestion]
    ) -> AsyncGenerator[QuestionRecord, None]:
        """The records in the order of the questions. Raises InputError where the session cannot be opened."""
        settings, tally = work.settings, Tally()
        chat, similarity = None if settings.model == LOCAL else tally, self._similarity(settings)
        async with Session(settings=settings, chat=chat, similarity=similarity) as session:
            for question in questions:
                if chat:
                    tally.guide, tally.sent = guide(self.gold(work.definition, question)), []
                async for record in together(session, work, [question], 1):
                    yield record
        del session
        gc.collect()  # a session is a circle of few objects that holds a graph: without this one run's graph after the other stays

    def knows(self, definition: Definition) -> bool:
        """Whether there is a way to know of questions of this benchmark."""
        return bool(self._listed(definition)) or _set(definition) is not None

    def gold(self, definition: Definition, question: BenchmarkQuestion) -> Gold:
        """What is known of the question; where no way is, the model knows none either."""
        chosen = _set(definition)
        if known := self._listed(definition).get(question.id):
            return known
        chain = way(question, self._graph(chosen)) if chosen else ()
        return Gold([_step(relation) for relation in chain], [answer.label for answer in question.answers], bool(chain))

    def _listed(self, definition: Definition) -> Mapping[str, Gold]:
        """The gold of the question set by ids, where it has gold paths."""
        if definition.name not in self._golds:
            self._golds[definition.name] = _listed(self._data / definition.questions, definition)
        return self._golds[definition.name]

    def _graph(self, chosen: Set) -> Facts:
        if chosen not in self._facts:
            self._facts[chosen] = facts(self._data / chosen.graph, chosen.relations)
        return self._facts[chosen]

    def _similarity(self, settings: Settings) -> Similarity:
        if settings.embedder not in self._similarities:
            self._similarities[settings.embedder] = text_similarity(settings, MemoryStore())
        return self._similarities[settings.embedder]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for similarity in self._similarities.values():
            if isinstance(similarity, LazySimilarity):
                similarity.close()


def _listed(file: Path, definition: Definition) -> Mapping[str, Gold]:
    if definition.loader != "jsonl":
        return {}
    try:
        return golds(file)
    except KeyError:  # its rows have no gold path
        return {}


def _set(definition: Definition) -> Set | None:
    """The set of these questions on this graph, where its facts are known to lead to the answers."""
    found = (one for one in SETS.values() if (f"{one.questions}.jsonl.gz", one.graph) == _files(definition))
    return next(found, None)


def _files(definition: Definition) -> tuple[str, str]:
    return definition.questions, definition.graph


def _step(relation: DirectedRelation) -> str:
    """A step as an offer shows it."""
    return f"{'→' if relation.direction == 'out' else '←'} {relation_name(relation.relation.value)}"
