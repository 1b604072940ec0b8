"""What a question costs in model calls and tokens: 50 two-hop questions with a model that always picks the gold step.

The graph is in process and MiniLM ranks, as for a user who sets nothing. The model's replies are as long as a real
one's, its plan tells the ranking nothing that is not in the question. Tokens are the estimate of `fedkg.common.tokens`
over what goes out (system text with its examples, user text) and what comes back; the schema is not counted, since
vendors differ in how they do.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from eval.support.gold import GoldBenchmark, answered, gold_session, present
from eval.support.report import Report, options
from fedkg.bench.run.record import QuestionRecord
from fedkg.config.settings import SearchSettings
from fedkg.embed.base import Similarity
from fedkg.engine.estimate import Cost
from fedkg.llm.base import Completion, Request
from fedkg.reasoner.gold import prompt_tokens
from fedkg.session import Session

SET = "pathquestion-2h"
ASKED = 50
HOPS = 2
PLAN_AND_ANSWER = 2
TARGETS = {"calls, most": "depth + 2", "calls, mean": 4.0, "tokens, mean": 1_800}
VARIANTS = {
    "fused": SearchSettings(),
    "fused, 30 pairs": SearchSettings(form="pairs", candidates=30),
    "fused, 10 groups": SearchSettings(form="groups", candidates=10),
    "fused, 30 pairs, depth 2": SearchSettings(form="pairs", candidates=30, depth=HOPS),
    "paper, 30 pairs": SearchSettings(form="pairs", candidates=30, call_plan="paper"),
    "paper, 10 groups": SearchSettings(form="groups", candidates=10, call_plan="paper"),
}


class CallTokens(NamedTuple):
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


class WalkedQuestion(NamedTuple):
    """A question that was asked, its calls, and what was estimated as typical."""

    record: QuestionRecord
    calls: list[CallTokens]
    estimate: Cost

    @property
    def right(self) -> bool:
        """Whether all gold answers are among the answers."""
        return {gold.key for gold in self.record.gold} <= {answer.key for answer in self.record.answers}


def main() -> None:
    """Measures all variants and shows where the tokens go."""
    chosen = options(__doc__ or "").parse_args()
    present(chosen.data, [SET])
    report = Report("calls", write=chosen.write)
    with Session("none", cache=False, embedder="minilm") as session:
        for name, search in VARIANTS.items():
            benchmark = GoldBenchmark.load(SET, chosen.data, ASKED, search)
            report.add(name, figures(asyncio.run(walked(benchmark, session.similarity)), search))
    report.add("targets", TARGETS)
    report.close()
    table(report.figures)


def table(figures: Mapping[str, Any]) -> None:
    """Prints a line for each variant."""
    print(f"{'':28}calls: mean  most  bound  tokens: mean  most  right")
    for name, shown in figures.items():
        if name in VARIANTS:
            calls = (shown[f"calls, {part}"] for part in ("mean", "most", "bound"))
            tokens = (shown[f"tokens, {part}"] for part in ("mean", "most"))
            print("{:28}{:11}{:6}{:7}{:14}{:6}{:7}".format(name, *calls, *tokens, shown["right"]))


async def walked(benchmark: GoldBenchmark, similarity: Similarity) -> list[WalkedQuestion]:
    """The questions asked, each after it was estimated."""
    calls: list[CallTokens] = []
    walks = []

    def heard(request: Request, completion: Completion) -> None:
        calls.append(CallTokens(request.call, *prompt_tokens(request), completion.tokens_out))

    async with gold_session(benchmark, similarity, on_call=heard) as opened:
        for question in benchmark.questions:
            topics = [topic.iri for topic in question.topic_entities]
            estimate = await opened.estimate(question.question, topics)
            record = await answered(benchmark, opened, question)
            walks.append(WalkedQuestion(record, calls[:], estimate.typical))
            calls.clear()
    return walks


def figures(walks: Sequence[WalkedQuestion], search: SearchSettings) -> dict[str, Any]:
    """Calls and tokens per question, what the estimate said of them, and where the tokens go per call."""
    calls = [len(walk.calls) for walk in walks]
    tokens = [sum(call.tokens for call in walk.calls) for walk in walks]
    requests = [walk.record.usage.requests for walk in walks if not walk.record.error]
    costs = [walk.estimate for walk in walks]
    return {
        "questions": len(walks),
        "right": sum(walk.right for walk in walks),
        "calls, mean": round(fmean(calls), 2),
        "calls, most": max(calls),
        "calls, bound": bound(search),
        "within bound": max(calls) <= bound(search),
        "tokens, mean": round(fmean(tokens)),
        "tokens, most": max(tokens),
        "estimate (typical) to actual": {
            "calls": _ratio([cost.calls for cost in costs], calls),
            "tokens": _ratio([cost.tokens_in + cost.tokens_out for cost in costs], tokens),
            "requests": _ratio([cost.requests for cost in costs], requests),
        },
        "per call": _by_call([call for walk in walks for call in walk.calls]),
    }


def bound(search: SearchSettings) -> int:
    """Most calls: depth + 2 for the fused plan, N · D + D + C for the paper's (FiDeLiS v4, appendix B)."""
    per_depth = 1 if search.call_plan == "fused" else search.beam + 1
    return per_depth * search.depth + PLAN_AND_ANSWER


def _by_call(calls: Sequence[CallTokens]) -> dict[str, dict[str, int]]:
    """The mean tokens of each kind of call, by part, and how many there were."""
    grouped: dict[str, list[CallTokens]] = defaultdict(list)
    for call in calls:
        grouped[call.call].append(call)
    parts = ("system", "examples", "user", "reply", "tokens")
    return {
        name: {"calls": len(group)} | {part: round(fmean(getattr(call, part) for call in group)) for part in parts}
        for name, group in sorted(grouped.items())
    }


def _ratio(estimated: Sequence[float], actual: Sequence[float]) -> float:
    return round(fmean(estimated) / fmean(actual), 2)


if __name__ == "__main__":
    main()
