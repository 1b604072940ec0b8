"""Choices of the first relation by a small language model: as it writes them, and by the likelihoods of their numbers.

SmolLM2-135M (`make lm`) is shown the relations around a question's topic, in an order drawn by a seed, as the calls
`choose` and `score-relations` show them, by the bundled prompts without their examples. `generated`: its reply, which a
grammar of llama.cpp holds to the schema. `likelihood`: `--choices likelihood`, in process with the same weights. The
share of questions is counted whose first choice is the first relation of the gold path; chance is what a blind choice
has. Questions whose topic has fewer than three relations are left out.

    python -m eval.quality.choices --write
"""

import argparse
import asyncio
import gzip
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from eval.support import smollm2
from eval.support.report import Report, options
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.cache.memory import MemoryStore
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import ModelError
from fedkg.llm.base import Capability
from fedkg.llm.hf import HfModel
from fedkg.llm.openai import OpenAIModel
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.scores import ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts.library import PromptLibrary, names

SETS = ("metaqa-1hop", "metaqa-2hop", "pathquestion-2h", "pathquestion-3h")
FEWEST = 3
MOST = 160
"""Tokens of a generated reply: one that picks some offers, or scores nine relations, has less."""
ENDS = 3
"""Labels of ends that are shown of a relation."""
TRIPLE = re.compile(r"<([^>]*)> <([^>]*)> <([^>]*)> \.")
Step = tuple[str, str]
"""A relation, and `→` or `←`."""


class ChoiceCase(NamedTuple):
    """A question with what is offered, and the number of the offer that is gold."""

    question: str
    offers: Sequence[PromptCandidate]
    gold: int


def steps(graph: Path, topics: set[str]) -> dict[str, dict[Step, list[str]]]:
    """The steps from these topics, each with the entities that it leads to."""
    around: dict[str, dict[Step, list[str]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(graph, "rt", encoding="utf-8") as lines:
        for match in filter(None, map(TRIPLE.match, lines)):
            start, relation, end = match.groups()
            if "#" in relation:  # labels and types are no relations
                continue
            if start in topics:
                around[start][relation, "→"].append(end)
            if end in topics:
                around[end][relation, "←"].append(start)
    return around


def cases(name: str, data: Path, limit: int) -> list[ChoiceCase]:
    """So many questions of the set, drawn by the seed 0."""
    definition = definitions.find(name)
    read, _ = loaders.read(definition, data, skip_bad=True)
    drawing = random.Random(0)  # a reproducible sample, not a secret
    sample = drawing.sample([each for each in read if each.gold_path and each.topic_entities], 8 * limit)
    around = steps(data / str(definition.graph), {each.topic_entities[0].iri for each in sample})
    made = (_case(each, around[each.topic_entities[0].iri], drawing) for each in sample)
    return [case for case in made if case][:limit]


def _case(
    question: BenchmarkQuestion, around: Mapping[Step, Sequence[str]], drawing: random.Random
) -> ChoiceCase | None:
    """The question with its relations in a drawn order; None where there are few, or the gold one is none of them."""
    topic, (start, relation, _) = question.topic_entities[0], question.gold_path[0]
    order = drawing.sample(sorted(around), len(around))
    gold = relation, "→" if start == topic.iri else "←"
    if len(order) < FEWEST or gold not in order:
        return None
    offers = [_offer(number, topic.label, step, around[step]) for number, step in enumerate(order, 1)]
    return ChoiceCase(question.question, offers, order.index(gold) + 1)


def _offer(number: int, topic: str, step: Step, ends: Sequence[str]) -> PromptCandidate:
    relation, arrow = _label(step[0]), step[1]
    tails = tuple(map(_label, sorted(ends)[:ENDS]))
    shown, back = ", ".join(tails), "← " if arrow == "←" else ""
    text, below = f"{topic} {arrow} {relation} {arrow} {shown}", f"{back}{relation}: {shown}"
    return PromptCandidate(
        number, text, (relation,), tails, len(ends) - len(tails), topic=topic, stem=topic, step=below
    )


def _label(iri: str) -> str:
    return iri.rpartition("/")[2].rpartition(".")[2].replace("_", " ")


async def chosen(reasoner: PromptedModel, case: ChoiceCase) -> int:
    """The first number that `choose` comes to. Raises ModelError."""
    decision = await reasoner.ask(ChooseCall(case.question, Plan((), kind="entities"), case.offers, 1))
    return decision.picks[0] if decision.picks else 0


async def scored(reasoner: PromptedModel, case: ChoiceCase) -> int:
    """The number of the relation that `score-relations` gives most, the first of equal ones. Raises ModelError."""
    relations = [
        PromptCandidate(each.number, f"{arrow} {each.relations[0]} {arrow}")
        for each in case.offers
        for arrow in ["←" if each.step.startswith("←") else "→"]
    ]
    start = PromptCandidate(1, case.offers[0].topic)
    scores = await reasoner.ask(ScoreRelationsCall(case.question, Plan((), kind="entities"), start, relations))
    return 1 + scores.index(max(scores)) if max(scores) > 0 else 0


CALLS: Mapping[str, Callable[[PromptedModel, ChoiceCase], Awaitable[int]]] = {
    "choose": chosen,
    "score-relations": scored,
}


async def shares(reasoner: PromptedModel, asked: Sequence[ChoiceCase], call: str) -> dict[str, float]:
    """The share of questions with the gold relation first, of unusable replies, and of the first offer chosen."""
    right, failed, first = 0, 0, 0
    for case in asked:
        try:
            number = await CALLS[call](reasoner, case)
        except ModelError:
            failed += 1
        else:
            right, first = right + (number == case.gold), first + (number == 1)
    tokens = sum(each.tokens_out for each in reasoner.ledger.calls)
    figures = {"gold first": right, "unusable": failed, "the first offer": first, "tokens out": tokens}
    return {name: round(count / len(asked), 3) for name, count in figures.items()}


def without_examples(folder: Path) -> None:
    """Makes it a folder of prompts that have no examples, and else are the bundled ones."""
    for name in names():
        (folder / name).mkdir()
        (folder / name / "examples.toml").write_text("examples = []\n", encoding="utf-8")


async def measure(report: Report, given: argparse.Namespace, url: str, folder: Path) -> None:
    """Both ways of choosing, for each call and set."""
    library, store = PromptLibrary(str(folder)), MemoryStore()
    served = OpenAIModel(smollm2.NAME, "", url, capability=Capability(structured="native", output=MOST))
    held = HfModel(smollm2.FOLDER, Capability(grammar=True, logprobs=True), lambda: store)
    drawn = {name: cases(name, given.data, given.limit) for name in given.sets}
    for name, asked in drawn.items():
        blind = round(sum(1 / len(case.offers) for case in asked) / len(asked), 3)
        report.add(f"{name}: questions", {"questions": len(asked), "chance": blind})
    for call in given.calls:
        for name, asked in drawn.items():
            generated = await shares(PromptedModel(served, prompts=library), asked, call)
            report.add(f"{name}: {call}: generated", generated)
            likely = PromptedModel(held, prompts=library, choices="likelihood")
            report.add(f"{name}: {call}: likelihood", await shares(likely, asked, call))
    await served.close()


def main() -> None:
    """The command line."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=25, help="questions of each set")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, help="which sets, all by default")
    parser.add_argument("--calls", nargs="+", default=list(CALLS), choices=list(CALLS), help="which calls")
    given = parser.parse_args()
    if why := smollm2.missing() or smollm2.missing(folder=True):
        parser.error(why)
    report = Report("choices", write=given.write)
    with smollm2.server() as url, tempfile.TemporaryDirectory() as folder:
        without_examples(Path(folder))
        asyncio.run(measure(report, given, url, Path(folder)))
    report.close()


if __name__ == "__main__":
    main()
