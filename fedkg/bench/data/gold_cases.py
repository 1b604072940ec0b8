"""Questions that a graph is known to answer, with every chain of relations that leads from their topics to an answer.

For measuring what retrieval offers of the gold steps: unlike one gold chain these are all that are gold.
"""

import gzip
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fedkg.bench.data.facts import Facts, Walked
from fedkg.bench.data.gold_chains import QuestionSet
from fedkg.core.terms import DirectedRelation, Iri, Term

__all__ = ["ANSWERABLE", "GoldCase", "gold_cases"]

Row = Mapping[str, Any]

ANSWERABLE = "answerable.json"
"""The file that lists how many hops away the answers are on FB15k-237."""


class GoldCase(NamedTuple):
    """A question with its topics and their labels, the answers in the graph, and the chains to one, by topic."""

    id: str
    question: str
    topics: dict[Iri, str]
    answers: frozenset[Term]
    chains: tuple[tuple[Iri, Walked], ...]

    @property
    def hops(self) -> int:
        """How many steps it takes."""
        return max(len(chain) for _, chain in self.chains)


def gold_cases(data: Path, questions: QuestionSet, facts: Facts, limit: int, seed: int = 0) -> list[GoldCase]:
    """At most `limit` questions of the set, drawn by `seed`, that have a topic, an answer and a path in the graph."""
    rows = _rows(data, questions)
    random.Random(seed).shuffle(rows)  # noqa: S311  # a reproducible sample, not a secret
    cases: list[GoldCase] = []
    for row in rows:
        case = _case(row, facts)
        if case.chains and len(cases) < limit:
            cases.append(case)
    return cases


def _rows(data: Path, questions: QuestionSet) -> list[Row]:
    """The questions; on FB15k-237 those whose answer is known to be one hop away."""
    with gzip.open(data / f"{questions.questions}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if "fb15k237" not in questions.graph:
        return rows
    known = json.loads((data / ANSWERABLE).read_text(encoding="utf-8"))["answer_within_hops_on_fb15k237"]
    return [row for row in rows if known[questions.questions].get(row["id"]) == 1]


def _case(row: Row, facts: Facts) -> GoldCase:
    topics = {iri: topic["label"] for topic in row["topic_entities"] for iri in facts.topic(topic["iri"])}
    named = (facts.answers(answer.get("iri") or "", str(answer.get("label") or "")) for answer in row["answers"])
    answers = frozenset(end for ends in named for end in ends) - topics.keys()
    chains = tuple((topic, chain) for topic in topics for chain in _chains(row, topic, answers, facts))
    reached = {end for topic, chain in chains for end in facts.walk([topic], chain)}
    return GoldCase(row["id"], row["question"], topics, answers & reached, chains)


def _chains(row: Row, topic: Iri, answers: frozenset[Term], facts: Facts) -> list[Walked]:
    """The relations that the set names, as far as they lead to an answer; else all that do at one hop."""
    if "gold_relations" not in row:
        return facts.single_steps(topic, answers)
    chain = tuple(_directed(text) for text in row["gold_relations"])
    return [chain] if answers & facts.walk([topic], chain) else []


def _directed(text: str) -> DirectedRelation:
    """A relation as MetaQA's rows name it: with `^` it is walked backwards."""
    return DirectedRelation(Iri(text.removeprefix("^")), "in" if text.startswith("^") else "out")
