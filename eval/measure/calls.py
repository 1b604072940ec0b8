"""What a question costs in model calls and tokens: 50 two-hop questions with a model that always picks the gold step.

The graph is in process and MiniLM ranks, as for a user who sets nothing. The model's replies are as long as a real one's, its plan tells the ranking nothing that is not in the question.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from eval.support.report import Report, options
from eval.support.walks import Bench, Sent, Walked, Walker, present
from fedkg.config.settings import SearchSettings
from fedkg.embed.base import Similarity
from fedkg.engine.estimate import Cost
from fedkg.session import Session

SET = "pathquestion-2h"
ASKED = 50
HOPS = 2
PLAN_AND_ANSWER = 2
TARGETS = {"calls, most": "depth + 2", "calls, mean": 4.0, "tokens, mean": 1_800}
VARIANTS = {
    "fused, 30 pairs": SearchSettings(form="pairs", candidates=30),
    "fused, 10 groups": SearchSettings(form="groups", candidates=10),
    "fused, 30 pairs, depth 2": SearchSettings(form="pairs", candidates=30, depth=HOPS),
    "paper, 30 pairs": SearchSettings(form="pairs", candidates=30, call_plan="paper"),
    "paper, 10 groups": SearchSettings(form="groups", candidates=10, call_plan="paper"),
}


class Foreseen(NamedTuple):
    """A question that was asked, with what was estimated as typical."""

    walk: Walked
    cost: Cost

    @property
    def right(self) -> bool:
        """Whether all gold answers are among the answers."""
        found = {value.iri or value.value for value in self.walk.answer.answers} if self.walk.answer else set()
        return {gold.key for gold in self.walk.question.answers} <= found


def main() -> None:
    """Measures all variants and shows where the tokens go."""
    chosen = options(__doc__ or "").parse_args()
    present(chosen.data, [SET])
    bench = Bench.load(SET, chosen.data, ASKED)
    report = Report("calls", write=chosen.write)
    with Session("none", cache=False, embedder="minilm") as session:
        for name, search in VARIANTS.items():
            walks = asyncio.run(walked(bench, search, session.similarity))
            report.add(name, figures(walks, search))
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


async def walked(bench: Bench, search: SearchSettings, similarity: Similarity) -> list[Foreseen]:
    """The questions asked, each after it was estimated."""
    found = []
    async with Walker(bench, similarity, search) as walker:
        for question in bench.questions:
            topics = [topic.iri for topic in question.topic_entities]
            foreseen = await walker.session.estimate(question.question, topics)
            found.append(Foreseen(await walker.walk(question), foreseen.typical))
    return found


def figures(asked: Sequence[Foreseen], search: SearchSettings) -> dict[str, Any]:
    """Calls and tokens per question, what the estimate said of them, and where the tokens go per call."""
    walks = [one.walk for one in asked]
    calls = [len(walk.sent) for walk in walks]
    tokens = [sum(one.tokens for one in walk.sent) for walk in walks]
    requests = [walk.answer.usage.requests for walk in walks if walk.answer]
    said = [one.cost for one in asked]
    return {
        "questions": len(walks),
        "right": sum(one.right for one in asked),
        "calls, mean": round(fmean(calls), 2),
        "calls, most": max(calls),
        "calls, bound": bound(search),
        "within bound": max(calls) <= bound(search),
        "tokens, mean": round(fmean(tokens)),
        "tokens, most": max(tokens),
        "estimate (typical) to actual": {
            "calls": _ratio([cost.calls for cost in said], calls),
            "tokens": _ratio([cost.tokens_in + cost.tokens_out for cost in said], tokens),
            "requests": _ratio([cost.requests for cost in said], requests),
        },
        "per call": _by_call([one for walk in walks for one in walk.sent]),
    }


def bound(search: SearchSettings) -> int:
    """Most calls: depth + 2 for the fused plan, N · D + D + C for the paper's (FiDeLiS v4, appendix B)."""
    per_depth = 1 if search.call_plan == "fused" else search.beam + 1
    return per_depth * search.depth + PLAN_AND_ANSWER


def _by_call(sent: Sequence[Sent]) -> dict[str, dict[str, int]]:
    """The mean tokens of each kind of call, by part, and how many there were."""
    grouped: dict[str, list[Sent]] = defaultdict(list)
    for one in sent:
        grouped[one.call].append(one)
    parts = ("system", "examples", "user", "reply", "tokens")
    return {
        call: {"calls": len(own)} | {part: round(fmean(getattr(one, part) for one in own)) for part in parts}
        for call, own in sorted(grouped.items())
    }


def _ratio(said: Sequence[float], actual: Sequence[float]) -> float:
    return round(fmean(said) / fmean(actual), 2)


if __name__ == "__main__":
    main()
