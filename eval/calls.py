"""What a question costs in model calls and tokens: 50 two-hop questions with a model that always picks the gold step.

The graph is in process and MiniLM ranks, as for a user who sets nothing. Tokens are the estimate of `fedkg.tokens` over what
goes out (system text with its examples, user text) and what comes back; the schema is not counted, since vendors differ in
how they do. The model's replies are as long as a real one's, its plan tells the ranking nothing that is not in the question.
"""

import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from eval.guide import gold_chains, guide
from eval.report import Report, options, require
from fedkg.bench import datasets
from fedkg.bench.datasets import Question
from fedkg.embed.base import Similarity
from fedkg.estimate import Cost
from fedkg.llm.base import Capability, ChatModel, Completion, Request
from fedkg.records import Answer
from fedkg.session import Session
from fedkg.settings import Search
from fedkg.tokens import estimate

QUESTIONS, GRAPH = "pathquestion-2h.jsonl", "freebase-pathquestion.nt.gz"
ASKED = 50
HOPS = 2
EXAMPLES = re.compile(r"\n\nExamples?\n\n")
PLAN_AND_ANSWER = 2
TARGETS = {"calls, most": "depth + 2", "calls, mean": 4.0, "tokens, mean": 1_800}
VARIANTS = {
    "fused, 30 pairs": Search(form="pairs", candidates=30),
    "fused, 10 groups": Search(form="groups", candidates=10),
    "fused, 30 pairs, depth 2": Search(form="pairs", candidates=30, depth=HOPS),
    "paper, 30 pairs": Search(form="pairs", candidates=30, call_plan="paper"),
    "paper, 10 groups": Search(form="groups", candidates=10, call_plan="paper"),
}


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
    """A question with what was estimated as typical, its calls, and its answer."""

    question: Question
    foreseen: Cost
    sent: list[Sent]
    answer: Answer

    @property
    def right(self) -> bool:
        """Whether all gold answers are among the answers."""
        found = {value.iri or value.value for value in self.answer.answers}
        return {gold.key for gold in self.question.answers} <= found


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


def main() -> None:
    """Measures all variants and shows where the tokens go."""
    chosen = options(__doc__ or "").parse_args()
    require(chosen.data, QUESTIONS, GRAPH)
    report = Report("calls", write=chosen.write)
    asked = datasets.questions(chosen.data / QUESTIONS, ASKED)
    chains = gold_chains(chosen.data / QUESTIONS)
    with Session("none", cache=False, embedder="minilm") as session:
        for name, search in VARIANTS.items():
            walks = asyncio.run(walked(chosen.data / GRAPH, asked, chains, search, session.similarity))
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


async def walked(
    graph: Path, asked: Sequence[Question], chains: Mapping[str, list[str]], search: Search, similarity: Similarity
) -> list[Walked]:
    """For each question what was estimated, its calls, and its answer."""
    tally, found = Tally(), []
    fields = {f"search.{name}": getattr(search, name) for name in search.__struct_fields__}
    options: dict[str, Any] = {"cache": False, **fields}
    async with Session(f"freebase@{graph}", chat=tally, similarity=similarity, **options) as session:
        for question in asked:
            tally.guide, tally.sent = guide(chains[question.id]), []
            topics = [topic.iri for topic in question.topic_entities]
            foreseen = await session.estimate(question.question, topics)
            answer = await session.ask(question.question, topics)
            found.append(Walked(question, foreseen.typical, tally.sent, answer))
    return found


def figures(walks: Sequence[Walked], search: Search) -> dict[str, Any]:
    """Calls and tokens per question, what the estimate said of them, and where the tokens go per call."""
    calls = [len(walk.sent) for walk in walks]
    tokens = [sum(one.tokens for one in walk.sent) for walk in walks]
    requests = [walk.answer.usage.requests for walk in walks]
    said = [walk.foreseen for walk in walks]
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
            "calls": _ratio([cost.calls for cost in said], calls),
            "tokens": _ratio([cost.tokens_in + cost.tokens_out for cost in said], tokens),
            "requests": _ratio([cost.requests for cost in said], requests),
        },
        "per call": _by_call([one for walk in walks for one in walk.sent]),
    }


def bound(search: Search) -> int:
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
