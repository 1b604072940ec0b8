r"""Verifiers of FiDeLiS with a small real language model (FiDeLiS v4, Table 5): its words, and its log-probabilities.

A model that knows the way chooses the steps, and errs in a fifth of them, drawn by a seed. Whether a path follows and
is enough to answer is verified by SmolLM2-135M (`make lm`), with the bundled prompts and their examples, held to their
schema. The ends of the paths that a walk finishes with are the answer: no call answers. The paper's call plan, BM25.

Each form is measured twice. Where it decides: Hits@1. And beside one that knows the way and decides without error, so
that all see the same paths: the shares of the paths that it calls enough, of those that have arrived at the gold
answers and of all others; by `log-probability` also the share of the pairs of one of either in which the one that has
arrived is the likelier (a blind verifier has 0.5).

    python -m eval.quality.verifiers --write
"""

import argparse
import asyncio
import itertools
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple, TypeVar, cast

from eval.support import smollm2
from eval.support.gold import GoldBenchmark, answered, present, scores
from eval.support.report import Report, options
from fedkg.bench.report import markdown
from fedkg.bench.run.gold import GoldSession
from fedkg.config.settings import SearchSettings, Verifier
from fedkg.core.choice import PromptCandidate, Verdict
from fedkg.embed.base import Similarity
from fedkg.errors import ModelError
from fedkg.llm.base import Capability
from fedkg.llm.openai import OpenAIModel
from fedkg.reasoner.base import Call, ReasoningModel
from fedkg.reasoner.calls.adequacy import AdequacyCall
from fedkg.reasoner.calls.deducible import DeducibleCall
from fedkg.reasoner.calls.deductive import DeductiveCall
from fedkg.reasoner.gold_view import ARRIVED
from fedkg.reasoner.prompted import PromptedModel
from fedkg.session import Session
from fedkg.testing import GoldChain, GoldChat, GoldReasoner

SETS = ("pathquestion-2h", "pathquestion-3h", "metaqa-2hop")
ASKED = 20
RATE = 0.2
MOST = 200
"""Tokens of a reply: verdicts on some paths have less."""
ENOUGH = 0.5
VERIFIERS: tuple[Verifier, ...] = ("deductive", "adequacy", "log-probability")

Reply = TypeVar("Reply")
Verification = DeducibleCall | DeductiveCall | AdequacyCall
Golds = Mapping[str, GoldChain]


class LikelyGoldChat(GoldChat):
    """A GoldChat beside which another model gives the log-probabilities."""

    capability = Capability(context=200_000, logprobs=True)


class Judgement(NamedTuple):
    """How sure a verifier is, in 0..1, that paths are enough, and whether one of them has arrived."""

    sure: float
    arrived: bool


class Verifications:
    """What verifies, whether its word counts, its judgements, and how many of its replies were of no use.

    Without a model the one that knows the way verifies.
    """

    def __init__(self, model: ReasoningModel | None = None, *, decides: bool = True) -> None:
        self.model, self.decides = model, decides
        self.judgements: list[Judgement] = []
        self.asked = self.unusable = 0

    def figures(self) -> dict[str, float | None]:
        """The calls, the share of unusable replies, and of paths called enough those that have arrived and others."""
        arrived = [one.sure for one in self.judgements if one.arrived]
        others = [one.sure for one in self.judgements if not one.arrived]
        return {
            "calls": self.asked,
            "unusable": _share(self.unusable, self.asked),
            "enough, arrived": _share(sum(sure >= ENOUGH for sure in arrived), len(arrived)),
            "enough, others": _share(sum(sure >= ENOUGH for sure in others), len(others)),
            "arrived is likelier": likelier(arrived, others),
        }


def likelier(arrived: Sequence[float], others: Sequence[float]) -> float | None:
    """The share of pairs in which the first is the larger, equal ones counted half; None where there are none."""
    pairs = [(one > other) + (one == other) / 2 for one, other in itertools.product(arrived, others)]
    return round(fmean(pairs), 3) if pairs else None


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


class VerifiedByOther(GoldReasoner):
    """A GoldReasoner whose paths another model verifies, or one that knows the way and does not err.

    Where a reply of the other is of no use, nothing is pruned and nothing finishes.
    """

    def __init__(
        self, verifications: Verifications, golds: Golds, rate: float, seed: int, model: ReasoningModel
    ) -> None:
        super().__init__(golds, rate, seed, model)
        self._verifications = verifications
        self._knowing = GoldReasoner(golds)
        self._verifying = verifications.model or self._knowing

    async def ask(self, call: Call[Reply]) -> Reply:
        """The reply of the model that knows the way, or of the one that verifies."""
        if not isinstance(call, Verification):
            return await super().ask(call)
        reply = await self._verified(call)
        return cast("Reply", reply if self._verifications.decides else await self._knowing.ask(call))

    async def _verified(self, call: Verification) -> object:
        """What the other model replies, which is kept; what leaves a walk as it is where that is of no use."""
        self._verifications.asked += 1
        try:
            reply = await self._verifying.ask(call)
        except ModelError:
            self._verifications.unusable += 1
            return _abstained(call)
        self._verifications.judgements.extend(self._judged(call, reply))
        return reply

    def _judged(self, call: Verification, reply: Any) -> list[Judgement]:
        """How sure it is of the paths, each alone or, by adequacy, all together."""
        if isinstance(call, DeducibleCall):
            return [Judgement(reply, self._arrived(call.question, call.path))]
        arrived = [self._arrived(call.question, path) for path in call.paths]
        if isinstance(call, AdequacyCall):
            return [Judgement(float(reply), any(arrived))]
        return [Judgement(float(verdict.finishes), there) for verdict, there in zip(reply, arrived, strict=False)]

    def _arrived(self, question: str, path: PromptCandidate) -> bool:
        return self._view(question, [path]).states[path.number] == ARRIVED


def _abstained(call: Verification) -> object:
    """What leaves a walk as it is."""
    if isinstance(call, DeductiveCall):
        return tuple(Verdict(path.number, follows=True, finishes=False) for path in call.paths)
    return 0.0 if isinstance(call, DeducibleCall) else False


async def walked(benchmark: GoldBenchmark, similarity: Similarity, verifications: Verifications) -> dict[str, Any]:
    """The figures of one set."""

    def made(golds: Golds, rate: float, seed: int, model: ReasoningModel) -> GoldReasoner:
        return VerifiedByOther(verifications, golds, rate, seed, model)

    settings = benchmark.task.settings
    chat = LikelyGoldChat()
    async with GoldSession(settings=settings, similarity=similarity, rate=RATE, made=made, chat=chat) as opened:
        records = [await answered(benchmark, opened, question) for question in benchmark.questions]
    steps = [len(path) for record in records for path in record.paths[:1]]
    measured = {name: round(share, 3) for name, share in scores(records).items()}
    depth = {"steps of the first path": round(fmean(steps), 2) if steps else None}
    return {"questions": len(records), **measured, **depth, **verifications.figures()}


def search(verifier: Verifier) -> SearchSettings:
    """The paper's call plan with that verifier, and no call that answers."""
    return SearchSettings(call_plan="paper", verifier=verifier, last_step=False)


def main() -> None:
    """Asks each set with each verifier."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=ASKED, help="questions of each set")
    parser.add_argument("--sets", nargs="+", default=SETS, help="which sets, all by default")
    chosen = parser.parse_args()
    if why := smollm2.missing():
        parser.error(why)
    present(chosen.data, chosen.sets)
    report = Report("verifiers", write=chosen.write)
    with smollm2.server() as url, Session("none", cache=False, embedder="bm25") as session:
        for name in chosen.sets:
            report.add(name, asyncio.run(rows(name, chosen, session.similarity, url)))
    report.attach("md", table(report.figures))
    report.close()


async def rows(name: str, chosen: argparse.Namespace, similarity: Similarity, url: str) -> list[dict[str, Any]]:
    """A row for each verifier: none, one that knows the way, and the small model in each of its forms."""
    capability = Capability(structured="native", logprobs=True, context=smollm2.CONTEXT, output=MOST)
    small = PromptedModel(OpenAIModel(smollm2.NAME, "", url, capability=capability))
    asked: list[tuple[str, Verifier, Verifications]] = [
        ("nothing verifies", "none", Verifications()),
        ("the gold chain", "deductive", Verifications()),
    ]
    for verifier in VERIFIERS:
        asked.append((f"{verifier}, decides", verifier, Verifications(small)))
        asked.append((f"{verifier}, beside the gold chain", verifier, Verifications(small, decides=False)))
    measured = []
    for title, verifier, verifications in asked:
        benchmark = GoldBenchmark.load(name, chosen.data, chosen.limit, search(verifier))
        measured.append({"": title, **await walked(benchmark, similarity, verifications)})
        print(measured[-1], flush=True)
    await small.close()
    return measured


def table(figures: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """The rows of each set as Markdown."""
    about = "SmolLM2-135M verifies what a model that knows the way has chosen (`python -m eval.quality.verifiers`)."
    return "\n".join(
        ["# Verifiers", "", about, *(f"\n{name}\n\n{markdown.records(each)}" for name, each in figures.items())]
    )


if __name__ == "__main__":
    main()
