"""Questions of a benchmark, asked with a model that knows the way: what is answered, how good that is, what was sent for it.

Tokens are the estimate of `fedkg.common.tokens` over what goes out (system text with its examples, user text) and what comes back;
the schema is not counted, since vendors differ in how they do.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from eval.support.guide import Gold, golds, guide
from eval.support.report import require
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.definitions import Definition
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.bench.run.record import QuestionRecord, given
from fedkg.bench.scoring.scores import Score, mean, score
from fedkg.common.tokens import estimate
from fedkg.config.settings import SearchSettings, Settings
from fedkg.core.answer import Answer
from fedkg.embed.base import Similarity
from fedkg.errors import FedkgError
from fedkg.llm.base import Capability, ChatModel, Completion, Request
from fedkg.session import Session

__all__ = ["Bench", "Sent", "Walked", "Walker", "present", "scores"]

EXAMPLES = re.compile(r"\n\nExamples?\n\n")


class Bench(NamedTuple):
    """Questions of a benchmark with what is known of them, and where its graph is."""

    definition: Definition
    graph: Path
    questions: Sequence[BenchmarkQuestion]
    golds: dict[str, Gold]

    @classmethod
    def load(cls, name: str, data: Path, limit: int | None = None) -> "Bench":
        """All questions, or `limit` of them drawn by the seed 0."""
        definition = definitions.find(name)
        file = data / definition.questions
        return cls(definition, data / definition.graph, loaders.questions(file, limit), golds(file))


def present(data: Path, names: Iterable[str]) -> None:
    """Ends the program where questions or graph of one of these benchmarks are absent."""
    found = [definitions.find(name) for name in names]
    require(data, *(file for one in found for file in (one.questions, one.graph)))


class Sent(NamedTuple):
    """One call in estimated tokens, by the parts of what went out, and what came back."""

    call: str
    system: int
    examples: int
    user: int
    reply: int

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.system + self.examples + self.user + self.reply


class Walked(NamedTuple):
    """A question with its calls and its answer, or the error that it ended with."""

    question: BenchmarkQuestion
    sent: list[Sent]
    answer: Answer | None
    error: str = ""

    @property
    def score(self) -> Score:
        """How good the answer is."""
        asked, answer = self.question, self.answer
        if answer is None:
            return Score()
        return score(
            QuestionRecord(
                id=asked.id,
                question=asked.question,
                kind=answer.kind,
                status=answer.status,
                gold=asked.answers,
                answers=given(answer),
            )
        )


class Tally:
    """A ChatModel that hands every request on to `guide` and keeps how large it was."""

    name = "guide:gold"
    capability = Capability(context=200_000)

    def __init__(self) -> None:
        self.guide: ChatModel
        self.sent: list[Sent] = []

    async def complete(self, request: Request) -> Completion:
        """The guide's reply, with the estimate of its tokens."""
        said = await self.guide.complete(request)
        system, *rest = [message.content for message in request.messages]
        told, *examples = EXAMPLES.split(system, maxsplit=1)
        sizes = [estimate(part) for part in (told, "".join(examples), "\n".join(rest), said.text)]
        self.sent.append(Sent(request.call, *sizes))
        return Completion(said.text, sum(sizes[:3]), sizes[3])

    async def close(self) -> None:
        """Nothing to free."""


class Walker:
    """Asks the questions of a benchmark from their gold topics; the graph is in process. An asynchronous context manager.

    The model errs with the probability `rate`, by `seed` and question.
    """

    def __init__(
        self,
        bench: Bench,
        similarity: Similarity,
        search: SearchSettings | None = None,
        *,
        method: str = "fidelis",
        rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._bench, self._rate, self._seed = bench, rate, seed
        self._tally = Tally()
        endpoint = f"{bench.definition.profile}@{bench.graph}"
        settings = Settings((endpoint,), method=method, search=search or SearchSettings(), cache=False)
        self.session = Session(settings=settings, chat=self._tally, similarity=similarity)

    async def walk(self, question: BenchmarkQuestion) -> Walked:
        """The question answered."""
        gold = self._bench.golds[question.id]
        self._tally.guide, self._tally.sent = guide(gold, self._rate, f"{self._seed} {question.id}"), []
        topics = [topic.iri for topic in question.topic_entities]
        try:
            return Walked(question, self._tally.sent, await self.session.ask(question.question, topics))
        except FedkgError as error:
            return Walked(question, self._tally.sent, None, f"{type(error).__name__}: {error}")

    async def all(self) -> list[Walked]:
        """All questions answered."""
        return [await self.walk(question) for question in self._bench.questions]

    async def __aenter__(self) -> Self:
        """Opens the session."""
        await self.session.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        await self.session.__aexit__(kind, error, trace)


def scores(walks: Sequence[Walked]) -> dict[str, float]:
    """The mean scores over these questions."""
    found = [walk.score for walk in walks]
    return {
        "found": mean(one.hit for one in found),
        "hits@1": mean(one.hits_at_1 for one in found),
        "f1": mean(one.f1 for one in found),
    }
