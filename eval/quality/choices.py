"""Choices of the first relation by a small language model: as it writes them, and by the likelihoods of their numbers.

SmolLM2-135M (`make lm`) is shown the relations around a question's topic, in an order drawn by a seed, as the calls
`choose` and `score-relations` show them, by the bundled prompts without their examples. `generated`: its reply, which a
grammar of llama.cpp holds to the schema. `likelihood`: `--choices likelihood`, in process with the same weights. The
share of questions is counted whose first choice is the first relation of the gold path; chance is what a blind choice
has. Questions whose topic has fewer than three relations are left out.

`orders` compares what is said to help against a bias for positions, for the number of `choose` alone: the mean over the
offers as they stand and reversed; each offer's probability divided by what it has with a question without content
(contextual calibration: Zhao et al. 2021, section 4); and both.

    python -m eval.quality.choices --write
"""

import argparse
import asyncio
import copy
import gzip
import itertools
import math
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import add, sub
from pathlib import Path
from typing import NamedTuple

import msgspec

from eval.support import smollm2
from eval.support.report import Report, options
from fedkg.bench.data import definitions, loaders
from fedkg.bench.data.questions import BenchmarkQuestion
from fedkg.cache.memory import MemoryStore
from fedkg.core.choice import PromptCandidate
from fedkg.core.question import Plan
from fedkg.errors import ModelError
from fedkg.llm.base import Capability, Constraint, Message
from fedkg.llm.constrained import Matrix, decoded, numbered
from fedkg.llm.constrained import Step as Decoding
from fedkg.llm.hf import HfModel, Network, Seen
from fedkg.llm.openai import OpenAIModel
from fedkg.reasoner.calls.choose import ChooseCall
from fedkg.reasoner.calls.scores import ScoreRelationsCall
from fedkg.reasoner.prompted import PromptedModel
from fedkg.reasoner.prompts.context_fit import fitted
from fedkg.reasoner.prompts.library import PromptLibrary, names

SETS = ("metaqa-1hop", "metaqa-2hop", "pathquestion-2h", "pathquestion-3h")
FEWEST = 3
MOST = 160
"""Tokens of a generated reply: one that picks some offers, or scores nine relations, has less."""
ENDS = 3
"""Labels of ends that are shown of a relation."""
FIRST_PICK = '{"picks": [{"offer": '
WITHOUT_CONTENT = "N/A"
TOKENS = 4_000
"""Of a prompt: no offer is left out."""
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


class Numbers:
    """The probabilities of the offers' numbers as the first pick of `choose`; what all prompts share is read once."""

    def __init__(self, library: PromptLibrary) -> None:
        self._library, self._network = library, Network(smollm2.FOLDER)
        self._shared: list[int] = []
        self._seen: Seen | None = None

    def __call__(self, question: str, offers: Sequence[PromptCandidate]) -> list[float]:
        """A logarithm for each offer."""
        call = ChooseCall(question, Plan((), kind="entities"), offers, 1)
        template = call.adapted(self._library.get(call.name, call.prompt_kind))
        shown = fitted(template, call.values(), TOKENS)
        prompt = self._network.prompt([Message("system", shown.system), Message("user", shown.user)])
        if self._seen is None:
            other = self._network.prompt([Message("system", shown.system), Message("user", "?")])
            alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(prompt, other, strict=False))
            self._shared = [token for token, _ in alike]
            _, self._seen = self._network.following([self._shared])
        texts = tuple(str(offer.number) for offer in offers)
        trie = numbered(self._network.sequences_of(Constraint(texts, len(texts), FIRST_PICK, ",")))
        whole = decoded(trie, self._step(prompt[len(self._shared) :]), len(texts))
        scores = {sequence.number: sequence.score for sequence in whole}
        return [scores[number] for number in range(1, len(texts) + 1)]

    def _step(self, prompt: list[int]) -> Decoding:
        """What follows hypotheses that go on from this rest of a prompt."""
        seen, rest = copy.deepcopy(self._seen), prompt

        def step(places: Sequence[int], tokens: Sequence[Sequence[int]]) -> Matrix:
            nonlocal seen, rest
            assert seen
            logs, seen = self._network.following(
                [[*rest, *more] for more in tokens], seen.chosen(self._network.rows(places))
            )
            rest = []
            return logs

        return step


def reversed_offers(offers: Sequence[PromptCandidate]) -> list[PromptCandidate]:
    """The offers the other way round, numbered anew."""
    return [msgspec.structs.replace(offer, number=number) for number, offer in enumerate(reversed(offers), 1)]


def remedied(numbers: Numbers, case: ChoiceCase) -> dict[str, list[float]]:
    """What each offer has by each remedy, more being better."""
    turned = reversed_offers(case.offers)
    here, there = numbers(case.question, case.offers), numbers(case.question, turned)[::-1]
    blank, turned_blank = numbers(WITHOUT_CONTENT, case.offers), numbers(WITHOUT_CONTENT, turned)[::-1]
    calibrated, calibrated_there = list(map(sub, here, blank)), list(map(sub, there, turned_blank))
    return {
        "as offered": here,
        "reversed": there,
        "mean of both orders": [math.exp(one) + math.exp(other) for one, other in zip(here, there, strict=True)],
        "calibrated": calibrated,
        "calibrated, both orders": list(map(add, calibrated, calibrated_there)),
    }


def orders(report: Report, numbers: Numbers, name: str, asked: Sequence[ChoiceCase]) -> None:
    """By each remedy the share of questions with the gold relation first, and of the first and the last offer."""
    compared = [(case, remedied(numbers, case)) for case in asked]
    for remedy in compared[0][1]:
        picks = [(1 + each[remedy].index(max(each[remedy])), case) for case, each in compared]
        figures = {
            "gold first": sum(pick == case.gold for pick, case in picks),
            "the first offer": sum(pick == 1 for pick, _ in picks),
            "the last offer": sum(pick == len(case.offers) for pick, case in picks),
        }
        report.add(f"{name}: {remedy}", {key: round(count / len(asked), 3) for key, count in figures.items()})


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
    if "orders" in given.calls:
        numbers = Numbers(library)
        for name, asked in drawn.items():
            orders(report, numbers, name, asked)
    for call in set(CALLS) & set(given.calls):
        for name, asked in ((name, asked[: given.few]) for name, asked in drawn.items()):
            generated = await shares(PromptedModel(served, prompts=library), asked, call)
            report.add(f"{name}: {call}: generated", {"questions": len(asked), **generated})
            likely = PromptedModel(held, prompts=library, choices="likelihood")
            weighed = await shares(likely, asked, call)
            report.add(f"{name}: {call}: likelihood", {"questions": len(asked), **weighed})
    await served.close()


def table(report: Report, sets: Sequence[str]) -> str:
    """The figures as a table, a row for each way of choosing on each set."""
    head = ("set", "choice", "questions", "gold first", "unusable", "first offer", "last offer")
    keys = ("gold first", "unusable", "the first offer", "the last offer")
    rows = [head, ("---",) * len(head)]
    for name in sets:
        drawn = report.figures[f"{name}: questions"]
        rows.append((name, "blind (chance)", str(drawn["questions"]), f"{drawn['chance']:.3f}", "", "", ""))
        for title, figures in report.figures.items():
            way = title.removeprefix(f"{name}: ")
            if way not in (title, "questions"):
                cells = (f"{figures[key]:.3f}" if key in figures else "" for key in keys)
                rows.append((name, way, str(figures.get("questions", drawn["questions"])), *cells))
    about = "How SmolLM2-135M chooses the first relation of a question's gold path, by `python -m eval.quality.choices`"
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"# Choices of a small model\n\n{about} (shares of the questions).\n\n{lines}\n"


def main() -> None:
    """The command line."""
    parser = options(__doc__ or "")
    parser.add_argument("--limit", type=int, default=25, help="questions of each set")
    parser.add_argument("--few", type=int, default=5, help="of these so many for whole replies, which take long")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, help="which sets, all by default")
    every = [*CALLS, "orders"]
    parser.add_argument("--calls", nargs="+", default=every, choices=every, help="which calls")
    given = parser.parse_args()
    if why := smollm2.missing() or smollm2.missing(folder=True):
        parser.error(why)
    report = Report("choices", write=given.write)
    with smollm2.server() as url, tempfile.TemporaryDirectory() as folder:
        without_examples(Path(folder))
        asyncio.run(measure(report, given, url, Path(folder)))
    report.attach("md", table(report, given.sets))
    report.close()


if __name__ == "__main__":
    main()
