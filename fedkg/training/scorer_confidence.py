"""The confidence table of a trained scorer: fitted on questions that it was not trained on, asked with it.

Every third question is asked of a graph without its chain: the chain is withheld from what the model is shown, so that
whatever it answers is wrong. Else an answer is right where its chain is the question's.
"""

import contextlib
import datetime as dt
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from fedkg.config.settings import ConstraintLevel, Settings
from fedkg.core.choice import ChainEvidence, Conclusion, PromptCandidate
from fedkg.core.question import Kind
from fedkg.errors import FedkgError
from fedkg.llm.exchange import CallObserver
from fedkg.llm.ledger import Ledger
from fedkg.reasoner.base import Call, ReasoningModel
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.answer import AnswerCall
from fedkg.reasoner.calls.beam import BeamCall
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.local.chain_texts import NamedStep, steps
from fedkg.reasoner.local.chains import chain_of
from fedkg.reasoner.local.confidence import FILE, OTHER, of_embedder, written
from fedkg.reasoner.local.trained import TrainedLocalModel
from fedkg.session import Session
from fedkg.training.confidence_fit import fit
from fedkg.training.scorer_data import Progress, QuestionData

__all__ = ["JudgedChain", "WithholdingModel", "asked_chains", "by_graph", "enough", "write_confidence"]

MOST_ASKED = 200
"""Questions of all sets together."""
FEWEST = 20
"""Answers without which no table is fitted."""
WITHHELD = 3
"""The chain of one of so many questions is withheld."""
SHOWN = {
    BeamCall: "candidates",
    ChooseCall: "candidates",
    AdequacyCall: "paths",
    AnswerCall: "paths",
    DeductiveCall: "paths",
}
"""The field of a call that has what the model is shown."""

Reply = TypeVar("Reply")
Chains = Collection[tuple[NamedStep, ...]]


class JudgedChain(NamedTuple):
    """What spoke for an answer, and whether its chain is the question's."""

    evidence: ChainEvidence
    right: bool


class WithholdingModel:
    """A reasoning model that is not shown chains that begin with one of `withheld`.

    `evidence` and `chains` are those of its latest conclusion, of no chain before the first.
    """

    def __init__(self, model: ReasoningModel, withheld: Chains = ()) -> None:
        self.name = model.name
        self.exhaustive = model.exhaustive
        self.abstains: frozenset[Kind] = model.abstains
        self.constraint_level: ConstraintLevel = model.constraint_level
        self.constraint_limit = model.constraint_limit
        self.evidence: ChainEvidence | None = None
        self.chains: tuple[tuple[NamedStep, ...], ...] = ()
        self._model = model
        self._withheld = withheld

    @property
    def left_out(self) -> int:
        """The model's."""
        return self._model.left_out

    async def ask(self, call: Call[Reply]) -> Reply:
        """The model's reply to what is left of the call."""
        if shown := SHOWN.get(type(call)):
            call = msgspec.structs.replace(call, **{shown: self._left(getattr(call, shown))})
        reply = await self._model.ask(call)
        if isinstance(call, AnswerCall) and isinstance(reply, Conclusion):
            self.evidence = reply.evidence
            self.chains = tuple(_steps(path) for path in call.paths if path.number in reply.paths)
        return reply

    async def close(self) -> None:
        """Closes the model."""
        await self._model.close()

    def _left(self, offers: Sequence[PromptCandidate]) -> list[PromptCandidate]:
        return [offer for offer in offers if not any(_steps(offer)[: len(one)] == one for one in self._withheld)]


def _steps(offer: PromptCandidate) -> tuple[NamedStep, ...]:
    return steps(chain_of(offer))


class Watch:
    """Makes the model of each question one that is not shown the chains that are `withheld`, and tells what it said.

    With a `weight` a trained scorer counts so much, whatever its folder says.
    """

    def __init__(self, weight: float | None = None) -> None:
        self.withheld: Chains = ()
        self._weight = weight
        self._model: WithholdingModel | None = None

    def __call__(self, model: ReasoningModel, _ledger: Ledger, _observer: CallObserver, /) -> ReasoningModel:
        """The session's own model without the chains that are withheld."""
        if self._weight is not None and isinstance(model, TrainedLocalModel):
            model = model.weighing(self._weight)
        self._model = WithholdingModel(model, self.withheld)
        return self._model

    async def asked(
        self, session: Session, question: str, topics: Sequence[str] = ()
    ) -> tuple[ChainEvidence | None, Sequence[tuple[NamedStep, ...]]]:
        """What spoke for the answer to the question, and its chains; nothing where it cannot be asked."""
        self._model = None
        with contextlib.suppress(FedkgError):
            await session.ask(question, topics)
        return (self._model.evidence, self._model.chains) if self._model else (None, ())


async def write_confidence(
    settings: Settings,
    data: Sequence[QuestionData],
    out: Path,
    on_progress: Progress = lambda _what, _done, _all: None,
) -> None:
    """Fits the table of the scorer in the folder `out` on the held-out questions, and writes it there.

    The bundled weights are where it begins, so that a few questions change little. Of a graph with too few none is
    asked: how like questions and chains are there is another scale. Nothing is written where there are too few of all.
    Raises InputError where an endpoint of the data cannot be opened.
    """
    data = [part for parts in by_graph(data) if enough(parts) for part in parts]
    judged = [one for part in data for one in await asked_chains(part, out, on_progress, withheld=True)]
    if len(judged) < FEWEST:
        return
    async with Session(settings=settings) as session:
        prior = of_embedder(session.similarity.name)
    table = fit([one.evidence for one in judged], [float(one.right) for one in judged], prior=prior)
    sets = tuple(part.about.questions or "made" for part in data if part.held_out)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    table = msgspec.structs.replace(table, fitted=today, sets=sets)
    (out / FILE).write_text(written(OTHER, table), encoding="utf-8")


def by_graph(data: Sequence[QuestionData]) -> list[list[QuestionData]]:
    """The data about each graph, with as many held-out questions of each set as are asked."""
    share = max(1, MOST_ASKED // max(1, len(data)))
    graphs: dict[str, list[QuestionData]] = {}
    for part in data:
        graphs.setdefault(part.graph, []).append(part._replace(held_out=part.held_out[:share]))
    return list(graphs.values())


def enough(parts: Sequence[QuestionData]) -> bool:
    """Whether the held-out questions about one graph tell something."""
    return sum(len(part.held_out) for part in parts) >= FEWEST


async def asked_chains(
    part: QuestionData, out: Path, on_progress: Progress, *, withheld: bool = False, weight: float | None = None
) -> list[JudgedChain]:
    """What the scorer of that folder makes of the held-out questions; of those without an answer nothing.

    Of every third one the chain is `withheld`. A `weight` is tried instead of that of the folder.
    """
    settings = msgspec.structs.replace(part.settings, model=f"local:{out}", refuse_below=0.0, guess_below=0.0)
    watch, judged = Watch(weight), []
    async with Session(settings=settings, reasoner=watch) as session:
        for number, record in enumerate(part.held_out):
            on_progress("confidence", number, len(part.held_out))
            gold = {record.chain, *record.also}
            watch.withheld = gold if withheld and number % WITHHELD == 0 else ()
            evidence, chains = await watch.asked(session, record.question, [record.entity] if record.entity else [])
            if evidence and chains:
                judged.append(JudgedChain(evidence, not watch.withheld and chains[0] in gold))
    return judged
